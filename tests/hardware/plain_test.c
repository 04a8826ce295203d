/* fp4proof_plain.h from C99, against vectors in exported C headers (words as packed in the set). */
#include <stdio.h>
#include <string.h>

#include <dequantize.hif4.gcc/1x64.h>
#include <gemm.mxfp4.ocp/7x7x32-seq512.h>
#include <quantize.mxfp4.ocp/1x32.h>

#include "conformance/plain/fp4proof_plain.h"

enum { one = 0x3F800000 };

static int wrong = 0;

static void compare(const char* what, uint64_t case_id, const void* actual, const void* expected, size_t bytes) {
  if (memcmp(actual, expected, bytes) == 0) return;
  ++wrong;
  printf("MISMATCH %s of case %016llx: %s\n", what, (unsigned long long)case_id, fp4proof_last_error());
}

static int quantize(int profile) {
  int k;
  for (k = 0; k < fp4proof_quantize_mxfp4_ocp_1x32_cases; ++k) {
    unsigned char codes[16], scales[1];
    uint64_t id = fp4proof_quantize_mxfp4_ocp_1x32_case_id[k][0];
    if (fp4proof_quantize_block(profile, fp4proof_quantize_mxfp4_ocp_1x32_input[k], NULL, one, codes, scales) != 0) {
      printf("MISMATCH case %016llx is refused: %s\n", (unsigned long long)id, fp4proof_last_error());
      ++wrong;
      continue;
    }
    compare("codes", id, codes, fp4proof_quantize_mxfp4_ocp_1x32_codes[k], sizeof codes);
    compare("scale", id, scales, fp4proof_quantize_mxfp4_ocp_1x32_scales[k], sizeof scales);
  }
  return k;
}

static int dequantize(int profile) {
  int k;
  for (k = 0; k < fp4proof_dequantize_hif4_gcc_1x64_cases; ++k) {
    unsigned values[64] = {0};
    fp4proof_dequantize_block(profile, fp4proof_dequantize_hif4_gcc_1x64_codes[k],
                              fp4proof_dequantize_hif4_gcc_1x64_scales[k], one, values);
    compare("values", fp4proof_dequantize_hif4_gcc_1x64_case_id[k][0], values,
            fp4proof_dequantize_hif4_gcc_1x64_values[k], sizeof values);
  }
  return k;
}

static int dot(int profile) {
  int k, place;
  for (k = 0; k < fp4proof_gemm_mxfp4_ocp_7x7x32_seq512_cases; ++k) {
    const uint8_t* a = fp4proof_gemm_mxfp4_ocp_7x7x32_seq512_a_codes[k];
    const uint8_t* b = fp4proof_gemm_mxfp4_ocp_7x7x32_seq512_b_codes[k];
    const uint8_t* a_scales = fp4proof_gemm_mxfp4_ocp_7x7x32_seq512_a_scales[k];
    const uint8_t* b_scales = fp4proof_gemm_mxfp4_ocp_7x7x32_seq512_b_scales[k];
    for (place = 0; place < 49; ++place) {
      unsigned word = 0;
      int m = place / 7, n = place % 7;
      fp4proof_dot(profile, a + 16 * m, a_scales + m, one, profile, b + 16 * n, b_scales + n, one, 1, "seq512", &word);
      compare("product", fp4proof_gemm_mxfp4_ocp_7x7x32_seq512_case_id[k][0], &word,
              &fp4proof_gemm_mxfp4_ocp_7x7x32_seq512_c[k][place], sizeof word);
    }
  }
  return k;
}

int main(void) {
  int mxfp4 = fp4proof_profile("mxfp4/ocp");
  int hif4 = fp4proof_profile("hif4/gcc");
  int cases;
  if (mxfp4 < 0 || hif4 < 0) return 2;
  printf("case %016llx, class %s, first word %08x\n",
         (unsigned long long)fp4proof_quantize_mxfp4_ocp_1x32_case_id[0][0],
         fp4proof_quantize_mxfp4_ocp_1x32_class_name[0], (unsigned)fp4proof_quantize_mxfp4_ocp_1x32_input[0][0]);
  cases = quantize(mxfp4) + dequantize(hif4) + dot(mxfp4);
  printf("%d cases, %d wrong\n", cases, wrong);
  return wrong != 0 || cases < 100;
}
