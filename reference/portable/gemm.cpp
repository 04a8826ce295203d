#include "reference/portable/gemm.h"

#include <string>

#include "formats/strict_math.h"
#include "reference/portable/gemm_block_dots.h"
#include "reference/portable/gemm_matrix.h"
#include "reference/portable/gemm_operand.h"
#include "reference/portable/gemm_sums.h"
#include "reference/portable/gemm_tensor_core.h"

namespace fp4proof::portable {

namespace {

// --- Refusals --------------------------------------------------------------------------------------------------------

Error usage(std::string message) { return {ErrorKind::usage, "gemm: " + std::move(message)}; }

std::string text_of(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i != 0 ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

/// Operand `name` ("A" or "B") on its own.
Result<void> check_operand(const char* name, const Profile& profile, const Quantized& operand) {
  const Geometry& g = operand.geometry;
  const std::string who = std::string("operand ") + name + " (" + std::string(profile.name) + ")";
  if (g.shape.size() != 2) {
    return usage(who + " has shape " + text_of(g.shape) +
                 " with the block axis last; a matrix is needed: flatten the other axes to one");
  }
  const int length = profile.block.cols;
  if (length != 16 && length != 32 && length != 64) {
    return usage(who + " has blocks of " + std::to_string(length) + " elements; 16, 32 and 64 are defined");
  }
  const auto expected = geometry_of_quantized(profile, g.shape, g.axis);
  if (!expected) return expected.error();
  const bool geometry_fits = g.rows == expected->rows && g.columns == expected->columns &&
                             g.blocks == expected->blocks && g.code_bytes_per_row == expected->code_bytes_per_row &&
                             g.scale_bytes_per_row == expected->scale_bytes_per_row;
  if (!geometry_fits || operand.codes.size() != static_cast<std::size_t>(g.code_bytes()) ||
      operand.scales.size() != static_cast<std::size_t>(g.scale_bytes())) {
    return Error{ErrorKind::corrupt,
                 "gemm: " + who + " of shape " + text_of(g.shape) + " needs " + std::to_string(expected->code_bytes()) +
                     " bytes of codes and " + std::to_string(expected->scale_bytes()) + " of scales, but has " +
                     std::to_string(operand.codes.size()) + " and " + std::to_string(operand.scales.size()) +
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
    return usage("A of shape " + text_of(a.geometry.shape) + " and B of shape " + text_of(b.geometry.shape) +
                 " differ in K, their last axis; C = A times B transposed needs the same K on both sides");
  }
  return {};
}

bool takes(Accumulator accumulator, const Profile& profile) {
  switch (accumulator) {
    case Accumulator::tc_blackwell_mxf8f6f4: return profile.family == Family::mx && profile.block.cols == 32;
    case Accumulator::tc_blackwell_mxf4: return profile.family != Family::hif4 && profile.element == Element::e2m1;
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
                            ? "mxfp4 and nvfp4 (E2M1 under E8M0 or E4M3 scales)"
                            : "mxfp4, mxfp6 and mxfp8";
    return usage("accumulator " + std::string(name_of(accumulator)) + " takes " + taken + ", not " +
                 std::string(profile->name) +
                 "; choose one of seq512, seq, exact, tc:hopper-fp16 and tc:hopper-fp8, which take every format");
  }
  return {};
}

// --- Sums ------------------------------------------------------------------------------------------------------------

/// C by dots of blocks and a way to add them. `sums` is copied for every tile.
template <class Dots, class Sums>
void multiply(const Dots& dots, const Sums& sums, std::int64_t blocks, const Tiles& tiles, float* c) {
#pragma omp parallel for schedule(static)
  for (std::int64_t tile = 0; tile < tiles.count(); ++tile) {
    const std::int64_t panel_a = tiles.panel_of_a(tile);
    const std::int64_t panel_b = tiles.panel_of_b(tile);
    TileDots tile_dots;
    Sums tile_sums = sums;
    for (std::int64_t block = 0; block < blocks; ++block) {
      dots.compute(panel_a, panel_b, block, tile_dots);
      tile_sums.add(tile_dots, dots.scales_of_a(panel_a, block), dots.scales_of_b(panel_b, block));
    }
    tiles.store(tile, tile_sums.finish(), c);
  }
}

void multiply_by_blackwell(const TensorCore& core, const OperandReader& reader_a, const OperandReader& reader_b,
                           float* c) {
  const ModelOperand a(reader_a, own_min_exponent(reader_a.profile().element));
  const ModelOperand b(reader_b, own_min_exponent(reader_b.profile().element));
  const std::int64_t n = reader_b.rows();
  const std::int64_t size = reader_a.rows() * n;
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < size; ++i) {
    c[i] = strict::canonicalise_nan(blackwell_sum(core, a, i / n, b, i % n));
  }
}

void multiply(const OperandReader& a, const OperandReader& b, Accumulator accumulator, float* c) {
  const std::int64_t blocks = a.blocks();
  const Tiles tiles(a.rows(), b.rows());
  const SequentialSums one_chunk(blocks);
  const SequentialSums chunks(chunk_elements / a.length());
  switch (accumulator) {
    case Accumulator::seq512: return multiply(ExactDots(a, b), chunks, blocks, tiles, c);
    case Accumulator::seq: return multiply(ExactDots(a, b), one_chunk, blocks, tiles, c);
    case Accumulator::exact: return multiply(ExactDots(a, b), ExactSums(), blocks, tiles, c);
    case Accumulator::tc_hopper_fp16:
      return multiply(HopperDots(hopper_fp16, hopper_fp16_min_exponent, a, b), chunks, blocks, tiles, c);
    case Accumulator::tc_hopper_fp8:
      return multiply(HopperDots(hopper_fp8, hopper_fp8_min_exponent, a, b), chunks, blocks, tiles, c);
    case Accumulator::tc_blackwell_mxf8f6f4: return multiply_by_blackwell(blackwell_mxf8f6f4, a, b, c);
    case Accumulator::tc_blackwell_mxf4: return multiply_by_blackwell(blackwell_mxf4, a, b, c);
  }
}

/// The tensor scales multiply finished sums, each product rounded once.
void apply_tensor_scales(float scale_a, float scale_b, std::vector<float>& c) {
  if (scale_a == 1.0F && scale_b == 1.0F) return;
  for (float& value : c) value = strict::canonicalise_nan(value * scale_a * scale_b);
}

}  // namespace

Result<std::vector<float>> gemm(const Profile& profile_a, const Quantized& a, const Profile& profile_b,
                                const Quantized& b, Accumulator accumulator) {
  if (const auto checked = check_operand("A", profile_a, a); !checked) return checked.error();
  if (const auto checked = check_operand("B", profile_b, b); !checked) return checked.error();
  if (const auto checked = check_pair(profile_a, a, profile_b, b); !checked) return checked.error();
  if (const auto checked = check_accumulator(accumulator, profile_a, profile_b); !checked) return checked.error();
  return make_matrix("gemm", a.geometry.rows, b.geometry.rows, [&](std::vector<float>& c) {
    if (a.geometry.columns == 0) return;
    multiply(OperandReader(profile_a, a), OperandReader(profile_b, b), accumulator, c.data());
    apply_tensor_scales(a.tensor_scale, b.tensor_scale, c);
  });
}

}  // namespace fp4proof::portable
