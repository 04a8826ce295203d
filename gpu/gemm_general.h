#pragma once
// The product that takes every format, every scale and every stack. gemm.h is what callers use.

#include <cuda_runtime_api.h>

#include <cstdint>

#include "formats/spec.h"
#include "formats/spec_corrections.h"
#include "gpu/correct.h"
#include "gpu/gemm.h"
#include "gpu/status.h"

namespace fp4proof::gpu {

/// One side of G(a, b): one coded part of an operand, [batch, lines, k].
struct ProductSide {
  Family family = Family::mx;
  Element element = Element::e2m1;
  std::int64_t lines = 0;
  ConstCoded coded;  ///< no tensor scales: they count as 1
  /// [batch, lines, slices]; null: every weight is 1.
  const std::uint8_t* macro = nullptr;
  MacroForm macro_form = MacroForm::multiply;
};

/// What happens to a finished sum: C = RN(RN(sum * T_a) * T_b), then the division, then, for the second product of a
/// residual, C = RN(C + RN(alpha * Y)) with the C that stands there.
struct ProductEpilogue {
  float divisor = 1.0F;  ///< 0.75 or 0.5625 under three-quarters
  bool adds_to_c = false;
  float alpha = 1.0F;
};

/// G(a, b) of C40: the product of two coded parts.
struct PartProduct {
  std::int64_t batch = 1;
  std::int64_t k = 0;
  int block = 32;  ///< elements of a block on both sides: 8, 16, 32 or 64
  int slice = 0;   ///< elements of a macro block, 0 where neither side has macro bytes
  Accumulator accumulator = Accumulator::seq512;
  ProductSide a;
  ProductSide b;
  ProductEpilogue epilogue;
  float* c = nullptr;  ///< [batch, a.lines, b.lines]
};

/// Rows and columns of C in a tile of `tile_is_slow`.
inline constexpr int product_tile = 128;

/// G(a1, b1) of a job that check_gemm() accepts.
PartProduct first_product(const GemmJob& job);

/// Whether a second product is added, and that one: G(a2, b1) or G(a1, b2), C42.
bool has_residual_product(const GemmJob& job);
PartProduct residual_product(const GemmJob& job);

/// Computes the tiles of C whose byte in `tile_is_slow` is not 0; all tiles where it is null. Device memory, row-major
/// [batch, ceil(a.lines / 128), ceil(b.lines / 128)]. Other tiles are left as they are. K = 0 is for the caller.
Status launch_general_product(const PartProduct& product, const std::uint8_t* tile_is_slow, cudaStream_t stream);

/// What gemm() checks before it launches anything.
Status check_gemm(const GemmJob& job);

}  // namespace fp4proof::gpu
