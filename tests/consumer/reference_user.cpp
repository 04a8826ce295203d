// A user of fp4proof::reference: one block on both roads, the oracle and the portable one.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <vector>

#include "formats/spec_profiles.h"
#include "reference/exact/block.h"
#include "reference/portable/environment.h"
#include "reference/portable/quantize.h"

namespace portable = fp4proof::portable;

int main() {
  if (!portable::check_environment()) return 1;
  const fp4proof::Profile& profile = *fp4proof::find_profile("mxfp4/ocp");
  const std::vector<float> sixes(32, 6.0F);  // the largest E2M1 number: code 7 under the scale 2^0, code 127
  const std::int64_t shape[] = {32};
  const portable::TensorView tensor = {portable::DType::f32, shape, std::as_bytes(std::span(sixes)).data()};
  const fp4proof::Result<portable::Quantized> fast = portable::quantize(profile, tensor);
  if (!fast || fast->codes != std::vector<std::uint8_t>(16, 0x77) || fast->scales != std::vector<std::uint8_t>{127}) {
    std::puts("reference: the portable road is wrong");
    return 1;
  }
  const std::vector<std::uint32_t> words(32, 0x40C00000U);
  const fp4proof::exact::EncodedBlock exact = fp4proof::exact::encode_block(profile, words);
  if (exact.scale != 127 || exact.codes != std::vector<std::uint8_t>(32, 7)) {
    std::puts("reference: the oracle is wrong");
    return 1;
  }
  std::puts("reference: ok");
}
