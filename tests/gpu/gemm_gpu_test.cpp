// gemm() on the device against the portable reference, bit for bit: every pair of formats, stack and accumulator, odd
// shapes, batches, scales over their whole range, special values.

#include "gpu/gemm.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "formats/spec_profiles.h"
#include "gpu/gemm_general.h"
#include "tests/gpu/random_operands.h"

namespace fp4proof::gpu {
namespace {

portable::Accumulator portable_accumulator(Accumulator accumulator) {
  return accumulator == Accumulator::seq ? portable::Accumulator::seq : portable::Accumulator::seq512;
}

const CorrectionStack& stack(const char* name) { return *find_correction_stack(name); }

Profile profile_of(Family family, Element element, int block) {
  Profile profile;
  profile.family = family;
  profile.element = element;
  profile.block = {1, static_cast<std::uint8_t>(block)};
  return profile;
}

struct Shape {
  std::int64_t batch = 1;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
};

struct Side {
  Profile profile;
  CorrectionStack stack;
};

std::string text(const Shape& s) {
  return std::to_string(s.batch) + " x [" + std::to_string(s.m) + ", " + std::to_string(s.n) + ", " +
         std::to_string(s.k) + "]";
}
std::string text(const Side& side) {
  return std::string(name_of(side.profile.family)) + "/" + std::string(name_of(side.profile.element)) + "/" +
         std::to_string(int{side.profile.block.cols}) + " " + std::string(side.stack.name);
}

GemmJob job_of(const Shape& shape, const Side& a, const Side& b, const RandomOperand& operand_a,
               const RandomOperand& operand_b, float* c) {
  GemmJob job;
  job.batch = shape.batch;
  job.k = shape.k;
  job.a = operand_a.on_device();
  job.b = operand_b.on_device();
  job.stack = a.stack;
  if (b.stack != a.stack.without_residual()) job.stack_b = b.stack;
  job.c = c;
  return job;
}

std::vector<float> multiply_on_device(GemmJob job, std::size_t size) {
  const DeviceArray<float> c(size);
  const DeviceArray<std::uint8_t> workspace(gemm_workspace(job));
  job.c = c.get();
  EXPECT_EQ(gemm(job, workspace.get(), workspace.bytes(), nullptr), Status::ok);
  EXPECT_TRUE(workspace.margin_is_whole());
  EXPECT_TRUE(c.margin_is_whole());
  return c.values();
}

/// The same without the roads of single formats.
std::vector<float> multiply_in_general(GemmJob job, std::size_t size) {
  const DeviceArray<float> c(size);
  job.c = c.get();
  EXPECT_EQ(launch_general_product(first_product(job), nullptr, nullptr), Status::ok);
  if (has_residual_product(job)) {
    EXPECT_EQ(launch_general_product(residual_product(job), nullptr, nullptr), Status::ok);
  }
  EXPECT_TRUE(c.margin_is_whole());
  return c.values();
}

/// How many words differ, and the first that does.
std::string differences(const std::vector<float>& actual, const std::vector<float>& expected) {
  if (actual.size() != expected.size()) return "sizes differ";
  std::size_t count = 0;
  std::string first;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (float_bits(actual[i]) == float_bits(expected[i])) continue;
    if (count++ == 0) {
      first = "the first at " + std::to_string(i) + ": " + std::to_string(actual[i]) + " for " +
              std::to_string(expected[i]);
    }
  }
  return count == 0 ? "" : std::to_string(count) + " of " + std::to_string(actual.size()) + " differ, " + first;
}

/// Compares a product under both accumulators, on both roads.
void expect_equal(const Shape& shape, const Side& a, const Side& b, Mixture mixture, std::uint64_t seed) {
  const RandomOperand operand_a(a.profile, a.stack, shape.batch, shape.m, shape.k, mixture, seed);
  const RandomOperand operand_b(b.profile, b.stack, shape.batch, shape.n, shape.k, mixture, seed + 1);
  GemmJob job = job_of(shape, a, b, operand_a, operand_b, nullptr);
  const std::string what = text(a) + " times " + text(b) + ", " + text(shape);
  for (const Accumulator accumulator : {Accumulator::seq512, Accumulator::seq}) {
    job.accumulator = accumulator;
    std::vector<float> expected;
    for (std::int64_t batch = 0; batch < shape.batch; ++batch) {
      const auto c =
          portable::gemm(operand_a.matrix(batch), operand_b.matrix(batch), portable_accumulator(accumulator));
      ASSERT_TRUE(c) << c.error().message;
      expected.insert(expected.end(), c->begin(), c->end());
    }
    const std::string where = what + (accumulator == Accumulator::seq ? ", seq" : ", seq512");
    EXPECT_EQ(differences(multiply_on_device(job, expected.size()), expected), "") << where;
    if (shape.k == 0) continue;
    EXPECT_EQ(differences(multiply_in_general(job, expected.size()), expected), "") << where << ", general road";
  }
}

class Gemm : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_device()) GTEST_SKIP() << "no CUDA device";
  }
};

