// Products of quantized matrices.

#include <algorithm>
#include <array>
#include <tuple>

#include "conformance/suite/class_tables.h"
#include "conformance/suite/drafts.h"
#include "conformance/suite/reference_answers.h"
#include "formats/packing.h"

namespace fp4proof::suite {

namespace {

using Names = std::vector<std::string_view>;

/// One operand before packing.
class Operand {
 public:
  Operand(const Profile& profile, std::int64_t rows, std::int64_t columns, std::uint32_t scale)
      : profile_(&profile),
        length_(profile.block.cols),
        columns_(static_cast<std::size_t>(columns)),
        codes_(static_cast<std::size_t>(rows) * columns_, 0),
        scales_(codes_.size() / length_, scale) {}

  std::uint8_t& code(std::size_t row, std::size_t column) { return codes_[row * columns_ + column]; }
  std::uint32_t& scale(std::size_t row, std::size_t block) { return scales_[row * blocks() + block]; }
  std::size_t rows() const { return codes_.size() / columns_; }
  std::size_t columns() const { return columns_; }
  std::size_t blocks() const { return columns_ / length_; }
  std::vector<std::uint8_t>& codes() { return codes_; }
  std::vector<std::uint32_t>& scales() { return scales_; }

  std::vector<std::uint8_t> packed_codes() const {
    if (!element_spec(profile_->element).is_nibble()) return codes_;
    std::vector<std::uint8_t> packed(codes_.size() / 2);
    pack_nibbles(NibbleOrder::even_low, codes_.data(), codes_.size(), packed.data());
    return packed;
  }

  std::vector<std::uint8_t> packed_scales() const {
    const int bytes = scale_bytes(profile_->family);
    std::vector<std::uint8_t> packed;
    for (const std::uint32_t scale : scales_) {
      std::array<std::uint8_t, 4> word{};
      store_le32(scale, word.data());
      packed.insert(packed.end(), word.begin(), word.begin() + bytes);
    }
    return packed;
  }

