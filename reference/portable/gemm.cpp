#include "reference/portable/gemm.h"

#include "formats/strict_math.h"
#include "reference/portable/gemm_block_dots.h"
#include "reference/portable/gemm_check.h"
#include "reference/portable/gemm_matrix.h"
#include "reference/portable/gemm_operand.h"
#include "reference/portable/gemm_sums.h"
#include "reference/portable/gemm_tensor_core.h"
#include "reference/portable/gemm_weighted.h"

namespace fp4proof::portable {

namespace {

/// C by dots of blocks and a way to add them: make_sums(panel of A, panel of B) gives the empty sums of a tile.
template <class Dots, class MakeSums>
void multiply(const Dots& dots, const MakeSums& make_sums, std::int64_t blocks, const Tiles& tiles, float* c) {
#pragma omp parallel for schedule(static)
  for (std::int64_t tile = 0; tile < tiles.count(); ++tile) {
    const std::int64_t panel_a = tiles.panel_of_a(tile);
    const std::int64_t panel_b = tiles.panel_of_b(tile);
    TileDots tile_dots;
    auto tile_sums = make_sums(panel_a, panel_b);
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
  const auto one_chunk = [&](std::int64_t, std::int64_t) { return SequentialSums(blocks); };
  const auto chunks = [&](std::int64_t, std::int64_t) { return SequentialSums(chunk_elements / a.length()); };
  const auto exact_sums = [](std::int64_t, std::int64_t) { return ExactSums(); };
  switch (accumulator) {
    case Accumulator::seq512: return multiply(ExactDots(a, b), chunks, blocks, tiles, c);
    case Accumulator::seq: return multiply(ExactDots(a, b), one_chunk, blocks, tiles, c);
    case Accumulator::exact: return multiply(ExactDots(a, b), exact_sums, blocks, tiles, c);
    case Accumulator::tc_hopper_fp16:
      return multiply(HopperDots(hopper_fp16, hopper_fp16_min_exponent, a, b), chunks, blocks, tiles, c);
    case Accumulator::tc_hopper_fp8:
      return multiply(HopperDots(hopper_fp8, hopper_fp8_min_exponent, a, b), chunks, blocks, tiles, c);
    case Accumulator::tc_blackwell_mxf8f6f4: return multiply_by_blackwell(blackwell_mxf8f6f4, a, b, c);
    case Accumulator::tc_blackwell_mxf4: return multiply_by_blackwell(blackwell_mxf4, a, b, c);
  }
}

Panels<float> panels_of_weights(std::span<const float> weights, std::int64_t rows, std::int64_t slices, int width) {
  Panels<float> panels(rows, slices, width);
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t slice = 0; slice < slices; ++slice)
      panels.at(row, slice) = weights.empty() ? 1.0F : weights[static_cast<std::size_t>(row * slices + slice)];
  }
  return panels;
}

void multiply_slices(const OperandReader& a, const OperandReader& b, const SliceWeights& weights,
                     Accumulator accumulator, float* c) {
  const std::int64_t blocks = a.blocks();
  const std::int64_t blocks_per_slice = weights.length / a.length();
  const std::int64_t slices = (blocks + blocks_per_slice - 1) / blocks_per_slice;
  const Panels<float> weights_a = panels_of_weights(weights.a, a.rows(), slices, tile_rows);
  const Panels<float> weights_b = panels_of_weights(weights.b, b.rows(), slices, tile_columns);
  const ExactDots dots(a, b);
  const Tiles tiles(a.rows(), b.rows());
  const auto cursor = [&](std::int64_t panel_a, std::int64_t panel_b) {
    return SliceCursor(blocks_per_slice, weights_a.panel(panel_a, 0), weights_b.panel(panel_b, 0));
  };
  if (accumulator == Accumulator::exact) {
    const auto sums = [&](std::int64_t panel_a, std::int64_t panel_b) {
      return ExactSlicedSums(cursor(panel_a, panel_b));
    };
    return multiply(dots, sums, blocks, tiles, c);
  }
  const std::int64_t slices_per_chunk = accumulator == Accumulator::seq ? slices : chunk_elements / weights.length;
  const auto sums = [&](std::int64_t panel_a, std::int64_t panel_b) {
    return SlicedSums(slices_per_chunk, cursor(panel_a, panel_b));
  };
  multiply(dots, sums, blocks, tiles, c);
}

/// The tensor scales multiply finished sums, each product rounded once.
void apply_tensor_scales(float scale_a, float scale_b, std::vector<float>& c) {
  if (scale_a == 1.0F && scale_b == 1.0F) return;
  for (float& value : c) value = strict::canonicalise_nan(value * scale_a * scale_b);
}

}  // namespace

Result<std::vector<float>> weighted_gemm(const Profile& profile_a, const Quantized& a, const Profile& profile_b,
                                         const Quantized& b, const SliceWeights& weights, Accumulator accumulator) {
  return make_matrix("gemm", a.geometry.rows, b.geometry.rows, [&](std::vector<float>& c) {
    if (a.geometry.columns == 0) return;
    const OperandReader reader_a(profile_a, a);
    const OperandReader reader_b(profile_b, b);
    if (weights.length == 0) {
      multiply(reader_a, reader_b, accumulator, c.data());
    } else {
      multiply_slices(reader_a, reader_b, weights, accumulator, c.data());
    }
    apply_tensor_scales(a.tensor_scale, b.tensor_scale, c);
  });
}

Result<std::vector<float>> gemm(const Profile& profile_a, const Quantized& a, const Profile& profile_b,
                                const Quantized& b, Accumulator accumulator) {
  if (const auto checked = check_gemm(profile_a, a, profile_b, b, accumulator); !checked) return checked.error();
  return weighted_gemm(profile_a, a, profile_b, b, {}, accumulator);
}

}  // namespace fp4proof::portable