std::vector<Profile> profiles_of_length(int length) {
  using enum Element;
  std::vector<Profile> profiles;
  for (const Element element : {e2m1, e2m3, e3m2, e4m3, e5m2}) {
    profiles.push_back(profile_of(Family::mx, element, length));
  }
  if (length == 16) {
    profiles.push_back(*find_profile("nvfp4/direct"));
    profiles.push_back(*find_profile("nvfp4/tensor-scale"));
  }
  if (length == 64) {
    for (const Element element : {s1p1, s1p2, s1p3}) profiles.push_back(profile_of(Family::hif4, element, length));
  }
  return profiles;
}

TEST_F(Gemm, EveryPairOfFormats) {
  std::uint64_t seed = 100;
  for (const int length : {8, 16, 32, 64}) {
    for (const Profile& a : profiles_of_length(length)) {
      for (const Profile& b : profiles_of_length(length)) {
        expect_equal({1, 66, 70, 1100}, {a, stack("none")}, {b, stack("none")}, Mixture::all, seed += 10);
        expect_equal({2, 65, 33, 597}, {a, stack("none")}, {b, stack("none")}, Mixture::plain, seed += 10);
      }
    }
  }
}

TEST_F(Gemm, E5m2WithoutSmallElements) {
  std::uint64_t seed = 10000;
  for (const int length : {8, 16, 32, 64}) {
    const Side wide = {profile_of(Family::mx, Element::e5m2, length), stack("none")};
    for (const Profile& profile : profiles_of_length(length)) {
      expect_equal({1, 66, 70, 1100}, wide, {profile, stack("none")}, Mixture::large, seed += 10);
      expect_equal({1, 66, 70, 1100}, {profile, stack("none")}, wide, Mixture::large, seed += 10);
    }
  }
}

TEST_F(Gemm, EveryProfileTimesItself) {
  std::uint64_t seed = 20000;
  for (const Profile& profile : profiles()) {
    expect_equal({2, 70, 40, 777}, {profile, stack("none")}, {profile, stack("none")}, Mixture::all, seed += 10);
  }
}

TEST_F(Gemm, EveryStack) {
  std::uint64_t seed = 30000;
  for (const CorrectionStack& corrections : correction_stacks()) {
    for (const char* name : {"mxfp4/rceil", "mxfp8-e4m3/ocp", "mxfp8-e5m2/ocp", "mxfp6-e3m2/ocp", "hif4/gcc",
                             "nvfp4/tensor-scale", "mxfp4-2d/rceil"}) {
      const Profile& profile = *find_profile(name);
      const bool is_mx = profile.family == Family::mx;
      if ((corrections.macro.is_on() || corrections.tile != 0 || corrections.three_quarters) && !is_mx) continue;
      const CorrectionStack other = corrections.without_residual();
      for (const Mixture mixture : {Mixture::plain, Mixture::all}) {
        expect_equal({2, 66, 70, 1200}, {profile, corrections}, {profile, other}, mixture, seed += 10);
        expect_equal({1, 130, 20, 650}, {profile, other}, {profile, corrections}, mixture, seed += 10);
      }
    }
  }
}

TEST_F(Gemm, CorrectionsOfOneSide) {
  std::uint64_t seed = 60000;
  for (const char* name : {"mbs", "mbs-64", "mbs-32", "mbs-divide", "mbs+fallback", "three-quarters", "fallback"}) {
    for (const char* profile_name : {"mxfp4/rceil", "mxfp8-e5m2/ocp"}) {
      const Profile& profile = *find_profile(profile_name);
      for (const Mixture mixture : {Mixture::plain, Mixture::all}) {
        expect_equal({1, 66, 70, 1100}, {profile, stack(name)}, {profile, stack("none")}, mixture, seed += 10);
        expect_equal({1, 66, 70, 1100}, {profile, stack("none")}, {profile, stack(name)}, mixture, seed += 10);
      }
    }
  }
}

