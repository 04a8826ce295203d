// Named distributions: known bits, the same bits on any number of threads, shape of the distribution, names.

#include "conformance/study/distributions.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace fp4proof {
namespace {

struct Known {
  const char* name;
  std::array<std::uint16_t, 16> words;
};

/// A 2 x 8 matrix, seed 0x123456789abcdef0, step 3. Evaluated independently: Philox and the formulas of docs/study.md
/// written in Python with its own log, exp, sin and cos.
constexpr auto known_words = std::to_array<Known>({
    {"gaussian",
     {0xBFA9, 0x3E81, 0xBF43, 0xBFD3, 0x3E2A, 0x3F4F, 0xBEE9, 0x3FFF, 0x3F17, 0x3FB4, 0xC026, 0x3FC1, 0xBF35, 0xBFDB,
      0xBF89, 0x3DC1}},
    {"student-t4",
     {0xBFA7, 0x3E03, 0x3EB8, 0xBF60, 0xC010, 0xBF07, 0x3F31, 0x4000, 0x3F8C, 0x3DDE, 0xBEB7, 0x3EE4, 0x3EB6, 0x4088,
      0x3E79, 0x3FE9}},
    {"student-t8",
     {0xBFAB, 0x3EDD, 0xC03A, 0x3F13, 0x3F86, 0xBEBF, 0x3EC0, 0x3DF4, 0x3FBF, 0x3F3D, 0xBE8C, 0x3F65, 0xBE8B, 0x3F5A,
      0xC05B, 0x3E72}},
    {"laplace",
     {0xBF67, 0xBF41, 0x3FD3, 0xBEC5, 0x3EAF, 0x3FC3, 0x4006, 0xBFA0, 0xBF94, 0xBFD7, 0xC090, 0x3F60, 0xBFDA, 0xBEC0,
      0x3F14, 0xBF39}},
    {"uniform",
     {0xBE40, 0xBD76, 0xBF1E, 0x3EB9, 0x3ED8, 0xBF10, 0xBF40, 0xBEDB, 0xBEBF, 0xBF20, 0xBF7A, 0xBE2C, 0xBF23, 0x3EC0,
      0x3DFC, 0xBCE5}},
    {"lognormal:log-sigma=2",
     {0x3D93, 0x3FB2, 0x4050, 0xBE79, 0xBBB7, 0xBF14, 0x4040, 0x4299, 0x40DB, 0xBFB1, 0x3ECD, 0x40A6, 0xBFF7, 0xC12C,
      0xBFA2, 0xC13A}},
    {"outlier-channels:scale=0.5,gain=12,period=4",
     {0xC0FD, 0x3E01, 0xBEC3, 0xBF53, 0x3F7F, 0x3ECF, 0xBE69, 0x3F7F, 0x4062, 0x3F34, 0xBFA6, 0x3F41, 0xC088, 0xBF5B,
      0xBF09, 0x3D41}},
});

Distribution parsed(const char* text) {
  const Result<Distribution> distribution = parse_distribution(text);
  EXPECT_TRUE(distribution.ok()) << text;
  return distribution.ok() ? *distribution : Distribution{};
}

TEST(Distributions, KnownWords) {
  for (const Known& known : known_words) {
    const Bf16Matrix matrix = draw(parsed(known.name), 2, 8, 0x123456789abcdef0U, 3);
    ASSERT_EQ(matrix.words.size(), known.words.size());
    for (std::size_t i = 0; i < known.words.size(); ++i) EXPECT_EQ(matrix.words[i], known.words[i]) << known.name << i;
  }
}

TEST(Distributions, ThreadsDoNotMatter) {
  const int threads = omp_get_max_threads();
  for (const std::string& name : distribution_names()) {
    omp_set_num_threads(1);
    const Bf16Matrix one = draw(parsed(name.c_str()), 37, 65, 5, 0);
    omp_set_num_threads(7);
    const Bf16Matrix many = draw(parsed(name.c_str()), 37, 65, 5, 0);
    EXPECT_EQ(one.words, many.words) << name;
  }
  omp_set_num_threads(threads);
}

TEST(Distributions, SeedAndStepMatter) {
  const Distribution gaussian;
  const Bf16Matrix base = draw(gaussian, 4, 32, 1, 0);
  EXPECT_NE(base.words, draw(gaussian, 4, 32, 2, 0).words);
  EXPECT_NE(base.words, draw(gaussian, 4, 32, 1, 1).words);
}

/// The share of magnitudes up to `limit`.
double share_up_to(const Bf16Matrix& matrix, float limit) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < matrix.words.size(); ++i) count += std::fabs(matrix.at(i)) <= limit ? 1 : 0;
  return static_cast<double>(count) / static_cast<double>(matrix.words.size());
}

