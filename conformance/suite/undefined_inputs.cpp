#include "conformance/suite/undefined_inputs.h"

#include <algorithm>

#include "formats/block.h"

namespace fp4proof::suite {

namespace {

bool is_refused(const Profile& profile, std::span<const std::uint32_t> input) {
  const BlockFate fate = block_fate(profile, scan_block(profile, input.data(), static_cast<int>(input.size())));
  return fate == BlockFate::reject_nan || fate == BlockFate::reject_inf;
}

bool is_undefined_in_ggml(const Profile& profile, std::span<const std::uint32_t> input) {
  const std::size_t length = profile.block.cols;
  for (std::size_t begin = 0; begin < input.size(); begin += length) {
    std::uint32_t largest = 0;
    for (const std::uint32_t word : input.subspan(begin, std::min(length, input.size() - begin))) {
      largest = std::max(largest, word & float_magnitude_mask);
    }
    if (largest >= float_infinity_bits || (largest != 0 && largest < float_bits(0x1p-125F))) return true;
  }
  return false;
}

}  // namespace

bool is_defined(const Profile& profile, std::span<const std::uint32_t> input) {
  if (is_refused(profile, input)) return false;
  return profile.name != "mxfp4/ggml" || !is_undefined_in_ggml(profile, input);
}

}  // namespace fp4proof::suite
