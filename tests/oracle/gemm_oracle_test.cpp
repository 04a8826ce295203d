// The portable GEMM against the oracle's, word for word: every profile and pair of formats under every accumulator, on
// random codes and scales with extremes and special values, below and above one chunk of 512.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "formats/float_bits.h"
#include "formats/philox.h"
#include "formats/spec_profiles.h"
#include "reference/exact/gemm.h"
#include "reference/portable/gemm.h"

namespace fp4proof {
namespace {

using portable::Accumulator;
using portable::Quantized;

constexpr std::uint64_t seed = 11;

exact::Accumulator oracle_accumulator(Accumulator accumulator) {
  switch (accumulator) {
    case Accumulator::seq512: return exact::Accumulator::seq512;
    case Accumulator::seq: return exact::Accumulator::seq;
    case Accumulator::exact: return exact::Accumulator::exact;
    case Accumulator::tc_hopper_fp16: return exact::Accumulator::tc_hopper_fp16;
    case Accumulator::tc_hopper_fp8: return exact::Accumulator::tc_hopper_fp8;
    case Accumulator::tc_blackwell_mxf8f6f4: return exact::Accumulator::tc_blackwell_mxf8f6f4;
    case Accumulator::tc_blackwell_mxf4: return exact::Accumulator::tc_blackwell_mxf4;
  }
  return exact::Accumulator::seq512;
}

std::vector<std::uint32_t> words_of(const std::vector<float>& values) {
  std::vector<std::uint32_t> words;
  for (const float value : values) words.push_back(float_bits(value));
  return words;
}

/// One block of the canonical bytes in the oracle's logical form.
exact::EncodedBlock logical_block(const Profile& profile, const Quantized& q, std::int64_t row, std::int64_t block) {
  const portable::Geometry& g = q.geometry;
  const int length = profile.block.cols;
  exact::EncodedBlock result;
  for (std::int64_t column = block * length; column < (block + 1) * length; ++column) {
    const bool nibble = element_spec(profile.element).is_nibble();
    const std::int64_t at = row * g.code_bytes_per_row + (nibble ? column / 2 : column);
    const std::uint8_t byte = q.codes[static_cast<std::size_t>(at)];
    result.codes.push_back(nibble ? static_cast<std::uint8_t>((byte >> (4 * (column % 2))) & 15) : byte);
  }
  const auto scale = static_cast<std::size_t>(row * g.scale_bytes_per_row + block * scale_bytes(profile.family));
  result.scale = q.scales[scale];
  if (profile.family == Family::hif4) {
    for (std::size_t i = 0; i < 8; ++i) result.level2.push_back((q.scales[scale + 1] >> i) & 1U);
    for (std::size_t i = 0; i < 16; ++i) result.level3.push_back((q.scales[scale + 2 + i / 8] >> (i % 8)) & 1U);
  }
  return result;
}

exact::Operand logical_operand(const Profile& profile, const Quantized& q) {
  exact::Operand operand{profile, {}, float_bits(q.tensor_scale)};
  for (std::int64_t row = 0; row < q.geometry.rows; ++row) {
    operand.rows.emplace_back();
    for (std::int64_t block = 0; block < q.geometry.blocks; ++block)
      operand.rows.back().push_back(logical_block(profile, q, row, block));
  }
  return operand;
}

/// Compares C under every accumulator that takes the operands; both roads refuse the same ones. Returns how many did.
int expect_same(const Profile& profile_a, const Quantized& a, const Profile& profile_b, const Quantized& b,
                const std::string& what) {
  const exact::Operand logical_a = logical_operand(profile_a, a);
  const exact::Operand logical_b = logical_operand(profile_b, b);
  int compared = 0;
  for (const Accumulator accumulator : portable::accumulators) {
    const auto ours = portable::gemm(profile_a, a, profile_b, b, accumulator);
    const auto oracle = exact::gemm(logical_a, logical_b, oracle_accumulator(accumulator));
    EXPECT_EQ(ours.ok(), oracle.ok()) << what << " " << name_of(accumulator);
    if (!ours.ok() || !oracle.ok()) continue;
    EXPECT_EQ(words_of(*ours), *oracle) << what << " " << name_of(accumulator);
    ++compared;
  }
  return compared;
}

// --- Random codes and scales -----------------------------------------------------------------------------------------

/// What a random operand is made of.
enum class Style { ordinary, any_scale, extreme_scales, sparse, special_values };
constexpr Style styles[] = {Style::ordinary, Style::any_scale, Style::extreme_scales, Style::sparse,
                            Style::special_values};

class Draw {
 public:
  explicit Draw(std::uint32_t step) : step_(step) {}
  std::uint32_t operator()() { return random_word(seed, Stream::cases, step_, index_++); }
  std::uint32_t below(std::uint32_t bound) { return (*this)() % bound; }

