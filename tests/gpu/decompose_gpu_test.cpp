// decompose() on the device against the portable reference, bit for bit: terms, sums and counts of every profile.

#include "gpu/decompose.h"

#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <tuple>
#include <vector>

#include "formats/spec_profiles.h"
#include "reference/portable/decompose.h"
#include "tests/exhaustive/decomposition_comparison.h"
#include "tests/gpu/device_memory.h"
#include "tests/gpu/random_matrices.h"

namespace fp4proof::gpu {
namespace {

/// Matrices whose lines hold the blocks of random_blocks.h and ties of the ideal quantizer.
struct Matrices {
  MatrixShape shape;
  portable::DType dtype;
  std::vector<std::byte> bytes;
};

Matrices tie_matrices(const Profile& profile, DType dtype, const MatrixShape& shape, std::uint64_t seed) {
  Matrices matrices{shape, portable_dtype(dtype), {}};
  const std::int64_t tiles = (shape.lines() + profile.block.rows - 1) / profile.block.rows;
  const std::int64_t blocks = (shape.length() + profile.block.cols - 1) / profile.block.cols;
  exhaustive::Matrix all{matrices.dtype, shape.batch * shape.rows, shape.columns, {}};
  all.words.resize(static_cast<std::size_t>(shape.elements()));
  for (std::int64_t b = 0; b < shape.batch; ++b) {
    const auto first = static_cast<std::uint64_t>(b * tiles * blocks);
    const exhaustive::Matrix lines = exhaustive::random_matrix(profile, matrices.dtype, seed, first, tiles, blocks,
                                                               blocks * profile.block.cols - shape.length());
    for (std::int64_t line = 0; line < shape.lines(); ++line) {
      for (std::int64_t k = 0; k < shape.length(); ++k) {
        all.words[static_cast<std::size_t>(shape.element(b, line, k))] =
            lines.words[static_cast<std::size_t>(line * shape.length() + k)];
      }
    }
  }
  matrices.bytes = exhaustive::bytes_of_matrix(all);
  return matrices;
}

using Words = std::vector<std::uint64_t>;

struct Answers {
  Words terms;
  Words sums;
  std::vector<std::uint32_t> counts;
};

std::uint64_t word_of(double value) { return std::bit_cast<std::uint64_t>(value); }

/// Each matrix by itself on the CPU. `words` are the random words of the whole input.
Answers expected_answers(const Profile& profile, const Matrices& m, std::span<const std::uint32_t> words) {
  const std::vector<std::int64_t> extents = {m.shape.rows, m.shape.columns};
  const auto elements = static_cast<std::size_t>(m.shape.rows * m.shape.columns);
  portable::QuantizeOptions options;
  options.axis = m.shape.axis;
  options.tail = portable::Tail::pad;
  Answers answers;
  for (std::size_t b = 0; b < static_cast<std::size_t>(m.shape.batch); ++b) {
    const portable::TensorView view{m.dtype, extents,
                                    m.bytes.data() + b * elements * static_cast<std::size_t>(bytes_of(m.dtype))};
    options.random_words = words.subspan(b * elements, elements);
    const auto geometry = portable::cut_into_blocks(profile, extents, m.shape.axis, portable::Tail::pad);
    if (!geometry) throw std::runtime_error(geometry.error().message);
    std::vector<portable::ErrorSplit> rows(static_cast<std::size_t>(geometry->rows));
    std::vector<portable::ErrorTerms> terms(elements);
    const auto done =
        portable::decompose_rows(profile, view, *geometry, options, portable::tensor_scale_of(profile, view), 0,
                                 geometry->rows, {}, {.rows = rows, .elements = terms});
    if (!done) throw std::runtime_error(done.error().message);
    for (const portable::ErrorTerms& t : terms) {
      for (const double term : {t.scale, t.deadzone, t.grid}) answers.terms.push_back(word_of(term));
    }
    for (const portable::ErrorSplit& row : rows) {
      for (const std::uint64_t word : exhaustive::sum_words(row)) answers.sums.push_back(word);
      for (const std::int64_t count : {row.excluded, row.in_deadzone, row.zeroed, row.inexact}) {
        answers.counts.push_back(static_cast<std::uint32_t>(count));
      }
    }
  }
  return answers;
}

Words words_of(const std::vector<double>& values) {
  Words words;
  for (const double value : values) words.push_back(word_of(value));
  return words;
}

Answers device_answers(const Profile& profile, DType dtype, const Matrices& m, const RandomSource& random) {
  const DeviceArray<std::byte> input{std::span(m.bytes)};
  const DecomposeJob job{profile, dtype, m.shape, input.get(), random};
  const auto lines = static_cast<std::size_t>(m.shape.batch * m.shape.lines());
  const DeviceArray<double> terms(static_cast<std::size_t>(m.shape.elements()) * 3);
  const DeviceArray<double> sums(lines * 8);
  const DeviceArray<std::uint32_t> counts(lines * 4);
  const DeviceArray<std::byte> workspace(decompose_workspace(job));
  const Status status = decompose(job, {terms.get(), sums.get(), counts.get()}, workspace.get(), workspace.bytes(), {});
  if (status != Status::ok) throw std::runtime_error(status_text(status));
  Answers answers{words_of(terms.values()), words_of(sums.values()), counts.values()};
  EXPECT_TRUE(terms.margin_is_whole() && sums.margin_is_whole() && counts.margin_is_whole() &&
              workspace.margin_is_whole() && input.margin_is_whole());
  return answers;
}

template <class Word>
void expect_equal(const std::vector<Word>& actual, const std::vector<Word>& expected, const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  std::size_t different = 0;
  std::size_t first = 0;
  for (std::size_t i = actual.size(); i-- > 0;) {
    if (actual[i] == expected[i]) continue;
    ++different;
    first = i;
  }
  EXPECT_EQ(different, 0U) << what << ": first at " << first << ", " << std::hex << actual[first] << " in place of "
                           << expected[first];
}

void expect_equal(const Answers& actual, const Answers& expected) {
  expect_equal(actual.terms, expected.terms, "terms");
  expect_equal(actual.sums, expected.sums, "sums");
  expect_equal(actual.counts, expected.counts, "counts");
}

class DecomposeOnDevice : public testing::TestWithParam<std::tuple<std::size_t, DType, int>> {
 protected:
  void SetUp() override {
    if (!has_device()) GTEST_SKIP() << "no CUDA device";
  }
};

TEST_P(DecomposeOnDevice, GivesTheBitsOfTheReference) {
  const auto [index, dtype, axis] = GetParam();
  const Profile& profile = profiles()[index];
  // Lines and lengths: many segments and an odd rest; odd both ways; a single element; whole blocks, whole tiles.
  constexpr std::int64_t shapes[][3] = {{1, 3, 2 * 4096 + 101}, {3, 67, 133}, {2, 1, 1}, {1, 64, 192}, {2, 129, 64}};
  std::uint64_t seed = 17 * index;
  for (const auto& [batch, lines, length] : shapes) {
    const MatrixShape shape{batch, axis == 1 ? lines : length, axis == 1 ? length : lines, axis};
    SCOPED_TRACE(testing::Message() << batch << " x " << shape.rows << " x " << shape.columns);
    const Matrices m = tie_matrices(profile, dtype, shape, ++seed);
    RandomSource random{seed, Stream::sr_gradient, 7, nullptr};
    const std::vector<std::uint32_t> drawn = philox_words(random, shape.elements());
    const Answers expected = expected_answers(profile, m, drawn);
    expect_equal(device_answers(profile, dtype, m, random), expected);
    if (profile.rounding != Rounding::stochastic) continue;
    const DeviceArray<std::uint32_t> given{std::span(drawn)};
    random = {0, Stream::sr_activation, 0, given.get()};
    expect_equal(device_answers(profile, dtype, m, random), expected);
  }
}

std::string name_of_case(const testing::TestParamInfo<std::tuple<std::size_t, DType, int>>& info) {
  const auto [index, dtype, axis] = info.param;
  std::string name = std::string(profiles()[index].name) + "_" + name_of_dtype(dtype) + "_axis" + std::to_string(axis);
  for (char& c : name)
    if (c == '/' || c == '-') c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(AllProfiles, DecomposeOnDevice,
                         testing::Combine(testing::Range(std::size_t{0}, profiles().size()),
                                          testing::Values(DType::f32, DType::f16, DType::bf16), testing::Values(0, 1)),
                         name_of_case);

TEST(DecomposeRequests, AreCheckedBeforeAnythingIsLaunched) {
  DecomposeJob job{*find_profile("mxfp4/ocp"), DType::bf16, {1, 4, 64, 1}, nullptr, {}};
  const std::size_t bytes = decompose_workspace(job);
  std::byte nothing{};
  EXPECT_GT(bytes, 0U);
  EXPECT_EQ(decompose(job, {}, &nothing, bytes - 1, {}), Status::small_workspace);
  EXPECT_EQ(decompose(job, {}, &nothing, bytes, {}), Status::invalid);  // no input
  EXPECT_EQ(decompose(job, {}, nullptr, bytes, {}), Status::invalid);   // no workspace
  job.shape.axis = 2;
  EXPECT_EQ(decompose(job, {}, &nothing, bytes, {}), Status::invalid);
  job.shape.axis = 1;
  job.profile.block = {1, 24};
  EXPECT_EQ(decompose(job, {}, &nothing, bytes, {}), Status::unsupported);
}

TEST(DecomposeOutputs, MayBeLeftOut) {
  if (!has_device()) GTEST_SKIP() << "no CUDA device";
  const Profile& profile = *find_profile("hif4/gcc");
  const Matrices m = tie_matrices(profile, DType::bf16, {2, 5, 4200, 1}, 3);
  const Answers expected = expected_answers(profile, m, philox_words({}, m.shape.elements()));
  const DeviceArray<std::byte> input{std::span(m.bytes)};
  const DecomposeJob job{profile, DType::bf16, m.shape, input.get(), {}};
  const DeviceArray<double> sums(80);
  const DeviceArray<std::uint32_t> counts(40);
  const DeviceArray<std::byte> workspace(decompose_workspace(job));
  ASSERT_EQ(decompose(job, {nullptr, sums.get(), nullptr}, workspace.get(), workspace.bytes(), {}), Status::ok);
  ASSERT_EQ(decompose(job, {nullptr, nullptr, counts.get()}, workspace.get(), workspace.bytes(), {}), Status::ok);
  expect_equal(words_of(sums.values()), expected.sums, "sums");
  expect_equal(counts.values(), expected.counts, "counts");
}

}  // namespace
}  // namespace fp4proof::gpu