TEST_F(Gemm, OddShapes) {
  std::uint64_t seed = 70000;
  for (const Shape& shape : {Shape{1, 1, 1, 1}, Shape{1, 1, 129, 33}, Shape{1, 64, 64, 512}, Shape{3, 65, 127, 513},
                             Shape{1, 128, 1, 1536}, Shape{5, 3, 200, 1025}, Shape{1, 257, 63, 31},
                             Shape{2, 7, 5, 4097}, Shape{7, 1, 1, 511}, Shape{1, 300, 300, 64}}) {
    for (const char* name : {"mxfp4/ocp", "mxfp6-e2m3/ocp", "mxfp8-e4m3/ocp", "mxfp8-e5m2/ocp", "mxfp6-e3m2/ocp",
                             "hif4/gcc", "hifx3/gcc", "nvfp4/tensor-scale"}) {
      const Side side = {*find_profile(name), stack("none")};
      expect_equal(shape, side, side, Mixture::all, seed += 10);
    }
    const Side weighted = {*find_profile("mxfp4/rceil"), stack("mbs-32")};
    expect_equal(shape, weighted, weighted, Mixture::all, seed += 10);
  }
}

TEST_F(Gemm, NothingToAdd) {
  const Side side = {*find_profile("nvfp4/tensor-scale"), stack("none")};
  expect_equal({2, 3, 4, 0}, side, side, Mixture::all, 1);
  expect_equal({1, 0, 4, 32}, side, side, Mixture::all, 2);
  expect_equal({0, 3, 4, 32}, side, side, Mixture::all, 3);
  const Side residual = {*find_profile("mxfp4/rceil"), stack("mbs+resq")};
  expect_equal({2, 3, 4, 0}, residual, {residual.profile, stack("mbs")}, Mixture::all, 4);
}

/// C where the tiles of `slow` alone are computed.
void expect_tiles(const Shape& shape, const std::vector<std::uint8_t>& slow, std::uint64_t seed) {
  const Side side = {*find_profile("mxfp4/ocp"), stack("none")};
  const RandomOperand a(side.profile, side.stack, shape.batch, shape.m, shape.k, Mixture::all, seed);
  const RandomOperand b(side.profile, side.stack, shape.batch, shape.n, shape.k, Mixture::all, seed + 1);
  const std::int64_t tiles_down = (shape.m + product_tile - 1) / product_tile;
  const std::int64_t tiles_across = (shape.n + product_tile - 1) / product_tile;
  ASSERT_EQ(slow.size(), static_cast<std::size_t>(shape.batch * tiles_down * tiles_across));
  const DeviceArray<std::uint8_t> slow_on_device(slow);
  const DeviceArray<float> c(static_cast<std::size_t>(shape.batch * shape.m * shape.n));
  std::vector<float> expected = c.values();
  for (std::int64_t batch = 0; batch < shape.batch; ++batch) {
    const std::vector<float> all = *portable::gemm(a.matrix(batch), b.matrix(batch), portable::Accumulator::seq512);
    for (std::int64_t i = 0; i < shape.m * shape.n; ++i) {
      const std::int64_t row = batch * tiles_down + i / shape.n / product_tile;
      const std::int64_t tile = row * tiles_across + i % shape.n / product_tile;
      if (slow[static_cast<std::size_t>(tile)] == 0) continue;
      expected[static_cast<std::size_t>(batch * shape.m * shape.n + i)] = all[static_cast<std::size_t>(i)];
    }
  }
  const PartProduct product = first_product(job_of(shape, side, side, a, b, c.get()));
  ASSERT_EQ(launch_general_product(product, slow_on_device.get(), nullptr), Status::ok);
  EXPECT_EQ(differences(c.values(), expected), "") << text(shape);
  EXPECT_TRUE(c.margin_is_whole());
}

TEST_F(Gemm, OnlyTilesThatAreAskedFor) {
  expect_tiles({2, 200, 300, 96}, {0, 1, 0, 1, 0, 0, 1, 1, 0, 0, 0, 255}, 80000);
  // More tiles than a grid has blocks, most of them asked for: a block computes several.
  std::vector<std::uint8_t> slow(3 * 17 * 18);
  for (std::size_t i = 0; i < slow.size(); ++i) slow[i] = i % 5 == 0 ? 0 : 1;
  expect_tiles({3, 17 * product_tile - 3, 18 * product_tile - 70, 97}, slow, 80010);
}

// --- Refusals: nothing is launched, no device is needed --------------------------------------------------------------