 private:
  std::uint32_t step_;
  std::uint64_t index_ = 0;
};

std::uint8_t random_code(const Profile& profile, Style style, Draw& draw) {
  const ElementSpec spec = element_spec(profile.element);
  auto code = static_cast<std::uint8_t>(draw() & (2U * spec.sign_mask() - 1U));
  const bool special = (code & (spec.sign_mask() - 1U)) > spec.max_code;
  if (special && (style != Style::special_values || draw.below(4) != 0)) code = spec.max_code;
  if (style == Style::sparse && draw.below(4) != 0) code &= spec.sign_mask();
  return code;
}

std::uint8_t random_scale_code(const Profile& profile, Style style, Draw& draw) {
  struct Scales {
    std::uint32_t one, largest, nan;
  };
  const Scales s = profile.family == Family::mx     ? Scales{e8m0_bias, e8m0_max, e8m0_nan}
                   : profile.family == Family::hif4 ? Scales{0xC0, e6m2_max, e6m2_nan}
                                                    : Scales{0x38, e4m3_scale_max, e4m3_scale_nan};
  switch (style) {
    case Style::any_scale: return static_cast<std::uint8_t>(draw.below(s.largest + 1));
    case Style::extreme_scales:
      return static_cast<std::uint8_t>(draw.below(2) == 0 ? draw.below(3) : s.largest - draw.below(3));
    case Style::special_values:
      if (draw.below(24) == 0) return static_cast<std::uint8_t>(s.nan);
      break;
    case Style::ordinary:
    case Style::sparse: break;
  }
  return static_cast<std::uint8_t>(s.one - 4 + draw.below(9));
}

Quantized random_codes(const Profile& profile, std::int64_t rows, std::int64_t columns, Style style, Draw& draw) {
  Quantized q;
  q.geometry = *portable::geometry_of_quantized(profile, std::vector<std::int64_t>{rows, columns}, 1);
  for (std::int64_t i = 0; i < q.geometry.code_bytes(); ++i) {
    unsigned byte = random_code(profile, style, draw);
    if (element_spec(profile.element).is_nibble()) byte |= unsigned{random_code(profile, style, draw)} << 4;
    q.codes.push_back(static_cast<std::uint8_t>(byte));
  }
  for (std::int64_t i = 0; i < rows * q.geometry.blocks; ++i) {
    q.scales.push_back(random_scale_code(profile, style, draw));
    if (profile.family != Family::hif4) continue;
    for (int k = 0; k < 3; ++k) q.scales.push_back(static_cast<std::uint8_t>(draw()));
  }
  return q;
}

void compare_random_codes(const std::vector<const char*>& names, std::int64_t m, std::int64_t n, std::int64_t k,
                          int repetitions) {
  std::uint32_t step = static_cast<std::uint32_t>(k) * 1000;
  int compared = 0;
  for (const char* name_a : names) {
    for (const char* name_b : names) {
      const Profile& profile_a = *find_profile(name_a);
      const Profile& profile_b = *find_profile(name_b);
      for (const Style style : styles) {
        for (int i = 0; i < repetitions; ++i) {
          Draw draw(step++);
          const Quantized a = random_codes(profile_a, m, k, style, draw);
          const Quantized b = random_codes(profile_b, n, k, style, draw);
          compared +=
              expect_same(profile_a, a, profile_b, b,
                          std::string(name_a) + " x " + name_b + " style " + std::to_string(static_cast<int>(style)));
        }
      }
    }
  }
  EXPECT_GE(compared, static_cast<int>(names.size() * names.size() * std::size(styles)) * repetitions * 5);
}

const std::vector<const char*> mx_formats = {"mxfp4/ocp", "mxfp6-e2m3/ocp", "mxfp6-e3m2/ocp", "mxfp8-e4m3/ocp",
                                             "mxfp8-e5m2/ocp"};
const std::vector<const char*> hif4_formats = {"hif4/gcc", "hifx3/gcc", "hifx5/gcc"};

TEST(GemmAgainstOracle, EveryPairOfMxFormats) {
  compare_random_codes(mx_formats, 2, 3, 96, 2);
  compare_random_codes({"mxfp4/ocp", "mxfp8-e5m2/ocp"}, 1, 2, 1088, 1);
}

TEST(GemmAgainstOracle, EveryPairOfHif4Formats) {
  compare_random_codes(hif4_formats, 2, 3, 128, 2);
  compare_random_codes({"hif4/gcc"}, 1, 2, 1088, 1);
}

TEST(GemmAgainstOracle, Nvfp4) {
  compare_random_codes({"nvfp4/direct"}, 2, 3, 80, 4);
  compare_random_codes({"nvfp4/direct"}, 1, 2, 1088, 1);
}

// --- Every profile ---------------------------------------------------------------------------------------------------

Quantized quantized_normals(const Profile& profile, std::int64_t rows, std::int64_t columns, std::uint32_t step) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < rows * columns; ++i)
    values.push_back(random_normal(seed, Stream::cases, step, static_cast<std::uint64_t>(i)) *
                     pow2f(static_cast<int>(i / columns) * 3));
  const std::int64_t shape[] = {rows, columns};
  const portable::TensorView view = {portable::DType::f32, shape, reinterpret_cast<const std::byte*>(values.data())};
  return *portable::quantize(profile, view, {.tail = portable::Tail::pad, .seed = seed});
}

