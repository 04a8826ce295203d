#include "conformance/suite/undefined_inputs.h"

#include <algorithm>

#include "formats/float_bits.h"

namespace fp4proof::suite {

bool is_defined(const Profile& profile, std::span<const std::uint32_t> input) {
  if (profile.name != "mxfp4/ggml") return true;
  const std::size_t length = profile.block.cols;
  for (std::size_t begin = 0; begin < input.size(); begin += length) {
    std::uint32_t largest = 0;
    for (const std::uint32_t word : input.subspan(begin, std::min(length, input.size() - begin))) {
      largest = std::max(largest, word & float_magnitude_mask);
    }
    if (largest >= float_infinity_bits || (largest != 0 && largest < float_bits(0x1p-125F))) return false;
  }
  return true;
}

}  // namespace fp4proof::suite