 private:
  const Profile* profile_;
  std::size_t length_;
  std::size_t columns_;
  std::vector<std::uint8_t> codes_;
  std::vector<std::uint32_t> scales_;
};

std::uint32_t scale_of_one(const Profile& profile) {
  switch (profile.family) {
    case Family::mx: return e8m0_bias;
    case Family::hif4: return std::uint32_t{e6m2_bias} << 2;
    case Family::nvfp4: return 0x38;
  }
  return 0;
}

std::uint32_t nan_scale(const Profile& profile) { return profile.family == Family::nvfp4 ? e4m3_scale_nan : e8m0_nan; }

/// The magnitude code of one.
std::uint8_t code_of_one(const Profile& profile) {
  const ElementSpec spec = element_spec(profile.element);
  return static_cast<std::uint8_t>(spec.bias << spec.mantissa_bits);
}

/// One case for each accumulator.
void add_cases(const Profile& profile, const Operand& a, const Operand& b, const Names& accumulators,
               std::vector<CaseInput>& cases, std::uint32_t tensor_scale = 0x3F800000U) {
  const std::vector<std::string_view> known = accumulators_for(profile);
  for (const std::string_view accumulator : accumulators) {
    if (std::ranges::find(known, accumulator) == known.end()) continue;
    CaseInput input;
    input.spec.rows = static_cast<std::int64_t>(a.rows());
    input.spec.other_rows = static_cast<std::int64_t>(b.rows());
    input.spec.columns = static_cast<std::int64_t>(a.columns());
    input.spec.accumulator = accumulator;
    input.tensors.emplace("a_codes", a.packed_codes());
    input.tensors.emplace("a_scales", a.packed_scales());
    input.tensors.emplace("b_codes", b.packed_codes());
    input.tensors.emplace("b_scales", b.packed_scales());
    if (profile.tensor_scale) {
      input.tensors.emplace("a_tensor_scale", bytes_of_words(std::array{tensor_scale}));
      input.tensors.emplace("b_tensor_scale", bytes_of_words(std::array{tensor_scale ^ 0x00000005U}));
    }
    cases.push_back(std::move(input));
  }
}

const Names normative = {"seq512"};

Names every_accumulator(const Profile& profile) { return accumulators_for(profile); }

std::int64_t length_of(const Profile& profile) { return profile.block.cols; }

std::uint8_t random_code(const Profile& profile, CaseRandom& random) {
  const ElementSpec spec = element_spec(profile.element);
  const std::uint32_t magnitude = random.below(spec.max_code + 1U);
  return static_cast<std::uint8_t>(magnitude | (random.coin() ? spec.sign_mask() : 0U));
}

/// A scale within some binades of one; HiF4: any micro-exponents.
std::uint32_t random_scale(const Profile& profile, CaseRandom& random, std::uint32_t spread) {
  switch (profile.family) {
    case Family::mx: return e8m0_bias - spread + random.below(2 * spread + 1);
    case Family::hif4: {
      const std::uint32_t code = (e6m2_bias - spread + random.below(2 * spread + 1)) * 4 + random.below(4);
      return std::min(code, std::uint32_t{e6m2_max}) | random.below(1U << 24) << 8;
    }
    case Family::nvfp4: return 0x38 - 4 * std::min(spread, 6U) + random.below(8 * std::min(spread, 6U) + 1);
  }
  return 0;
}

Operand random_operand(const Profile& profile, CaseRandom& random, std::int64_t rows, std::int64_t columns,
                       std::uint32_t spread) {
  Operand operand(profile, rows, columns, 0);
  for (std::uint8_t& code : operand.codes()) code = random_code(profile, random);
  for (std::uint32_t& scale : operand.scales()) scale = random_scale(profile, random, spread);
  return operand;
}

/// Row m of A holds code m at one place, row n of B code n everywhere: C[m, n] is their product.
std::vector<CaseInput> code_pairs(const CaseContext& context) {
  const Profile& profile = context.profile;
  const std::int64_t length = length_of(profile);
  const int count = 1 << element_spec(profile.element).bits();
  const int side = 16;
  std::vector<CaseInput> cases;
  for (int first_a = 0; first_a < count; first_a += side) {
    for (int first_b = 0; first_b < count; first_b += side) {
      Operand a(profile, side, length, scale_of_one(profile));
      Operand b(profile, side, length, scale_of_one(profile));
      for (std::size_t i = 0; i < side; ++i) {
        a.code(i, i * 5 % static_cast<std::size_t>(length)) = static_cast<std::uint8_t>(first_a + static_cast<int>(i));
        for (std::size_t k = 0; k < static_cast<std::size_t>(length); ++k) {
          b.code(i, k) = static_cast<std::uint8_t>(first_b + static_cast<int>(i));
        }
      }
      add_cases(profile, a, b, normative, cases);
    }
  }
  return cases;
}

/// Scales at the ends of their range on either side: products that overflow, vanish, or are subnormal.
std::vector<CaseInput> scale_ends(const CaseContext& context) {
  const Profile& profile = context.profile;
  std::vector<std::uint32_t> ends;
  switch (profile.family) {
    case Family::mx: ends = {0, 1, 63, 127, 190, 253, 254}; break;
    case Family::hif4: ends = {0x00, 0x03, 0xC0, 0xC3, 0xFE}; break;
    case Family::nvfp4: ends = {0x00, 0x01, 0x08, 0x38, 0x7E}; break;
  }
  const auto rows = static_cast<std::int64_t>(ends.size());
  Operand a(profile, rows, length_of(profile), 0);
  Operand b(profile, rows, length_of(profile), 0);
  for (std::size_t i = 0; i < ends.size(); ++i) {
    a.scale(i, 0) = ends[i];
    b.scale(i, 0) = ends[i];
    a.code(i, i) = 3;
    a.code(i, 9) = static_cast<std::uint8_t>(element_spec(profile.element).sign_mask() | 1U);
    for (std::size_t k = 0; k < 10; ++k) b.code(i, k) = static_cast<std::uint8_t>(1 + (i + k) % 3);
  }
  std::vector<CaseInput> cases;
  add_cases(profile, a, b, every_accumulator(profile), cases);
  return cases;
}

/// A NaN scale against ordinary and all-zero blocks, on both sides.
std::vector<CaseInput> nan_scales(const CaseContext& context) {
  const Profile& profile = context.profile;
  const std::int64_t length = length_of(profile);
  const std::uint8_t one = code_of_one(profile);
  std::vector<CaseInput> cases;
  Operand a(profile, 3, 2 * length, scale_of_one(profile));
  Operand b(profile, 3, 2 * length, scale_of_one(profile));
  a.scale(0, 1) = nan_scale(profile);
  b.scale(2, 0) = nan_scale(profile);
  for (std::size_t k = 0; k < static_cast<std::size_t>(length); k += 3) {
    a.code(1, k) = one;
    b.code(1, k) = one;
  }
  add_cases(profile, a, b, every_accumulator(profile), cases);
  return cases;
}

/// Large, small, minus large: the answer depends on where the sum is rounded.
std::vector<CaseInput> cancellation(const CaseContext& context) {
  const Profile& profile = context.profile;
  const std::int64_t length = length_of(profile);
  const std::uint8_t one = code_of_one(profile);
  const auto minus_one = static_cast<std::uint8_t>(one | element_spec(profile.element).sign_mask());
  const std::uint32_t step = profile.family == Family::mx ? 14 : profile.family == Family::hif4 ? 15 * 4 : 6 * 8;
  std::vector<CaseInput> cases;
  for (std::size_t variant = 0; variant < 3; ++variant) {
    Operand a(profile, 2, 4 * length, scale_of_one(profile));
    Operand b(profile, 2, 4 * length, scale_of_one(profile));
    for (std::size_t row = 0; row < 2; ++row) {
      const std::size_t large = variant;
      const std::size_t minus_large = 3;
      for (std::size_t block = 0; block < 4; ++block) {
        const std::size_t column = block * static_cast<std::size_t>(length);
        const bool is_large = block == large || block == minus_large;
        a.code(row, column) = block == minus_large ? minus_one : one;
        a.code(row, column + 1) = is_large ? 0 : static_cast<std::uint8_t>(1 + row);
        b.code(row, column) = one;
        b.code(row, column + 1) = 1;
        const std::uint32_t shift = is_large ? step : 0;
        a.scale(row, block) = std::min(scale_of_one(profile) + shift, std::uint32_t{e6m2_max});
        b.scale(row, block) = scale_of_one(profile) + (is_large ? std::min(step, 0x30U) : 0);
      }
    }
    add_cases(profile, a, b, every_accumulator(profile), cases);
  }
  return cases;
}

/// K around 512 and 1024, where a new partial sum starts: random data, and ones on top of a large first product.
std::vector<CaseInput> chunk_edge(const CaseContext& context) {
  const Profile& profile = context.profile;
  const std::int64_t length = length_of(profile);
  CaseRandom random(context);
  std::vector<CaseInput> cases;
  std::vector<std::int64_t> depths = {512 + length};
  if (context.level != Level::smoke) depths = {512 - length, 512, 512 + length, 1024, 1024 + 2 * length};
  for (const std::int64_t depth : depths) {
    Operand a = random_operand(profile, random, 1, depth, 3);
    Operand b = random_operand(profile, random, 2, depth, 3);
    b.scale(0, 0) = random_scale(profile, random, 0) + (profile.family == Family::mx ? 24U : 0U);
    add_cases(profile, a, b, {"seq512", "seq", "exact"}, cases);
  }
  return cases;
}

/// A scale of its own for each row and block, ones as data: C[m, n] names the two scales that it was given.
std::vector<CaseInput> scale_names(const CaseContext& context) {
  const Profile& profile = context.profile;
  const std::int64_t length = length_of(profile);
  const std::uint8_t one = code_of_one(profile);
  const std::uint32_t step = profile.family == Family::mx ? 1 : profile.family == Family::hif4 ? 4 : 1;
  Operand a(profile, 3, 4 * length, 0);
  Operand b(profile, 5, 4 * length, 0);
  for (std::size_t block = 0; block < 4; ++block) {
    const std::size_t column = block * static_cast<std::size_t>(length);
    for (std::size_t m = 0; m < 3; ++m) {
      a.scale(m, block) = scale_of_one(profile) + step * static_cast<std::uint32_t>(m * 4 + block) - 6 * step;
      a.code(m, column + 2) = block == (m + 1) % 4 ? one : std::uint8_t{0};
    }
    for (std::size_t n = 0; n < 5; ++n) {
      b.scale(n, block) = scale_of_one(profile) + step * static_cast<std::uint32_t>(n * 4 + block) - 10 * step;
      b.code(n, column + 2) = one;
    }
  }
  std::vector<CaseInput> cases;
  add_cases(profile, a, b, normative, cases);
  return cases;
}

/// Dots of the largest elements under every micro-exponent: rows of one sign, of both, and largest ones beside the
/// smallest. Sums in narrow integers overflow, and E5M2 needs more than 53 bits.
std::vector<CaseInput> largest_dots(const CaseContext& context) {
  const Profile& profile = context.profile;
  const ElementSpec spec = element_spec(profile.element);
  const auto minus = static_cast<std::uint8_t>(spec.max_code | spec.sign_mask());
  const std::uint32_t scale = scale_of_one(profile) | (profile.family == Family::hif4 ? 0xFFFFFF00U : 0U);
  Operand a(profile, 5, 2 * length_of(profile), scale);
  Operand b(profile, 4, 2 * length_of(profile), scale);
  for (std::size_t k = 0; k < a.columns(); ++k) {
    const bool even = k % 2 == 0;
    a.code(0, k) = spec.max_code;
    a.code(1, k) = minus;
    a.code(2, k) = even ? spec.max_code : minus;
    a.code(3, k) = even ? minus : std::uint8_t{1};
    b.code(0, k) = spec.max_code;
    b.code(1, k) = even ? minus : spec.max_code;
    b.code(2, k) = k == 4 ? minus : static_cast<std::uint8_t>(even ? 0 : 1 + k % 3);
  }
  // The smallest product, and two largest ones that cancel.
  for (const auto& [k, code_a, code_b] : {std::tuple{0, std::uint8_t{1}, std::uint8_t{1}}, std::tuple{1, minus, minus},
                                          std::tuple{2, spec.max_code, minus}}) {
    a.code(4, static_cast<std::size_t>(k)) = code_a;
    b.code(3, static_cast<std::size_t>(k)) = code_b;
  }
  std::vector<CaseInput> cases;
  add_cases(profile, a, b, every_accumulator(profile), cases);
  return cases;
}

/// Sums that are subnormal after the first block, then grow; in the second row the first products lie below the
/// smallest number and are rounded to it or to zero.
std::vector<CaseInput> subnormal_sums(const CaseContext& context) {
  const Profile& profile = context.profile;
  const std::int64_t length = length_of(profile);
  const std::uint8_t one = code_of_one(profile);
  Operand a(profile, 2, 4 * length, e8m0_bias);
  Operand b(profile, 2, 4 * length, e8m0_bias);
  for (std::size_t row = 0; row < 2; ++row) {
    for (std::size_t block = 0; block < 4; ++block) {
      const auto column = block * static_cast<std::size_t>(length);
      const auto rise = static_cast<std::uint32_t>(3 * block);
      a.scale(row, block) = static_cast<std::uint32_t>(e8m0_bias - 70 - 9 * static_cast<int>(row)) + rise;
      b.scale(row, block) = e8m0_bias - 70;
      a.code(row, column + 1) = one;
      a.code(row, column + 7) = static_cast<std::uint8_t>(one + 1);
      b.code(row, column + 1) = static_cast<std::uint8_t>(one + block);
      b.code(row, column + 7) = one;
    }
  }
  std::vector<CaseInput> cases;
  add_cases(profile, a, b, every_accumulator(profile), cases);
  return cases;
}

/// Zeros of both signs, alone and beside values that cancel: every such sum is +0.
std::vector<CaseInput> zero_sums(const CaseContext& context) {
  const Profile& profile = context.profile;
  const std::uint8_t one = code_of_one(profile);
  const std::uint8_t minus = element_spec(profile.element).sign_mask();
  Operand a(profile, 3, length_of(profile), scale_of_one(profile));
  Operand b(profile, 2, length_of(profile), scale_of_one(profile));
  for (std::size_t k = 0; k < static_cast<std::size_t>(length_of(profile)); ++k) {
    a.code(0, k) = minus;
    a.code(2, k) = k % 2 == 0 ? one : static_cast<std::uint8_t>(one | minus);
    b.code(0, k) = one;
    b.code(1, k) = minus;
  }
  std::vector<CaseInput> cases;
  add_cases(profile, a, b, every_accumulator(profile), cases);
  return cases;
}

std::vector<CaseInput> random_products(const CaseContext& context) {
  const Profile& profile = context.profile;
  CaseRandom random(context);
  const Names accumulators = every_accumulator(profile);
  std::vector<CaseInput> cases;
  while (cases.size() < context.wanted) {
    const std::uint32_t spread = cases.size() % 2 == 0 ? 3 : 9;
    const Operand a = random_operand(profile, random, 3, 4 * length_of(profile), spread);
    const Operand b = random_operand(profile, random, 2, 4 * length_of(profile), spread);
    add_cases(profile, a, b, accumulators, cases, 0x3A83126FU);
  }
  return cases;
}

constexpr std::array gemm_table = {
    CaseClass{"gemm-code-pairs", "A product of two elements is wrong: another table, or codes at other places.",
              Operation::gemm, any_profile, code_pairs},
    CaseClass{"gemm-scale-ends", "Products under extreme scales overflow, vanish, or are rounded too early.",
              Operation::gemm, any_profile, scale_ends},
    CaseClass{"gemm-nan-scales", "A NaN scale is skipped where the other block is zero, or spreads too far.",
              Operation::gemm, any_profile, nan_scales},
    CaseClass{"gemm-cancellation", "The sum is rounded at other places than the accumulator says.", Operation::gemm,
              any_profile, cancellation},
    CaseClass{"gemm-chunk-edge", "Partial sums do not start anew every 512 elements, or the last chunk is lost.",
              Operation::gemm, any_profile, chunk_edge},
    CaseClass{"gemm-scale-names", "A product takes the scale of another row or block, or A's scale for B's.",
              Operation::gemm, any_profile, scale_names},
    CaseClass{"gemm-largest-dots",
              "Sums of products overflow a narrow accumulator, or lose the small beside the large.", Operation::gemm,
              any_profile, largest_dots},
    CaseClass{"gemm-subnormal-sums", "A subnormal partial sum is flushed, or aligned a binade off.", Operation::gemm,
              is_mx, subnormal_sums},
    CaseClass{"gemm-zero-sums", "A sum of zeros, or one that cancels, is -0.", Operation::gemm, any_profile, zero_sums},
    CaseClass{"gemm-random", "Something goes wrong on ordinary data that no other class thought of.", Operation::gemm,
              any_profile, random_products},
};

}  // namespace

std::span<const CaseClass> gemm_classes() { return gemm_table; }

}  // namespace fp4proof::suite