TEST(GemmAgainstOracle, EveryProfileOnQuantizedNormals) {
  for (const Profile& profile : profile_table) {
    for (const std::int64_t columns : {70, 600}) {
      const Quantized a = quantized_normals(profile, 2, columns, 1);
      const Quantized b = quantized_normals(profile, 3, columns, 2);
      EXPECT_GE(expect_same(profile, a, profile, b, std::string(profile.name)), 5);
    }
  }
}

// --- bfloat16 --------------------------------------------------------------------------------------------------------

TEST(GemmAgainstOracle, Bf16) {
  constexpr std::size_t m = 3;
  constexpr std::size_t n = 4;
  for (const std::size_t k : {7U, 600U}) {
    for (std::uint32_t step = 0; step < 12; ++step) {
      // The range of exponent fields: around 1, everything finite, the bottom, the top with infinities and NaN.
      constexpr std::uint32_t lowest[] = {120, 0, 0, 240};
      constexpr std::uint32_t width[] = {16, 255, 130, 16};
      Draw draw(1000 + step);
      std::vector<std::uint16_t> words;
      for (std::size_t i = 0; i < (m + n) * k; ++i) {
        const std::uint32_t field = lowest[step % 4] + draw.below(width[step % 4]);
        const std::uint32_t rest = draw() & (field == 255 && draw.below(50) != 0 ? 0x8000U : 0x807FU);
        words.push_back(static_cast<std::uint16_t>(rest | ((field == 255 && step < 8 ? 254 : field) << 7)));
      }
      const std::span<const std::uint16_t> a = std::span(words).first(m * k);
      const std::span<const std::uint16_t> b = std::span(words).subspan(m * k);
      EXPECT_EQ(words_of(*portable::gemm_bf16(a, b, m, n, static_cast<std::int64_t>(k))),
                exact::bf16_gemm(a, b, m, n, k))
          << "k " << k << " step " << step;
    }
  }
}

}  // namespace
}  // namespace fp4proof
