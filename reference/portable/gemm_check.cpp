#include "reference/portable/gemm_check.h"

namespace fp4proof::portable {

namespace {

Error usage(std::string message) { return {ErrorKind::usage, "gemm: " + std::move(message)}; }

/// Operand `name` ("A" or "B") on its own.
Result<void> check_operand(const char* name, const Profile& profile, const Quantized& operand) {
  const Geometry& g = operand.geometry;
  const std::string who = std::string("operand ") + name + " (" + std::string(profile.name) + ")";
  if (g.shape.size() != 2) {
    return usage(who + " has shape " + text_of_shape(g.shape) +
                 " with the block axis last; a matrix is needed: flatten the other axes to one");
  }
  const int length = profile.block.cols;
  const bool is_small_tile = length == 8 && profile.family == Family::mx;
  if (!is_small_tile && length != 16 && length != 32 && length != 64) {
    return usage(who + " has blocks of " + std::to_string(length) +
                 " elements; 16, 32 and 64 are defined, and 8 for tiles of MX");
  }
  const auto expected = geometry_of_quantized(profile, g.shape, g.axis);
  if (!expected) return expected.error();
  const bool geometry_fits = g.rows == expected->rows && g.columns == expected->columns &&
                             g.blocks == expected->blocks && g.code_bytes_per_row == expected->code_bytes_per_row &&
                             g.scale_bytes_per_row == expected->scale_bytes_per_row;
  if (!geometry_fits || operand.codes.size() != static_cast<std::size_t>(g.code_bytes()) ||
      operand.scales.size() != static_cast<std::size_t>(g.scale_bytes())) {
    return Error{ErrorKind::corrupt, "gemm: " + who + " of shape " + text_of_shape(g.shape) + " needs " +
                                         std::to_string(expected->code_bytes()) + " bytes of codes and " +
                                         std::to_string(expected->scale_bytes()) + " of scales, but has " +
                                         std::to_string(operand.codes.size()) + " and " +
                                         std::to_string(operand.scales.size()) +
                                         "; quantize it again under its profile"};
  }
  return {};
}

Result<void> check_pair(const Profile& profile_a, const Quantized& a, const Profile& profile_b, const Quantized& b) {
  if (profile_a.block.cols != profile_b.block.cols) {
    return usage("A (" + std::string(profile_a.name) + ") has blocks of " + std::to_string(profile_a.block.cols) +
                 " elements, B (" + std::string(profile_b.name) + ") of " + std::to_string(profile_b.block.cols) +
                 "; quantize both with blocks of one length");
  }
  if (a.geometry.columns != b.geometry.columns) {
    return usage("A of shape " + text_of_shape(a.geometry.shape) + " and B of shape " +
                 text_of_shape(b.geometry.shape) +
                 " differ in K, their last axis; C = A times B transposed needs the same K on both sides");
  }
  return {};
}

bool takes(Accumulator accumulator, const Profile& profile) {
  switch (accumulator) {
    case Accumulator::tc_blackwell_mxf8f6f4: return profile.family == Family::mx && profile.block.cols == 32;
    case Accumulator::tc_blackwell_mxf4:
      return profile.family != Family::hif4 && profile.element == Element::e2m1 &&
             (profile.block.cols == 16 || profile.block.cols == 32);
    case Accumulator::seq512:
    case Accumulator::seq:
    case Accumulator::exact:
    case Accumulator::tc_hopper_fp16:
    case Accumulator::tc_hopper_fp8: return true;
  }
  return false;
}

Result<void> check_accumulator(Accumulator accumulator, const Profile& a, const Profile& b) {
  for (const Profile* profile : {&a, &b}) {
    if (takes(accumulator, *profile)) continue;
    const char* taken = accumulator == Accumulator::tc_blackwell_mxf4
                            ? "mxfp4 and nvfp4 (E2M1 under E8M0 or E4M3 scales, blocks of 16 or 32)"
                            : "mxfp4, mxfp6 and mxfp8 in blocks of 32";
    return usage("accumulator " + std::string(name_of(accumulator)) + " takes " + taken + ", not " +
                 std::string(profile->name) + " in blocks of " + std::to_string(profile->block.cols) +
                 "; choose one of seq512, seq, exact, tc:hopper-fp16 and tc:hopper-fp8, which take every format");
  }
  return {};
}

}  // namespace

std::string text_of_shape(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i != 0 ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

Result<void> check_gemm(const Profile& profile_a, const Quantized& a, const Profile& profile_b, const Quantized& b,
                        Accumulator accumulator) {
  if (const auto checked = check_operand("A", profile_a, a); !checked) return checked;
  if (const auto checked = check_operand("B", profile_b, b); !checked) return checked;
  if (const auto checked = check_pair(profile_a, a, profile_b, b); !checked) return checked;
  return check_accumulator(accumulator, profile_a, profile_b);
}

}  // namespace fp4proof::portable
