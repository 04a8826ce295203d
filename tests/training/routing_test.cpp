// The router against sorting, and the shape of what it makes.

#include "conformance/training/routing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "formats/philox.h"

namespace fp4proof::training {
namespace {

std::vector<float> normals(std::size_t count, std::uint32_t step) {
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(random_normal(1, Stream::cases, step, i));
  return values;
}

TEST(Routing, SendsEveryRowToItsBestTwoExperts) {
  constexpr std::size_t width = 32;
  constexpr std::size_t rows = 150;
  for (const std::size_t experts : {std::size_t{2}, std::size_t{4}, std::size_t{8}}) {
    const std::vector<float> x = normals(rows * width, 1);
    const std::vector<float> router = normals(experts * width, 2);
    const Routing routing = route(x, router, width);
    ASSERT_EQ(routing.begin.size(), experts + 1);
    std::size_t filled = 0;
    for (std::size_t e = 0; e < experts; ++e) {
      ASSERT_EQ(routing.begin[e + 1] % expert_row_multiple, 0);
      std::int32_t last = -1;
      bool ended = false;
      for (std::int64_t i = routing.begin[e]; i < routing.begin[e + 1]; ++i) {
        const std::int32_t token = routing.token[static_cast<std::size_t>(i)];
        if (token < 0) {
          ended = true;
          EXPECT_EQ(routing.weight[static_cast<std::size_t>(i)], 0.0F);
          continue;
        }
        EXPECT_FALSE(ended);
        EXPECT_GT(token, last);
        last = token;
        ++filled;
      }
    }
    EXPECT_EQ(filled, 2 * rows);
    for (std::size_t row = 0; row < rows; ++row) {
      std::vector<std::pair<double, std::size_t>> logits;
      for (std::size_t e = 0; e < experts; ++e) {
        double z = 0;
        for (std::size_t c = 0; c < width; ++c) z += double{x[row * width + c]} * double{router[e * width + c]};
        logits.emplace_back(-z, e);
      }
      std::sort(logits.begin(), logits.end());
      const auto expert_of = [&](std::int32_t place) {
        return static_cast<std::size_t>(std::upper_bound(routing.begin.begin(), routing.begin.end(), place) -
                                        routing.begin.begin() - 1);
      };
      const std::size_t low = expert_of(routing.low[row]);
      const std::size_t high = expert_of(routing.high[row]);
      EXPECT_EQ(low, std::min(logits[0].second, logits[1].second));
      EXPECT_EQ(high, std::max(logits[0].second, logits[1].second));
      EXPECT_EQ(routing.token[static_cast<std::size_t>(routing.low[row])], static_cast<std::int32_t>(row));
      EXPECT_EQ(routing.token[static_cast<std::size_t>(routing.high[row])], static_cast<std::int32_t>(row));
      const double best = 1 / (1 + std::exp(logits[0].first - logits[1].first));
      EXPECT_NEAR(low == logits[0].second ? routing.low_weight[row] : routing.high_weight[row], best, 1e-5);
      EXPECT_NEAR(routing.low_weight[row] + routing.high_weight[row], 1, 1e-6);
    }
  }
}

TEST(Routing, TakesTheLowestNumbersAmongEquals) {
  const std::vector<float> x(8, 1.0F);
  const std::vector<float> router(4 * 8, 0.5F);
  const Routing routing = route(x, router, 8);
  EXPECT_EQ(routing.begin, (std::vector<std::int64_t>{0, 64, 128, 128, 128}));
  EXPECT_EQ(routing.low_weight[0], 0.5F);
  EXPECT_EQ(routing.high_weight[0], 0.5F);
}

}  // namespace
}  // namespace fp4proof::training
