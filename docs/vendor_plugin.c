/* A whole plug-in: MXFP4 by the OCP rule, blocks of 32, done by hand. Build: cc -shared -fPIC -o libvendor.so */
#include <string.h>

#include "conformance/backend.h"

/* The scale code: the exponent of the largest magnitude less that of 6 = 1.5 * 2^2, or NaN. */
static int scale_of(const uint32_t* block) {
  uint32_t largest = 0;
  for (int i = 0; i < 32; ++i) {
    uint32_t magnitude = block[i] & 0x7FFFFFFFu;
    if (magnitude > largest) largest = magnitude;
  }
  if (largest >= 0x7F800000u) return 255;
  int exponent = (int)(largest >> 23) - 2;
  return exponent < 0 ? 0 : exponent;
}

/* The nearest of 0, 0.5, 1, 1.5, 2, 3, 4, 6 in units of the scale, ties to the even code. Products are exact. */
static unsigned code_of(uint32_t word, int scale) {
  static const double ties[7] = {0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0};
  float value;
  memcpy(&value, &word, sizeof value);
  double unit = 1.0, magnitude = value < 0 ? -(double)value : (double)value;
  for (int e = scale; e < 127; ++e) unit /= 2;
  for (int e = scale; e > 127; --e) unit *= 2;
  unsigned code = 0;
  while (code < 7 && (magnitude > ties[code] * unit || (magnitude == ties[code] * unit && code % 2 == 1))) ++code;
  return code | (word >> 31 << 3);
}

static fp4proof_status supports(const fp4proof_call* call) {
  int ours = strcmp(call->operation, "quantize") == 0 && strcmp(call->profile, "mxfp4/ocp") == 0;
  return ours ? FP4PROOF_OK : FP4PROOF_UNSUPPORTED;
}

static fp4proof_status run(const fp4proof_call* call) {
  const uint32_t* input = call->inputs->data;
  uint8_t *codes = call->outputs->data, *scales = fp4proof_tensor_at(call, call->outputs, 1)->data;
  int64_t rows = call->axis ? call->rows : call->columns, length = call->axis ? call->columns : call->rows;
  for (int64_t row = 0; row < call->cases * rows; ++row) {
    const uint32_t* matrix = input + row / rows * rows * length;
    for (int64_t first = 0; first < length; first += 32) {
      uint32_t block[32] = {0};
      for (int64_t i = first; i < length && i < first + 32; ++i)
        block[i - first] = call->axis ? matrix[row % rows * length + i] : matrix[i * rows + row % rows];
      int scale = *scales++ = (uint8_t)scale_of(block);
      for (int i = 0; i < 32; i += 2)
        *codes++ = scale == 255 ? 0 : (uint8_t)(code_of(block[i], scale) | code_of(block[i + 1], scale) << 4);
    }
  }
  return FP4PROOF_OK;
}

static const fp4proof_backend table = {sizeof table,    FP4PROOF_ABI_VERSION,       0,        "vendor", "1.0",
                                       "MXFP4 by hand", FP4PROOF_TAKES_HOST_MEMORY, supports, run,      0,        0};

const fp4proof_backend* fp4proof_open_backend(uint32_t host) { return host < FP4PROOF_ABI_VERSION ? 0 : &table; }