TEST(Distributions, QuantilesOfMagnitudes) {
  struct Quantile {
    const char* name;
    float limit;
    double share;
  };
  // Textbook values: P(|n| <= 1.959964), P(|t4| <= 2.776445), 1 - exp(-2), 1/2, P(n <= log 2), of a million numbers.
  const Quantile quantiles[] = {
      {"gaussian", 1.959964F, 0.95},   {"gaussian", 0.674490F, 0.50},   {"student-t4", 2.776445F, 0.95},
      {"student-t4", 0.740697F, 0.50}, {"student-t2", 4.302653F, 0.95}, {"student-t10", 2.228139F, 0.95},
      {"laplace", 2.0F, 0.864665},     {"laplace", 0.693147F, 0.50},    {"uniform", 0.5F, 0.50},
      {"lognormal", 2.0F, 0.755891},   {"lognormal", 1.0F, 0.5}};
  for (const Quantile& quantile : quantiles) {
    const Bf16Matrix matrix = draw(parsed(quantile.name), 1024, 1024, 11, 0);
    // Five standard deviations of a share of a million are at most 0.0025; rounding to bfloat16 moves a share by less.
    EXPECT_NEAR(share_up_to(matrix, quantile.limit), quantile.share, 0.004) << quantile.name << quantile.limit;
  }
}

TEST(Distributions, SignsAreEven) {
  for (const std::string& name : distribution_names()) {
    const Bf16Matrix matrix = draw(parsed(name.c_str()), 1024, 1024, 12, 0);
    const auto negative =
        std::count_if(matrix.words.begin(), matrix.words.end(), [](std::uint16_t word) { return (word >> 15) != 0; });
    EXPECT_NEAR(static_cast<double>(negative) / 1048576.0, 0.5, 0.0025) << name;
  }
}

TEST(Distributions, OutlierChannels) {
  const Bf16Matrix plain = draw(parsed("gaussian"), 3, 100, 9, 0);
  const Bf16Matrix outliers = draw(parsed("outlier-channels:gain=16,period=32"), 3, 100, 9, 0);
  for (std::size_t i = 0; i < plain.words.size(); ++i) {
    const float factor = (i % 100) % 32 == 0 ? 16.0F : 1.0F;
    EXPECT_EQ(outliers.at(i), plain.at(i) * factor) << i;
  }
}

TEST(Distributions, NamesComeBack) {
  std::vector<std::string> texts = distribution_names();
  for (const char* text : {"gaussian:scale=0.02", "student-t6", "student-t4:scale=3", "lognormal:log-sigma=0.5",
                           "outlier-channels:gain=16,period=64", "outlier-channels:scale=2,gain=8,period=32"}) {
    texts.emplace_back(text);
  }
  for (const std::string& text : texts) EXPECT_EQ(name_of(parsed(text.c_str())), text);
}

TEST(Distributions, BadNamesAreRefused) {
  struct Bad {
    const char* text;
    const char* words;
  };
  const Bad cases[] = {{"", "is no distribution"},
                       {"gausian", "did you mean 'gaussian'"},
                       {"gaussian:", "write KEY=VALUE"},
                       {"gaussian:scale", "write KEY=VALUE"},
                       {"gaussian:sigma=2", "is no parameter of 'gaussian'"},
                       {"gaussian:scale=2,", "write KEY=VALUE"},
                       {"gaussian:scale=2,scale=3", "given twice"},
                       {"gaussian:scale=-1", "above zero"},
                       {"gaussian:scale=0", "above zero"},
                       {"gaussian:scale=nan", "above zero"},
                       {"gaussian:scale=inf", "above zero"},
                       {"gaussian:scale=1e99", "above zero"},
                       {"gaussian:scale=2x", "above zero"},
                       {"laplace:gain=2", "is no parameter of 'laplace'"},
                       {"student-t", "even number from 2 to 64"},
                       {"student-t3", "even number from 2 to 64"},
                       {"student-t66", "even number from 2 to 64"},
                       {"student-t4:degrees=6", "is no parameter"},
                       {"lognormal:log-sigma=11", "at most 10"},
                       {"outlier-channels:period=0", "from 1 to 65536"},
                       {"outlier-channels:period=70000", "from 1 to 65536"}};
  for (const Bad& bad : cases) {
    const Result<Distribution> distribution = parse_distribution(bad.text);
    ASSERT_FALSE(distribution.ok()) << bad.text;
    EXPECT_EQ(distribution.error().kind, ErrorKind::usage);
    EXPECT_NE(distribution.error().message.find(bad.words), std::string::npos)
        << bad.text << ": " << distribution.error().message;
  }
}

}  // namespace
}  // namespace fp4proof
