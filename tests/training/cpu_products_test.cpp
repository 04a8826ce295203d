// Quantization and products of the CPU reference against the oracle: T20 to T23 of docs/rules-training.md.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "formats/spec_profiles.h"
#include "reference/exact/correction.h"
#include "tests/training/operator_inputs.h"

namespace fp4proof {
namespace {

using testing::expect_same_bits;
using testing::numbers;
using testing::run_on_cpu;
using testing::Spice;
using testing::with_threads;
using Bytes = std::vector<std::uint8_t>;
using Words = std::vector<std::uint32_t>;

std::int64_t wide(std::size_t n) { return static_cast<std::int64_t>(n); }

/// One part in the memory of a caller; 0xA5 where nothing was written.
struct Part {
  Bytes codes, scales, macro;
  float tensor_scale = -1.0F;
  fp4proof_part view() { return {codes.data(), scales.data(), &tensor_scale, macro.data()}; }
};

/// A matrix under a profile and a stack by both roads.
struct Coding {
  std::string profile;
  std::string stack;
  bool stochastic = false;
};

std::string text_of(const Coding& coding) {
  return coding.profile + " " + coding.stack + (coding.stochastic ? " stochastic" : "");
}

CorrectionStack stack_of(const Coding& coding) {
  CorrectionStack stack = *find_correction_stack(coding.stack);
  stack.stochastic = stack.stochastic || coding.stochastic;
  return stack;
}

struct Matrix {
  std::size_t rows;
  std::size_t columns;
  int axis;
  std::vector<float> x;
  std::size_t lines() const { return axis == 1 ? rows : columns; }
  std::size_t length() const { return axis == 1 ? columns : rows; }
  std::size_t place(std::size_t line, std::size_t i) const {
    return axis == 1 ? line * columns + i : i * columns + line;
  }
};

constexpr fp4proof_random random_place = {31, static_cast<std::uint32_t>(Stream::sr_gradient), 32, (5ULL << 40) + 3};
constexpr std::uint32_t product_number = 6;

exact::CorrectedMatrix by_oracle(const Coding& coding, const Matrix& m) {
  Words words;
  Words random;
  for (std::size_t line = 0; line < m.lines(); ++line) {
    for (std::size_t i = 0; i < m.length(); ++i) {
      words.push_back(float_bits(m.x[m.place(line, i)]));
      random.push_back(random_word(random_place.seed, Stream::sr_gradient, random_place.step,
                                   random_place.first + m.place(line, i)));
    }
  }
  const CorrectionStack stack = stack_of(coding);
  const Profile& profile = *find_profile(coding.profile);
  if (stack.effective(profile).rounding != Rounding::stochastic) random.clear();
  auto corrected = exact::correct(profile, stack, {{m.lines(), m.length(), m.lines()}, words, random}, product_number);
  EXPECT_TRUE(corrected) << text_of(coding) << ": " << corrected.error().message;
  return *std::move(corrected);
}

/// The part as docs/vectors.md stores it.
Part stored(const exact::CodedPart& part) {
  Profile profile = part.operand.profile;
  profile.micro_order = MicroOrder::lsb_first;
  profile.block.rows = 1;
  Bytes codes;
  Part result;
  for (const auto& row : part.operand.rows) {
    for (const exact::EncodedBlock& block : row) {
      codes.insert(codes.end(), block.codes.begin(), block.codes.end());
      const Bytes scale = profile.family == Family::hif4 ? exact::hif4_scale_bytes(profile, block) : Bytes{block.scale};
      result.scales.insert(result.scales.end(), scale.begin(), scale.end());
    }
  }
  const bool nibbles = element_spec(profile.element).is_nibble();
  for (std::size_t i = 0; i < codes.size(); i += nibbles ? 2 : 1) {
    result.codes.push_back(nibbles ? static_cast<std::uint8_t>(codes[i] | codes[i + 1] << 4) : codes[i]);
  }
  result.macro = part.macro;
  result.tensor_scale = float_from_bits(part.operand.tensor_scale);
  return result;
}

void expect_same_part(const Part& actual, const Part& expected, bool has_tensor_scale, const std::string& what) {
  EXPECT_EQ(actual.codes, expected.codes) << what << ", codes";
  EXPECT_EQ(actual.scales, expected.scales) << what << ", scales";
  EXPECT_EQ(actual.macro, expected.macro) << what << ", macro bytes";
  const float tensor_scale = has_tensor_scale ? expected.tensor_scale : -1.0F;
  EXPECT_EQ(float_bits(actual.tensor_scale), float_bits(tensor_scale)) << what;
}

Part empty_like(const Part& part) {
  return {Bytes(part.codes.size(), 0xA5), Bytes(part.scales.size(), 0xA5), Bytes(part.macro.size(), 0xA5), -1.0F};
}

/// Codes a matrix on the CPU and compares every byte with the oracle's. Returns the oracle's.
void compare_coding(const Coding& coding, const Matrix& m) {
  const exact::CorrectedMatrix oracle = by_oracle(coding, m);
  const Part first = stored(oracle.first);
  const Part residual = oracle.residual ? stored(*oracle.residual) : Part{};
  const Words values = exact::decode(oracle);
  const bool has_tensor_scale = find_profile(coding.profile)->tensor_scale;
  const std::string what = text_of(coding) + " " + std::to_string(m.rows) + "x" + std::to_string(m.columns) + " axis " +
                           std::to_string(m.axis);
  for (const bool keep_values : {false, true}) {
    Part actual_first = empty_like(first);
    Part actual_residual = empty_like(residual);
    std::vector<float> actual_values(keep_values ? values.size() : 0);
    fp4proof_quantize_call call{};
    call.profile = coding.profile.c_str();
    call.stack = coding.stack.c_str();
    call.rows = wide(m.rows);
    call.columns = wide(m.columns);
    call.axis = m.axis;
    call.stochastic = coding.stochastic ? 1 : 0;
    call.random = random_place;
    call.product = product_number;
    call.x = m.x.data();
    call.first = actual_first.view();
    call.residual = oracle.residual ? actual_residual.view() : fp4proof_part{};
    call.values = keep_values ? actual_values.data() : nullptr;
    run_on_cpu(&fp4proof_training::quantize, call);
    expect_same_part(actual_first, first, has_tensor_scale, what);
    expect_same_part(actual_residual, residual, has_tensor_scale && oracle.residual, what + ", residual");
    for (std::size_t i = 0; i < actual_values.size(); ++i)
      ASSERT_EQ(float_bits(actual_values[i]), values[i]) << what << ", value " << i;
  }
}

const Coding codings[] = {{"mxfp4/rceil", "none"},
                          {"mxfp4/ocp", "none"},
                          {"hif4/gcc", "none"},
                          {"nvfp4/direct", "none"},
                          {"nvfp4/tensor-scale", "none"},
                          {"mxfp8-e4m3/rceil", "none"},
                          {"mxfp4/rceil", "none", true},
                          {"hif4/gcc", "none", true},
                          {"mxfp4/rceil", "sr"},
                          {"mxfp4/rceil", "tile-32"},
                          {"mxfp4/rceil", "tile-32", true},
                          {"mxfp4/rceil", "resq"},
                          {"hif4/gcc", "resq"},
                          {"hif4/gcc", "rfq"},
                          {"mxfp4/rceil", "fallback"},
                          {"mxfp4/rceil", "rfq-theta"},
                          {"mxfp4/rceil", "mbs"},
                          {"mxfp4/rceil", "mbs", true},
                          {"mxfp4/rceil", "mbs+fallback"},
                          {"mxfp4/ocp", "three-quarters"},
                          {"mxfp4/rceil", "hadamard-16"},
                          {"mxfp4/rceil", "hadamard-16", true},
                          {"mxfp4/rceil", "hadamard-16-fresh"}};

TEST(CpuProducts, QuantizeAgreesWithTheOracle) {
  for (const Coding& coding : codings) {
    ASSERT_NE(find_profile(coding.profile), nullptr) << coding.profile;
    const bool whole_groups = stack_of(coding).hadamard.is_on();
    for (const int axis : {1, 0}) {
      for (const auto& [lines, length] : {std::pair{5U, 64U}, {3U, 96U}, {33U, 80U}, {2U, 7U}, {1U, 130U}}) {
        if (whole_groups && length % 16 != 0) continue;
        const std::size_t count = std::size_t{lines} * length;
        Matrix m{axis == 1 ? lines : length, axis == 1 ? length : lines, axis, numbers(count, lines + length, 3.0F)};
        compare_coding(coding, m);
        m.x = numbers(count, lines + length, 3.0F, Spice::specials);
        compare_coding(coding, m);
      }
    }
  }
}

TEST(CpuProducts, QuantizeGivesTheSameBytesForAnyThreads) {
  constexpr std::size_t rows = 700;
  constexpr std::size_t columns = 64;
  const auto x = numbers(rows * columns, 50, 2.0F, Spice::specials);
  for (const Coding& coding : codings) {
    if (stack_of(coding).hadamard.is_on()) continue;  // 700 is no multiple of 16
    for (const int axis : {1, 0}) {
      std::vector<Bytes> seen;
      with_threads([&] {
        const Part sizes{Bytes(2 * rows * columns), Bytes(2 * rows * columns), Bytes(rows * columns), 0.0F};
        Part first = empty_like(sizes);
        Part residual = empty_like(sizes);
        run_on_cpu(&fp4proof_training::quantize,
                   {0, coding.profile.c_str(), coding.stack.c_str(), rows, columns, axis, coding.stochastic ? 1 : 0,
                    random_place, 0, x.data(), first.view(), residual.view(), nullptr});
        Bytes all = first.codes;
        for (const Bytes* more : {&first.scales, &first.macro, &residual.codes, &residual.scales, &residual.macro})
          all.insert(all.end(), more->begin(), more->end());
        seen.push_back(std::move(all));
      });
      for (const Bytes& bytes : seen) EXPECT_EQ(bytes, seen.front()) << text_of(coding) << " axis " << axis;
    }
  }
}

/// The product of two operands that the oracle coded, by both roads.
void compare_product(const Coding& coding_a, const Coding& coding_b, std::size_t m, std::size_t n, std::size_t k,
                     Spice spice) {
  const exact::CorrectedMatrix a = by_oracle(coding_a, {m, k, 1, numbers(m * k, 51, 1.0F, spice)});
  const exact::CorrectedMatrix b = by_oracle(coding_b, {k, n, 0, numbers(n * k, 52, 1.0F, spice)});
  const auto expected = exact::gemm(a, b, exact::Accumulator::seq512);
  ASSERT_TRUE(expected) << expected.error().message;
  Part parts[] = {stored(a.first), a.residual ? stored(*a.residual) : Part{}, stored(b.first),
                  b.residual ? stored(*b.residual) : Part{}};
  with_threads([&] {
    std::vector<float> c(m * n, -7.0F);
    run_on_cpu(&fp4proof_training::multiply,
               {0,
                wide(k),
                {coding_a.profile.c_str(), coding_a.stack.c_str(), wide(m), parts[0].view(), parts[1].view()},
                {coding_b.profile.c_str(), coding_b.stack.c_str(), wide(n), parts[2].view(), parts[3].view()},
                c.data()});
    for (std::size_t i = 0; i < c.size(); ++i) {
      ASSERT_EQ(float_bits(c[i]), (*expected)[i])
          << text_of(coding_a) << " times " << text_of(coding_b) << ", element " << i;
    }
  });
}

TEST(CpuProducts, MultiplyAgreesWithTheOracle) {
  for (const Spice spice : {Spice::none, Spice::specials}) {
    for (const auto& [m, n, k] : {std::tuple{3U, 5U, 64U}, {9U, 33U, 100U}, {2U, 3U, 1100U}}) {
      for (const char* profile :
           {"mxfp4/rceil", "hif4/gcc", "nvfp4/tensor-scale", "mxfp8-e4m3/rceil", "mxfp8-e5m2/ocp"})
        compare_product({profile, "none"}, {profile, "none"}, m, n, k, spice);
      for (const char* stack : {"resq", "fallback", "rfq", "tile-32"}) {
        compare_product({"mxfp4/rceil", stack}, {"mxfp4/rceil", "none"}, m, n, k, spice);
        compare_product({"mxfp4/rceil", "none"}, {"mxfp4/rceil", stack}, m, n, k, spice);
      }
      compare_product({"hif4/gcc", "resq"}, {"hif4/gcc", "none"}, m, n, k, spice);
      compare_product({"mxfp4/rceil", "mbs"}, {"mxfp4/rceil", "mbs"}, m, n, k, spice);
      compare_product({"mxfp4/rceil", "mbs+fallback"}, {"mxfp4/rceil", "mbs"}, m, n, k, spice);
      compare_product({"mxfp4/rceil", "none"}, {"mxfp8-e4m3/rceil", "none"}, m, n, k, spice);
      compare_product({"mxfp4/ocp", "three-quarters"}, {"mxfp4/ocp", "none"}, m, n, k, spice);
      if (k % 16 == 0) compare_product({"mxfp4/rceil", "hadamard-16"}, {"mxfp4/rceil", "hadamard-16"}, m, n, k, spice);
    }
  }
}

TEST(CpuProducts, MultiplyRefusesTwoResiduals) {
  const exact::CorrectedMatrix a = by_oracle({"mxfp4/rceil", "resq"}, {1, 32, 1, numbers(32, 53)});
  Part first = stored(a.first);
  Part residual = stored(*a.residual);
  float c = 0.0F;
  const fp4proof_operand operand = {"mxfp4/rceil", "resq", 1, first.view(), residual.view()};
  const fp4proof_multiply_call call = {sizeof call, 32, operand, operand, &c};
  const fp4proof_training& table = *training::reference_training();
  EXPECT_EQ(table.multiply(&call), FP4PROOF_INVALID);
  EXPECT_NE(std::string(table.error()).find("residual"), std::string::npos);
}

TEST(CpuProducts, ToBf16) {
  for (const auto& [rows, columns] : {std::pair{1U, 1U}, {33U, 65U}, {700U, 131U}}) {
    auto x = numbers(std::size_t{rows} * columns, 54, 1.0F, Spice::specials);
    x[0] = float_from_bits(0x7F800001U);  // a NaN whose payload bfloat16 would lose
    x[x.size() / 2] = float_from_bits(0x3F808000U);
    x[x.size() - 1] = float_from_bits(0x3F818000U);
    // To nearest, ties to even, from the definition: of the two neighbours the nearer one.
    const auto rounded = [](float value) -> std::uint16_t {
      const std::uint32_t word = float_bits(value);
      if (value != value) return 0x7FC0;
      const std::uint32_t below = word >> 16;
      const std::uint32_t rest = word & 0xFFFFU;
      const bool up = rest > 0x8000U || (rest == 0x8000U && below % 2 == 1);
      return static_cast<std::uint16_t>(below + (up ? 1 : 0));
    };
    with_threads([&, rows = std::size_t{rows}, columns = std::size_t{columns}] {
      std::vector<std::uint16_t> y(x.size());
      run_on_cpu(&fp4proof_training::to_bf16, {0, wide(rows), wide(columns), 0, 0, x.data(), y.data()});
      for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(y[i], rounded(x[i])) << i;
      run_on_cpu(&fp4proof_training::to_bf16, {0, wide(rows), wide(columns), 1, 0, x.data(), y.data()});
      for (std::size_t i = 0; i < x.size(); ++i)
        ASSERT_EQ(y[i % columns * rows + i / columns], rounded(x[i])) << i << " transposed";
    });
  }
}

TEST(CpuProducts, MultiplyBf16AgreesWithTheOracle) {
  for (const Spice spice : {Spice::none, Spice::specials}) {
    for (const auto& [m, n, k] : {std::tuple{3U, 5U, 64U}, {9U, 33U, 100U}, {40U, 3U, 1100U}}) {
      const auto words = [&](std::size_t count, std::uint32_t which) {
        std::vector<std::uint16_t> result;
        for (const float x : numbers(count, which, 1.0F, spice)) result.push_back(float_to_bf16(x));
        return result;
      };
      const auto a = words(std::size_t{m} * k, 55);
      const auto b = words(std::size_t{n} * k, 56);
      const Words expected = exact::bf16_gemm(a, b, m, n, k);
      with_threads([&, m = m, n = n, k = k] {
        std::vector<float> c(std::size_t{m} * n);
        run_on_cpu(&fp4proof_training::multiply_bf16, {0, m, n, k, a.data(), b.data(), c.data()});
        for (std::size_t i = 0; i < c.size(); ++i) ASSERT_EQ(float_bits(c[i]), expected[i]) << i;
      });
    }
  }
}

}  // namespace
}  // namespace fp4proof
