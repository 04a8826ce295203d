// Every operator of the CPU reference but the products against scalar loops over the rules of docs/rules-training.md.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/portable/training/row_sum.h"
#include "tests/training/naive_operators.h"
#include "tests/training/operator_inputs.h"

namespace fp4proof {
namespace {

using testing::expect_same_bits;
using testing::indices_below;
using testing::matrix;
using testing::numbers;
using testing::run_on_cpu;
using testing::Spice;
using testing::with_threads;
using naive_floats = testing::naive::Floats;
namespace naive = testing::naive;

std::int64_t wide(std::size_t n) { return static_cast<std::int64_t>(n); }

// ---------------------------------------------------------------------------------------------------------------------
// Sums
// ---------------------------------------------------------------------------------------------------------------------

float row_sum(const std::vector<float>& x) { return portable::training::row_sum(x.data(), wide(x.size())); }

TEST(RowSum, LanesThenFolds) {
  // Lane 0: 2^24 + 1 = 2^24, a tie to even. Lane 16: 1 + 1 = 2. Their sum is 2^24 + 2; in order of the elements every 1
  // would be lost, and the exact sum rounds to 2^24 + 4.
  std::vector<float> x(64, 0.0F);
  x[0] = 0x1p24F;
  x[32] = x[16] = x[48] = 1.0F;
  EXPECT_EQ(row_sum(x), 0x1p24F + 2.0F);
}

TEST(RowSum, FoldsHalveTheLanes) {
  // Lanes 1 and 3 meet before either meets lane 0 or 2: 1 + 1 = 2 is not lost on 2^24.
  std::vector<float> x(32, 0.0F);
  x[0] = 0x1p24F;
  x[1] = x[3] = 1.0F;
  EXPECT_EQ(row_sum(x), 0x1p24F + 2.0F);
  // Lanes 2 and 0 meet first: the 1 of lane 2 is lost, then that of lane 1.
  std::fill(x.begin(), x.end(), 0.0F);
  x[0] = 0x1p24F;
  x[1] = x[2] = 1.0F;
  EXPECT_EQ(row_sum(x), 0x1p24F);
}

TEST(RowSum, SegmentsAddUpInOrder) {
  std::vector<float> x(4096 + 33, 0.0F);
  x[0] = 0x1p24F;
  x[32] = 1.0F;              // lost in lane 0 of the first segment
  x[4096] = x[4128] = 1.0F;  // 2 in lane 0 of the second
  EXPECT_EQ(row_sum(x), 0x1p24F + 2.0F);
}

TEST(RowSum, EmptyRowsAndZeros) {
  EXPECT_EQ(float_bits(row_sum({})), 0U);
  EXPECT_EQ(float_bits(row_sum({-0.0F})), 0U);
  EXPECT_EQ(float_bits(row_sum(std::vector<float>(100, -0.0F))), 0U);
}

TEST(RowSum, AgreesForEveryLength) {
  for (std::size_t n = 0; n < 140; ++n) {
    const std::vector<float> x = numbers(n, 1, 1000.0F);
    EXPECT_EQ(float_bits(row_sum(x)), float_bits(naive::row_sum(x))) << n;
  }
  for (const std::size_t n : {4095U, 4096U, 4097U, 4111U, 4112U, 4129U, 8191U, 12300U}) {
    const std::vector<float> x = numbers(n, 2, 1000.0F);
    EXPECT_EQ(float_bits(row_sum(x)), float_bits(naive::row_sum(x))) << n;
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Rows
// ---------------------------------------------------------------------------------------------------------------------

struct Shape {
  std::size_t rows;
  std::size_t columns;
};
constexpr Spice spices[] = {Spice::none, Spice::specials};
constexpr Shape shapes[] = {{1, 1}, {3, 7}, {5, 64}, {33, 31}, {700, 100}, {4200, 33}};

std::string text_of(const Shape& shape) { return std::to_string(shape.rows) + "x" + std::to_string(shape.columns); }

TEST(CpuOperators, Embed) {
  for (const Spice spice : spices) {
    for (const Shape& shape : shapes) {
      const std::size_t rows = shape.rows;
      const std::size_t columns = shape.columns;
      const auto tokens = indices_below(rows, 32, 1);
      const auto positions = indices_below(rows, 10, 2);
      const auto token_table = matrix(32, columns, 3, spice);
      const auto position_table = matrix(10, columns, 4, spice);
      const auto dy = matrix(rows, columns, 5, spice);
      const naive_floats expected = naive::embed(rows, columns, tokens, positions, token_table, position_table);
      const naive_floats expected_gradient = naive::embed_backward(rows, columns, 32, tokens, dy);
      with_threads([&] {
        std::vector<float> y(rows * columns);
        run_on_cpu(&fp4proof_training::embed, {0, wide(rows), wide(columns), tokens.data(), positions.data(),
                                               token_table.data(), position_table.data(), y.data()});
        expect_same_bits(y, expected, text_of(shape));
        std::vector<float> gradient(32 * columns, 5.0F);
        run_on_cpu(&fp4proof_training::embed_backward,
                   {0, wide(rows), wide(columns), 32, tokens.data(), dy.data(), gradient.data()});
        expect_same_bits(gradient, expected_gradient, text_of(shape));
      });
    }
  }
}

TEST(CpuOperators, EmbedBackwardAddsInRowOrder) {
  const std::vector<std::int32_t> indices = {1, 1, 0, 1, 1};
  const std::vector<float> dy = {1.0F, 0x1p24F, 3.0F, 1.0F, 1.0F};  // each later 1 is lost on its own
  std::vector<float> gradient(3);
  run_on_cpu(&fp4proof_training::embed_backward, {0, 5, 1, 3, indices.data(), dy.data(), gradient.data()});
  EXPECT_EQ(gradient, (std::vector<float>{3.0F, 0x1p24F, 0.0F}));
}

TEST(CpuOperators, RmsNorm) {
  for (const Spice spice : spices) {
    for (const Shape& shape : shapes) {
      const std::size_t rows = shape.rows;
      const std::size_t columns = shape.columns;
      auto x = matrix(rows, columns, 6, spice);
      for (std::size_t i = 0; i < columns; ++i) x[i] *= 0.003F;  // a row where epsilon counts
      const auto dy = matrix(rows, columns, 7, spice);
      const auto weight = numbers(columns, 8);
      for (const bool with_gain : {false, true}) {
        const auto gain = numbers(with_gain ? columns : 0, 9, 4.0F);
        const float* gain_data = with_gain ? gain.data() : nullptr;
        const auto expected = naive::rms_norm(rows, columns, x, weight, gain);
        const auto gradients = naive::rms_norm_backward(rows, columns, x, weight, gain, expected.inverse, dy);
        with_threads([&] {
          std::vector<float> y(rows * columns);
          std::vector<float> inverse(rows);
          run_on_cpu(&fp4proof_training::rms_norm,
                     {0, wide(rows), wide(columns), x.data(), weight.data(), gain_data, y.data(), inverse.data()});
          expect_same_bits(y, expected.y, "y of " + text_of(shape));
          expect_same_bits(inverse, expected.inverse, "inverse of " + text_of(shape));
          std::vector<float> dx = dy;  // in place
          std::vector<float> weight_gradient(columns);
          run_on_cpu(&fp4proof_training::rms_norm_backward,
                     {0, wide(rows), wide(columns), x.data(), weight.data(), gain_data, inverse.data(), dx.data(),
                      dx.data(), weight_gradient.data()});
          expect_same_bits(dx, gradients.dx, "dx of " + text_of(shape));
          expect_same_bits(weight_gradient, gradients.weight, "weight gradient of " + text_of(shape));
        });
      }
    }
  }
}

TEST(CpuOperators, WeightGradientAddsByLanesOfRows) {
  // x inverse = 1, so the gradient is the column sum of dy: the sums of RowSum, down the rows.
  constexpr std::size_t rows = 4096 + 33;
  std::vector<float> dy(2 * rows, 0.0F);
  dy[0] = 0x1p24F;
  dy[2 * 32] = dy[2 * 16] = dy[2 * 48] = 1.0F;
  dy[1] = 0x1p24F;
  dy[2 * 32 + 1] = dy[2 * 4096 + 1] = dy[2 * 4128 + 1] = 1.0F;
  const std::vector<float> ones(2 * rows, 1.0F);
  std::vector<float> dx(2 * rows);
  std::vector<float> gradient(2);
  run_on_cpu(&fp4proof_training::rms_norm_backward,
             {0, wide(rows), 2, ones.data(), ones.data(), nullptr, ones.data(), dy.data(), dx.data(), gradient.data()});
  EXPECT_EQ(gradient, (std::vector<float>{0x1p24F + 2.0F, 0x1p24F + 2.0F}));
}

TEST(CpuOperators, ElementByElement) {
  for (const std::size_t count : {1U, 15U, 1000U, 100003U}) {
    const auto a = numbers(count, 10, 30.0F, Spice::specials);
    const auto b = numbers(count, 11, 1.0F, Spice::specials);
    const auto dy = numbers(count, 12, 1.0F, Spice::specials);
    const auto sum = naive::list(count, [&](std::size_t i) { return naive::canonical(a[i] + b[i]); });
    const auto gated = naive::list(count, [&](std::size_t i) { return naive::canonical(strict::silu(a[i]) * b[i]); });
    const auto gradients = naive::swiglu_backward(a, b, dy);
    with_threads([&] {
      std::vector<float> y = a;  // in place
      run_on_cpu(&fp4proof_training::add, {0, wide(count), y.data(), b.data(), y.data()});
      expect_same_bits(y, sum, "add");
      run_on_cpu(&fp4proof_training::swiglu, {0, wide(count), a.data(), b.data(), y.data()});
      expect_same_bits(y, gated, "swiglu");
      std::vector<float> d_gate(count);
      std::vector<float> d_up(count);
      run_on_cpu(&fp4proof_training::swiglu_backward,
                 {0, wide(count), a.data(), b.data(), dy.data(), d_gate.data(), d_up.data()});
      expect_same_bits(d_gate, gradients.gate, "d_gate");
      expect_same_bits(d_up, gradients.up, "d_up");
    });
  }
}

TEST(CpuOperators, CopyAndGatherRows) {
  constexpr std::size_t rows = 3000;
  constexpr std::size_t width = 37;
  const auto x = numbers(rows * width, 13, 1.0F, Spice::specials);
  auto indices = indices_below(rows, rows, 14);
  for (std::size_t r = 0; r < rows; r += 7) indices[r] = -1;
  const auto weights = numbers(rows, 15, 1.0F, Spice::specials);
  with_threads([&] {
    std::vector<float> copied(rows * 50, 1.0F);
    run_on_cpu(&fp4proof_training::copy_rows, {0, wide(rows), 20, width, 50, x.data() + 3, copied.data() + 5});
    const auto expected_copy = naive::list(rows * 50, [&](std::size_t i) {
      const std::size_t c = i % 50;
      return c >= 5 && c < 25 ? x[i / 50 * width + c - 5 + 3] : 1.0F;
    });
    expect_same_bits(copied, expected_copy, "copy_rows");
    for (const bool weighted : {false, true}) {
      std::vector<float> y(rows * width);
      run_on_cpu(&fp4proof_training::gather_rows,
                 {0, wide(rows), width, indices.data(), weighted ? weights.data() : nullptr, x.data(), y.data()});
      const auto expected = naive::list(rows * width, [&](std::size_t i) {
        if (indices[i / width] < 0) return 0.0F;
        const float value = x[static_cast<std::size_t>(indices[i / width]) * width + i % width];
        return weighted ? naive::canonical(weights[i / width] * value) : value;
      });
      expect_same_bits(y, expected, "gather_rows");
    }
  });
}

// ---------------------------------------------------------------------------------------------------------------------
// Attention
// ---------------------------------------------------------------------------------------------------------------------

TEST(CpuOperators, Attention) {
  for (const Spice spice : spices) {
    for (const naive::AttentionShape& s : {naive::AttentionShape{1, 1, 1, 0, 1, 1},
                                           {3, 10, 10, 0, 2, 32},
                                           {40, 9, 12, 2, 3, 24},
                                           {300, 1, 11, 8, 2, 64},
                                           {2, 47, 47, 0, 1, 70}}) {
      const auto q = matrix(s.sequences * s.queries * s.heads, s.head_size, 16, spice);
      const auto k = matrix(s.sequences * s.capacity * s.heads, s.head_size, 17, spice);
      const auto v = matrix(s.sequences * s.capacity * s.heads, s.head_size, 18, spice);
      const auto expected = naive::attention(s, q, k, v);
      with_threads([&] {
        for (const bool keep : {false, true}) {
          std::vector<float> out(q.size());
          std::vector<float> probabilities(expected.probabilities.size(), 9.0F);
          run_on_cpu(
              &fp4proof_training::attention,
              {0, wide(s.sequences), wide(s.queries), wide(s.capacity), wide(s.first_position), wide(s.heads),
               wide(s.head_size), q.data(), k.data(), v.data(), out.data(), keep ? probabilities.data() : nullptr});
          expect_same_bits(out, expected.out, "out");
          if (keep) expect_same_bits(probabilities, expected.probabilities, "probabilities");
        }
      });
    }
  }
}

TEST(CpuOperators, OneQueryAgainstManyIsARowOfAll) {
  constexpr std::size_t length = 10;
  constexpr std::size_t columns = 64;
  constexpr std::size_t sequences = 5;
  const auto q = numbers(sequences * length * columns, 19);
  const auto k = numbers(sequences * length * columns, 20);
  const auto v = numbers(sequences * length * columns, 21);
  std::vector<float> all(q.size());
  run_on_cpu(&fp4proof_training::attention,
             {0, sequences, length, length, 0, 2, 32, q.data(), k.data(), v.data(), all.data(), nullptr});
  for (std::size_t i = 0; i < length; ++i) {
    std::vector<float> query;
    std::vector<float> expected;
    for (std::size_t s = 0; s < sequences; ++s) {
      const auto at = static_cast<std::ptrdiff_t>((s * length + i) * columns);
      query.insert(query.end(), q.begin() + at, q.begin() + at + columns);
      expected.insert(expected.end(), all.begin() + at, all.begin() + at + columns);
    }
    std::vector<float> out(query.size());
    run_on_cpu(&fp4proof_training::attention,
               {0, sequences, 1, length, wide(i), 2, 32, query.data(), k.data(), v.data(), out.data(), nullptr});
    expect_same_bits(out, expected, "query " + std::to_string(i));
  }
}

TEST(CpuOperators, AttentionBackward) {
  for (const Spice spice : spices) {
    for (const naive::AttentionShape& s : {naive::AttentionShape{1, 1, 1, 0, 1, 1},
                                           {30, 10, 10, 0, 2, 32},
                                           {7, 9, 9, 0, 3, 24},
                                           {2, 47, 47, 0, 1, 70}}) {
      const std::size_t rows = s.sequences * s.queries * s.heads;
      const auto q = matrix(rows, s.head_size, 22, spice);
      const auto k = numbers(rows * s.head_size, 23);
      const auto v = numbers(rows * s.head_size, 24);
      const auto d_out = matrix(rows, s.head_size, 25, spice);
      const auto p = naive::attention(s, numbers(rows * s.head_size, 26), k, v).probabilities;
      const auto expected = naive::attention_backward(s, q, k, v, p, d_out);
      with_threads([&] {
        std::vector<float> dq(q.size(), 1.0F);
        std::vector<float> dk(q.size(), 1.0F);
        std::vector<float> dv(q.size(), 1.0F);
        run_on_cpu(&fp4proof_training::attention_backward,
                   {0, wide(s.sequences), wide(s.queries), wide(s.heads), wide(s.head_size), q.data(), k.data(),
                    v.data(), p.data(), d_out.data(), dq.data(), dk.data(), dv.data()});
        expect_same_bits(dq, expected.dq, "dq");
        expect_same_bits(dk, expected.dk, "dk");
        expect_same_bits(dv, expected.dv, "dv");
      });
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Tokens
// ---------------------------------------------------------------------------------------------------------------------

std::vector<float> row_of(const std::vector<float>& matrix, std::size_t row, std::size_t columns) {
  const auto first = matrix.begin() + static_cast<std::ptrdiff_t>(row * columns);
  return {first, first + static_cast<std::ptrdiff_t>(columns)};
}

TEST(CpuOperators, LogSoftmax) {
  for (const Spice spice : spices) {
    for (const Shape& shape : shapes) {
      const std::size_t rows = shape.rows;
      const std::size_t vocabulary = shape.columns;
      const auto logits = matrix(rows, vocabulary, 27, spice);
      const auto targets = indices_below(rows, static_cast<std::uint32_t>(vocabulary), 28);
      auto weights = numbers(rows, 29);
      for (std::size_t r = 0; r < rows; r += 4) weights[r] = r % 8 == 0 ? 0.0F : -0.0F;
      naive_floats expected_log_probability;
      naive_floats expected_entropy;
      naive_floats expected_gradient;
      std::vector<std::int32_t> expected_largest;
      for (std::size_t r = 0; r < rows; ++r) {
        const auto z = row_of(logits, r, vocabulary);
        const auto target = static_cast<std::size_t>(targets[r]);
        expected_log_probability.push_back(naive::log_probability(z, target));
        expected_entropy.push_back(naive::entropy(z));
        expected_largest.push_back(static_cast<std::int32_t>(naive::softmax_of(z).largest));
        const auto gradient = naive::log_softmax_backward(z, target, weights[r]);
        expected_gradient.insert(expected_gradient.end(), gradient.begin(), gradient.end());
      }
      with_threads([&] {
        std::vector<float> log_probability(rows);
        std::vector<float> entropy(rows);
        std::vector<std::int32_t> largest(rows);
        run_on_cpu(&fp4proof_training::log_softmax, {0, wide(rows), wide(vocabulary), logits.data(), targets.data(),
                                                     log_probability.data(), entropy.data(), largest.data()});
        expect_same_bits(log_probability, expected_log_probability, "log-probability");
        expect_same_bits(entropy, expected_entropy, "entropy");
        EXPECT_EQ(largest, expected_largest);
        std::vector<std::int32_t> largest_alone(rows);
        run_on_cpu(&fp4proof_training::log_softmax,
                   {0, wide(rows), wide(vocabulary), logits.data(), nullptr, nullptr, nullptr, largest_alone.data()});
        EXPECT_EQ(largest_alone, expected_largest);
        std::vector<float> gradient(rows * vocabulary, 3.0F);
        run_on_cpu(&fp4proof_training::log_softmax_backward,
                   {0, wide(rows), wide(vocabulary), logits.data(), targets.data(), weights.data(), gradient.data()});
        expect_same_bits(gradient, expected_gradient, "gradient");
      });
    }
  }
}

TEST(CpuOperators, LargestIsTheLowestIndexAmongEquals) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> logits = {1, 3, 3, 2, -infinity, -infinity, -infinity, -infinity, NAN, 1, NAN, 1};
  std::vector<std::int32_t> largest(3);
  run_on_cpu(&fp4proof_training::log_softmax, {0, 3, 4, logits.data(), nullptr, nullptr, nullptr, largest.data()});
  EXPECT_EQ(largest, (std::vector<std::int32_t>{1, 0, 1}));
}

TEST(CpuOperators, Sample) {
  for (const Spice spice : spices) {
    for (const Shape& shape : shapes) {
      const std::size_t rows = shape.rows;
      const std::size_t vocabulary = shape.columns;
      const auto logits = matrix(rows, vocabulary, 30, spice);
      constexpr std::uint64_t first = (1ULL << 40) + 5;
      std::vector<std::int32_t> expected;
      for (std::size_t r = 0; r < rows; ++r) {
        const float uniform = random_uniform(11, Stream::sample, 12, first + r);
        expected.push_back(static_cast<std::int32_t>(naive::sample(row_of(logits, r, vocabulary), uniform)));
      }
      with_threads([&] {
        std::vector<std::int32_t> tokens(rows);
        run_on_cpu(&fp4proof_training::sample, {0,
                                                wide(rows),
                                                wide(vocabulary),
                                                {11, static_cast<std::uint32_t>(Stream::sample), 12, first},
                                                logits.data(),
                                                tokens.data()});
        EXPECT_EQ(tokens, expected) << text_of(shape);
      });
    }
  }
}

TEST(CpuOperators, SampleGoesBeyondTheThreshold) {
  constexpr std::uint64_t half = 12559801;  // the uniform number of this element is 1/2
  ASSERT_EQ(random_uniform(11, Stream::sample, 12, half), 0.5F);
  const std::vector<float> logits = {3.0F, 3.0F};  // c = 1, 2; the threshold is 1, which c_0 does not exceed
  std::int32_t token = -1;
  run_on_cpu(&fp4proof_training::sample,
             {0, 1, 2, {11, static_cast<std::uint32_t>(Stream::sample), 12, half}, logits.data(), &token});
  EXPECT_EQ(token, 1);
}

TEST(CpuOperators, SampleFollowsTheDistribution) {
  constexpr std::size_t rows = 40000;
  const std::vector<float> row = {std::log(1.0F), std::log(2.0F), -std::numeric_limits<float>::infinity(),
                                  std::log(5.0F)};
  std::vector<float> logits;
  for (std::size_t r = 0; r < rows; ++r) logits.insert(logits.end(), row.begin(), row.end());
  std::vector<std::int32_t> tokens(rows);
  run_on_cpu(&fp4proof_training::sample,
             {0, rows, 4, {1, static_cast<std::uint32_t>(Stream::sample), 0, 0}, logits.data(), tokens.data()});
  const double expected[] = {1.0 / 8, 2.0 / 8, 0.0, 5.0 / 8};
  for (std::int32_t v = 0; v < 4; ++v) {
    const double share = static_cast<double>(std::count(tokens.begin(), tokens.end(), v)) / rows;
    EXPECT_NEAR(share, expected[v], v == 2 ? 0.0 : 0.012) << v;  // five standard deviations
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Weights
// ---------------------------------------------------------------------------------------------------------------------

TEST(CpuOperators, SumSquares) {
  for (const std::size_t count : {0U, 1U, 31U, 4096U, 4097U, 300001U}) {
    const auto x = numbers(count, 31, 1e10F);
    const double expected =
        naive::row_sum(naive::list(count, [&](std::size_t i) { return double{x[i]} * double{x[i]}; }));
    with_threads([&] {
      double sum = -1.0;
      run_on_cpu(&fp4proof_training::sum_squares, {0, wide(count), x.data(), &sum});
      EXPECT_EQ(sum, expected) << count;
    });
  }
}

TEST(CpuOperators, SumSquaresLosesWhatItsLanesLose) {
  std::vector<float> x(64, 0.0F);
  x[0] = 0x1p27F;  // its square is 2^54: a 1 in the same lane is lost, the 2 of lane 16 is halfway and goes to even
  x[32] = 1.0F;
  x[16] = x[48] = x[17] = 1.0F;  // lane 16: 2; lane 17 folds into lane 1 and arrives later as 1
  double sum = 0.0;
  run_on_cpu(&fp4proof_training::sum_squares, {0, 64, x.data(), &sum});
  EXPECT_EQ(sum, 0x1p54);
  x[16] = 2.0F;                  // lane 16: 4 + 1 = 5, which 2^54 takes as 4
  x[49] = x[18] = x[50] = 1.0F;  // lanes 17 and 18: 2
  run_on_cpu(&fp4proof_training::sum_squares, {0, 64, x.data(), &sum});
  // Lane 2 folds into lane 0 before lane 1 does: 2^54 + 4 + 2 is a tie that goes up to + 8, + 8 + 2 one that goes down.
  EXPECT_EQ(sum, 0x1p54 + 8.0);
}

TEST(CpuOperators, Adam) {
  for (const std::size_t count : {1U, 17U, 50001U}) {
    const auto gradient = numbers(count, 32, 1.0F, Spice::specials);
    const auto m0 = numbers(count, 33, 0.1F, Spice::specials);
    auto v0 = numbers(count, 34, 0.1F, Spice::specials);
    for (std::size_t i = 0; i < count; i += 2) v0[i] = std::fabs(v0[i]);
    const auto w0 = numbers(count, 35, 1.0F, Spice::specials);
    const float rate = 1e-3F;
    const float b1 = 0.9F;
    const float b2 = 0.95F;
    const float epsilon = 1e-8F;
    const float c1 = 0.19F;
    const float c2 = 0.0975F;
    const float scale = 0.37F;
    naive_floats m1;
    naive_floats v1;
    naive_floats w1;
    for (std::size_t i = 0; i < count; ++i) {
      const float g = gradient[i] * scale;
      const float kept_m = b1 * m0[i];
      const float new_m = (1.0F - b1) * g;
      m1.push_back(naive::canonical(kept_m + new_m));
      const float kept_v = b2 * v0[i];
      const float square = g * g;
      const float new_v = (1.0F - b2) * square;
      v1.push_back(naive::canonical(kept_v + new_v));
      const float step = m1[i] / c1;
      const float scaled = rate * step;
      const float root = strict::sqrt(v1[i] / c2);
      const float divisor = root + epsilon;
      const float change = scaled / divisor;
      w1.push_back(naive::canonical(w0[i] - change));
    }
    with_threads([&] {
      std::vector<float> m = m0;
      std::vector<float> v = v0;
      std::vector<float> w = w0;
      run_on_cpu(&fp4proof_training::adam, {0, wide(count), rate, b1, b2, epsilon, c1, c2, scale, 0.0F, gradient.data(),
                                            m.data(), v.data(), w.data()});
      expect_same_bits(m, m1, "first moment");
      expect_same_bits(v, v1, "second moment");
      expect_same_bits(w, w1, "weight");
    });
  }
}

TEST(CpuOperators, AddNoise) {
  constexpr std::size_t count = 3001;
  const auto weight = numbers(count, 36, 1.0F, Spice::specials);
  constexpr std::uint64_t first = 3ULL << 32;
  const fp4proof_random random = {21, static_cast<std::uint32_t>(Stream::aqn), 22, first};
  const auto expected = naive::list(count, [&](std::size_t i) {
    const float noise = 0.25F * random_normal(21, Stream::aqn, 22, first + i);
    return naive::canonical(weight[i] + noise);
  });
  with_threads([&] {
    std::vector<float> y(count);
    run_on_cpu(&fp4proof_training::add_noise, {0, count, random, 0.25F, 0.0F, weight.data(), y.data()});
    expect_same_bits(y, expected, "noise");
    run_on_cpu(&fp4proof_training::add_noise, {0, count, random, 0.0F, 0.0F, weight.data(), y.data()});
    expect_same_bits(y, weight, "sigma 0");
  });
}

TEST(CpuOperators, Digest) {
  // The finalizer of splitmix64 of 0 is 0; of 1 and of 2^32 + 2 by hand in Python.
  const std::uint32_t one_word[] = {1};
  std::uint64_t sum = 5;
  run_on_cpu(&fp4proof_training::digest, {0, 1, one_word, &sum});
  EXPECT_EQ(sum, 0x5692161D100B05E5U);
  const std::uint32_t two_words[] = {0, 2};
  run_on_cpu(&fp4proof_training::digest, {0, 2, two_words, &sum});
  EXPECT_EQ(sum, 0xF2C6924E7DFED23EU);
  const std::vector<float> words = numbers(300000, 37);
  std::uint64_t expected = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::uint64_t z = (std::uint64_t{i} << 32) + float_bits(words[i]);
    z ^= z >> 30;
    z *= 0xBF58476D1CE4E5B9U;
    z ^= z >> 27;
    z *= 0x94D049BB133111EBU;
    z ^= z >> 31;
    expected += z;
  }
  with_threads([&] {
    run_on_cpu(&fp4proof_training::digest, {0, wide(words.size()), words.data(), &sum});
    EXPECT_EQ(sum, expected);
  });
}

// ---------------------------------------------------------------------------------------------------------------------
// The table
// ---------------------------------------------------------------------------------------------------------------------

TEST(CpuTable, MemoryIsZeroAndAligned) {
  const fp4proof_training& table = *training::reference_training();
  for (const std::size_t bytes : {1U, 63U, 65U, 100000U}) {
    auto* memory = static_cast<std::uint8_t*>(table.allocate(bytes));
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 64, 0U);
    EXPECT_TRUE(std::all_of(memory, memory + bytes, [](std::uint8_t byte) { return byte == 0; }));
    table.release(memory);
  }
  EXPECT_EQ(table.allocate(std::numeric_limits<std::size_t>::max()), nullptr);
}

TEST(CpuTable, RefusesWithAReason) {
  const fp4proof_training& table = *training::reference_training();
  fp4proof_quantize_call quantize{};
  quantize.size = sizeof quantize;
  quantize.profile = "mxfp5";
  quantize.stack = "none";
  EXPECT_EQ(table.quantize(&quantize), FP4PROOF_INVALID);
  EXPECT_NE(std::string(table.error()).find("mxfp5"), std::string::npos);
  quantize.profile = "mxfp4/rceil";
  quantize.stack = "nothing";
  EXPECT_EQ(table.quantize(&quantize), FP4PROOF_INVALID);
  EXPECT_NE(std::string(table.error()).find("nothing"), std::string::npos);
  fp4proof_add_call add{};
  EXPECT_EQ(table.add(&add), FP4PROOF_INVALID);
}

}  // namespace
}  // namespace fp4proof
