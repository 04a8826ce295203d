/* The installed C interface: 6.0 under scale 2^0 comes back. */
#include <conformance/plain/fp4proof_plain.h>

int main(void) {
  unsigned values[32] = {0x40C00000};
  unsigned char codes[16], scale[1];
  int profile = fp4proof_profile("mxfp4/ocp");
  if (profile < 0 || fp4proof_quantize_block(profile, values, 0, 0x3F800000, codes, scale) != 0) return 1;
  values[0] = 0;
  if (fp4proof_dequantize_block(profile, codes, scale, 0x3F800000, values) != 0) return 2;
  return codes[0] == 7 && scale[0] == 127 && values[0] == 0x40C00000 ? 0 : 3;
}
