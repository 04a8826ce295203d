#pragma once
// What the evidence consists of. The program on the device and the one on the host go through the same lists.

#include <cstdint>
#include <string>
#include <vector>

#include "formats/spec.h"
#include "formats/spec_corrections.h"
#include "gpu/matrix.h"
#include "tests/gpu/evidence_inputs.h"

namespace fp4proof::evidence {

using gpu::MatrixShape;

/// Who recomputes an entry on the host.
enum class Recomputed : std::uint8_t {
  by_ci,    ///< every run of the tests
  by_hand,  ///< `gpu_digests_cpu --all`
};

/// A tensor that is made of the index of its elements.
struct Input {
  DType dtype = DType::bf16;
  Spread spread = Spread::bell;
  MatrixShape shape;
  std::uint64_t seed = 0;
};

/// Quantization of one tensor; of a matrix along both axes at once where `both_axes` is set.
struct QuantizeEntry {
  Recomputed recomputed = Recomputed::by_ci;
  const Profile* profile = nullptr;
  Input input;
  ScaleLayout layout = ScaleLayout::row_major;
  bool both_axes = false;
  bool three_quarters = false;
};

/// Codes and scales to values.
struct DequantizeEntry {
  const Profile* profile = nullptr;
  DType dtype = DType::f32;
  ScaleSpread scales = ScaleSpread::near;
  std::int64_t lines = 0;
  std::int64_t length = 0;
  std::uint64_t seed = 0;
};

/// Where the operands of a product come from.
enum class Operands : std::uint8_t {
  codes,       ///< codes and scales made of their places
  forward,     ///< A and B quantized along k = columns, A under the stack
  gradient_x,  ///< dX = dY W: A along its columns, B along its rows
  gradient_w,  ///< dW = dY^T X: both along their rows
};

/// A product. The digest is of the whole of C, or of `tiles` tiles of 32 x 32.
struct GemmEntry {
  Recomputed recomputed = Recomputed::by_ci;
  const Profile* profile = nullptr;
  Operands operands = Operands::codes;
  ScaleSpread scales = ScaleSpread::near;
  const CorrectionStack* stack = nullptr;
  std::int64_t batch = 1;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  bool one_chunk = false;  ///< accumulator seq in place of seq512
  int tiles = 0;
  std::uint64_t seed = 0;
};

inline constexpr std::int64_t sampled_tile = 32;

/// Line of A (axis 0) or B (axis 1) where sampled tile `index` starts.
constexpr std::int64_t sampled_line(const GemmEntry& entry, int index, int axis) {
  const std::int64_t starts = (axis == 0 ? entry.m : entry.n) - sampled_tile + 1;
  const std::uint64_t hash =
      mix64(entry.seed + 10 + 2 * static_cast<std::uint64_t>(index) + static_cast<std::uint64_t>(axis));
  return static_cast<std::int64_t>(hash % static_cast<std::uint64_t>(starts));
}

/// The inputs of a product that is not of made codes: A and B as matrices whose block axis is k.
Input input_a(const GemmEntry& entry);
Input input_b(const GemmEntry& entry);

struct CorrectEntry {
  const Profile* profile = nullptr;
  const CorrectionStack* stack = nullptr;
  Input input;
};

struct DecomposeEntry {
  const Profile* profile = nullptr;
  Input input;
  bool with_terms = true;
};

/// A function over every input (tests/gpu/sweeps.h).
struct SweepEntry {
  Recomputed recomputed = Recomputed::by_ci;
  std::size_t index = 0;
  const char* name = "";
};

/// Words of random numbers that every entry draws: the seed is that of the input.
inline constexpr Stream random_stream = Stream::sr_gradient;
inline constexpr std::uint32_t random_step = 7;

/// The product number of fresh Hadamard signs.
inline constexpr std::uint32_t hadamard_product = 3;

std::vector<QuantizeEntry> quantize_entries();
std::vector<DequantizeEntry> dequantize_entries();
std::vector<GemmEntry> gemm_entries();
std::vector<CorrectEntry> correct_entries();
std::vector<DecomposeEntry> decompose_entries();
std::vector<SweepEntry> sweep_entries();

std::string name_of_entry(const QuantizeEntry& entry);
std::string name_of_entry(const DequantizeEntry& entry);
std::string name_of_entry(const GemmEntry& entry);
std::string name_of_entry(const CorrectEntry& entry);
std::string name_of_entry(const DecomposeEntry& entry);
std::string name_of_entry(const SweepEntry& entry);

}  // namespace fp4proof::evidence