/// A job that is refused for nothing but what `change` does to it.
Status status_of(auto change) {
  alignas(16) static std::uint8_t bytes[16];
  static float c[1];
  GemmJob job;
  job.k = 32;
  for (GemmOperand* operand : {&job.a, &job.b}) {
    operand->profile = *find_profile("mxfp4/rceil");
    operand->lines = 1;
    operand->first = {{bytes, bytes, nullptr}, bytes};
    operand->residual = operand->first;
  }
  job.c = c;
  change(job);
  return check_gemm(job);
}

TEST(GemmRefusals, SoundJobs) {
  EXPECT_EQ(status_of([](GemmJob&) {}), Status::ok);
  EXPECT_EQ(status_of([](GemmJob& job) { job.stack = stack("mbs+resq"); }), Status::ok);
  EXPECT_EQ(status_of([](GemmJob& job) { job.stack_b = stack("mbs+resq"); }), Status::ok);
  EXPECT_EQ(status_of([](GemmJob& job) { job.b.profile = *find_profile("mxfp8-e5m2/ocp"); }), Status::ok);
  EXPECT_EQ(status_of([](GemmJob& job) {
              job.k = 0;
              job.a.first = {};
            }),
            Status::ok);
  EXPECT_EQ(status_of([](GemmJob& job) {
              job.batch = 0;
              job.c = nullptr;
            }),
            Status::ok);
}

TEST(GemmRefusals, Shapes) {
  EXPECT_EQ(status_of([](GemmJob& job) { job.k = -1; }), Status::invalid);
  EXPECT_EQ(status_of([](GemmJob& job) { job.batch = -1; }), Status::invalid);
  EXPECT_EQ(status_of([](GemmJob& job) { job.b.lines = -1; }), Status::invalid);
  EXPECT_EQ(status_of([](GemmJob& job) { job.a.lines = job.b.lines = std::int64_t{1} << 32; }), Status::invalid);
  EXPECT_EQ(status_of([](GemmJob& job) { job.k = INT64_MAX; }), Status::invalid);
  EXPECT_EQ(status_of([](GemmJob& job) { job.accumulator = static_cast<Accumulator>(2); }), Status::invalid);
  EXPECT_EQ(status_of([](GemmJob& job) { job.b.profile = *find_profile("nvfp4/direct"); }), Status::invalid);
  EXPECT_EQ(status_of([](GemmJob& job) { job.a.profile.block = {1, 4}; }), Status::invalid);
  EXPECT_EQ(status_of([](GemmJob& job) { job.a.profile.family = Family::hif4; }), Status::invalid);
}

TEST(GemmRefusals, Elements) {
  EXPECT_EQ(status_of([](GemmJob& job) { job.a.profile.element = Element::s1p2; }), Status::unsupported);
}

TEST(GemmRefusals, Pointers) {
  EXPECT_EQ(status_of([](GemmJob& job) { job.c = nullptr; }), Status::invalid);
  EXPECT_EQ(status_of([](GemmJob& job) { job.a.first.coded.codes = nullptr; }), Status::invalid);
  EXPECT_EQ(status_of([](GemmJob& job) { job.a.first.coded.scales = nullptr; }), Status::invalid);
  EXPECT_EQ(status_of([](GemmJob& job) { job.b.first.coded.codes += 4; }), Status::invalid);
  EXPECT_EQ(status_of([](GemmJob& job) {
              job.stack = stack("mbs");
              job.b.first.macro = nullptr;
            }),
            Status::invalid);
  EXPECT_EQ(status_of([](GemmJob& job) {
              job.stack = stack("resq");
              job.a.residual.coded.codes = nullptr;
            }),
            Status::invalid);
}

TEST(GemmRefusals, Stacks) {
  EXPECT_EQ(status_of([](GemmJob& job) { job.stack = *(job.stack_b = stack("resq")); }), Status::invalid);
  EXPECT_EQ(status_of([](GemmJob& job) {
              job.stack = stack("mbs");
              job.stack_b = stack("mbs-64");
            }),
            Status::invalid);
  EXPECT_EQ(status_of([](GemmJob& job) { job.stack_b = stack("hadamard-16"); }), Status::invalid);
  EXPECT_EQ(status_of([](GemmJob& job) {
              job.stack = stack("mbs-32");
              job.a.profile.block = job.b.profile.block = {64, 64};
            }),
            Status::invalid);
}

}  // namespace
}  // namespace fp4proof::gpu
