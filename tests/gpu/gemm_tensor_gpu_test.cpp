// Products on the tensor cores against the portable reference, bit for bit: odd shapes, several chunks and tiles,
// batches, scales at the ends of what that road takes and just beyond, NaN scales, the second product of a residual.

#include "gpu/gemm_tensor.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "formats/float_bits.h"
#include "formats/packing.h"
#include "formats/philox.h"
#include "formats/spec_profiles.h"
#include "reference/portable/gemm.h"
#include "tests/gpu/device_memory.h"

namespace fp4proof::gpu {
namespace {

/// The scale word of a block, from its line, its number in the line and a random word.
using ScaleRule = std::function<std::uint32_t(std::int64_t line, std::int64_t block, std::uint32_t word)>;

/// One matrix a batch, on both machines. Codes are random, also those of the padding; every seventh block is zeros.
class Side {
 public:
  Side(const Profile& profile, std::int64_t batch, std::int64_t lines, std::int64_t k, const ScaleRule& scale_of,
       std::uint64_t seed)
      : profile_(profile), lines_(lines) {
    std::uint64_t place = 0;
    const auto word = [&] { return random_word(seed, Stream::cases, 0, place++); };
    std::vector<std::uint8_t> codes;
    std::vector<std::uint8_t> scales;
    for (std::int64_t b = 0; b < batch; ++b) {
      portable::Quantized matrix;
      matrix.geometry = *portable::geometry_of_quantized(profile, std::vector<std::int64_t>{lines, k}, 1);
      const std::int64_t bytes = matrix.geometry.code_bytes_per_row / matrix.geometry.blocks;
      for (std::int64_t line = 0; line < lines; ++line) {
        for (std::int64_t block = 0; block < matrix.geometry.blocks; ++block) {
          const std::uint32_t mask = word() % 7 == 0 ? 0x88 : 0xFF;
          for (std::int64_t i = 0; i < bytes; ++i) matrix.codes.push_back(static_cast<std::uint8_t>(word() & mask));
          std::uint8_t scale[4];
          store_le32(scale_of(line, block, word()), scale);
          matrix.scales.insert(matrix.scales.end(), scale, scale + scale_bytes(profile.family));
        }
      }
      codes.insert(codes.end(), matrix.codes.begin(), matrix.codes.end());
      scales.insert(scales.end(), matrix.scales.begin(), matrix.scales.end());
      matrices_.push_back(std::move(matrix));
    }
    codes_ = std::make_unique<DeviceArray<std::uint8_t>>(codes);
    scales_ = std::make_unique<DeviceArray<std::uint8_t>>(scales);
  }

  const Profile& profile() const { return profile_; }
  std::int64_t lines() const { return lines_; }
  const std::vector<portable::Quantized>& matrices() const { return matrices_; }
  ProductSide on_device() const {
    ProductSide side;
    side.family = profile_.family;
    side.element = profile_.element;
    side.lines = lines_;
    side.coded = {codes_->get(), scales_->get(), nullptr};
    return side;
  }

 private:
  Profile profile_;
  std::int64_t lines_;
  std::vector<portable::Quantized> matrices_;
  std::unique_ptr<DeviceArray<std::uint8_t>> codes_;
  std::unique_ptr<DeviceArray<std::uint8_t>> scales_;
};

PartProduct product_of(const Side& a, const Side& b, std::int64_t k, float* c) {
  PartProduct product;
  product.batch = static_cast<std::int64_t>(a.matrices().size());
  product.k = k;
  product.block = a.profile().block.cols;
  product.a = a.on_device();
  product.b = b.on_device();
  product.c = c;
  return product;
}

std::vector<float> reference(const Side& a, const Side& b, portable::Accumulator accumulator) {
  std::vector<float> all;
  for (std::size_t i = 0; i < a.matrices().size(); ++i) {
    const auto c = portable::gemm(a.profile(), a.matrices()[i], b.profile(), b.matrices()[i], accumulator);
    all.insert(all.end(), c->begin(), c->end());
  }
  return all;
}

void expect_same_bits(const std::vector<float>& got, const std::vector<float>& want, const std::string& what) {
  ASSERT_EQ(got.size(), want.size());
  std::size_t wrong = 0;
  std::size_t first = 0;
  for (std::size_t i = got.size(); i-- > 0;) {
    if (float_bits(got[i]) == float_bits(want[i])) continue;
    ++wrong;
    first = i;
  }
  EXPECT_EQ(wrong, 0U) << what << ": first at " << first << ", " << std::hexfloat << got[first] << " for "
                       << want[first];
}

/// A workspace that starts at an odd address.
struct Workspace {
  DeviceArray<std::uint8_t> memory;
  explicit Workspace(std::size_t bytes) : memory(bytes + 1) {}
  void* get() const { return memory.get() + 1; }
  std::size_t bytes() const { return memory.bytes() - 1; }
};

void expect_product(const Side& a, const Side& b, std::int64_t k, const std::string& what) {
  for (const auto accumulator : {Accumulator::seq512, Accumulator::seq}) {
    DeviceArray<float> c(static_cast<std::size_t>(a.lines() * b.lines()) * a.matrices().size());
    PartProduct product = product_of(a, b, k, c.get());
    product.accumulator = accumulator;
    ASSERT_TRUE(takes_tensor_road(product));
    const Workspace workspace(tensor_workspace(product));
    ASSERT_EQ(launch_tensor_product(product, {}, workspace.get(), workspace.bytes(), nullptr), Status::ok);
    const bool seq = accumulator == Accumulator::seq;
    expect_same_bits(c.values(), reference(a, b, seq ? portable::Accumulator::seq : portable::Accumulator::seq512),
                     what + (seq ? " seq" : " seq512"));
    EXPECT_TRUE(c.margin_is_whole());
    EXPECT_TRUE(workspace.memory.margin_is_whole());
  }
}

const Profile& mxfp4() { return *find_profile("mxfp4/ocp"); }
const Profile& hif4() { return *find_profile("hif4/gcc"); }

std::uint32_t mx_around_one(std::int64_t, std::int64_t, std::uint32_t word) { return 124 + word % 7; }
std::uint32_t hif4_anything(std::int64_t, std::int64_t, std::uint32_t word) {
  return (word & 0xFF) == e6m2_nan ? word - 1 : word;
}

struct Shape {
  std::int64_t batch;
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
};
constexpr Shape shapes[] = {{1, 1, 1, 1},       {1, 1, 130, 33},    {1, 65, 63, 511},   {2, 70, 129, 512},
                            {1, 128, 128, 513}, {1, 193, 257, 640}, {3, 129, 1, 1600},  {1, 200, 333, 2111},
                            {1, 385, 96, 1024}, {5, 3, 200, 96},    {1, 520, 140, 1537}};

std::string text(const Shape& s) {
  return std::to_string(s.batch) + " x [" + std::to_string(s.m) + ", " + std::to_string(s.n) + ", " +
         std::to_string(s.k) + "]";
}

class TensorProduct : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_device()) GTEST_SKIP() << "no device";
  }
};

TEST_F(TensorProduct, Shapes) {
  std::uint64_t seed = 1;
  for (const Shape& s : shapes) {
    for (const bool mx : {true, false}) {
      const Profile& profile = mx ? mxfp4() : hif4();
      const ScaleRule rule = mx ? ScaleRule(mx_around_one) : ScaleRule(hif4_anything);
      const Side a(profile, s.batch, s.m, s.k, rule, seed++);
      const Side b(profile, s.batch, s.n, s.k, rule, seed++);
      expect_product(a, b, s.k, std::string(profile.name) + " " + text(s));
    }
  }
}

/// Large enough for tiles of three warpgroups on a device of 132 multiprocessors.
TEST_F(TensorProduct, LargeTiles) {
  const std::int64_t k = 560;
  const Side mx_a(mxfp4(), 1, 2100, k, mx_around_one, 21);
  const Side mx_b(mxfp4(), 1, 1500, k, mx_around_one, 22);
  expect_product(mx_a, mx_b, k, "mxfp4");
  const Side hif_a(hif4(), 1, 2100, k, hif4_anything, 23);
  const Side hif_b(hif4(), 1, 1500, k, hif4_anything, 24);
  expect_product(hif_a, hif_b, k, "hif4");
}

/// C needs no more alignment than a float.
TEST_F(TensorProduct, AnyAddress) {
  const Side a(mxfp4(), 1, 128, 64, mx_around_one, 31);
  const Side b(mxfp4(), 1, 130, 64, mx_around_one, 32);
  const std::vector<float> want = reference(a, b, portable::Accumulator::seq512);
  DeviceArray<float> c(want.size() + 1);
  const PartProduct product = product_of(a, b, 64, c.get() + 1);
  const Workspace workspace(tensor_workspace(product));
  ASSERT_EQ(launch_tensor_product(product, {}, workspace.get(), workspace.bytes(), nullptr), Status::ok);
  const std::vector<float> got = c.values();
  expect_same_bits({got.begin() + 1, got.end()}, want, "from the second float on");
}

/// Scales of a line spread over `binades` from a base that differs from line to line.
ScaleRule spread(int base, int line_step, int binades) {
  return [=](std::int64_t line, std::int64_t, std::uint32_t word) {
    return static_cast<std::uint32_t>(base + line_step * static_cast<int>(line % 5)) +
           word % static_cast<std::uint32_t>(binades + 1);
  };
}

/// One large block and small ones `binades` below. Where its opposite is zeros, the small ones alone are the sum.
ScaleRule one_large(int binades) {
  return [=](std::int64_t line, std::int64_t block, std::uint32_t) {
    return static_cast<std::uint32_t>(127 + line % 5 - (block == 0 ? 0 : binades));
  };
}

TEST_F(TensorProduct, Mxfp4ScalesAtTheLimits) {
  struct Limits {
    const char* name;
    ScaleRule a;
    ScaleRule b;
  };
  const Limits limits[] = {
      {"as far apart as the image takes", spread(100, 3, 26), spread(110, -2, 26)},
      {"one binade too far", spread(100, 3, 27), spread(110, -2, 27)},
      {"one large block as far as the image takes", one_large(26), mx_around_one},
      {"one large block one binade too far", one_large(27), mx_around_one},
      {"far too far", spread(1, 10, 200), spread(1, 10, 200)},
      {"the smallest products just representable", spread(40, 0, 20), spread(67, 0, 8)},
      {"the smallest products one bit below", spread(39, 0, 20), spread(67, 0, 8)},
      {"subnormal sums", spread(50, 0, 3), spread(57, 0, 3)},
      {"subnormal sums, one bit too small", spread(49, 0, 3), spread(57, 0, 3)},
      {"sums that underflow", spread(30, 0, 10), spread(40, 0, 10)},
      {"smallest scales against the largest", spread(0, 0, 5), spread(248, 0, 5)},
      {"the largest sums that are safe", spread(180, 0, 3), spread(177, 0, 4)},
      {"sums around overflow", spread(185, 0, 6), spread(185, 1, 3)},
      {"overflow", spread(230, 0, 20), spread(230, 0, 20)},
      {"lines of every kind", spread(10, 40, 12), spread(10, 40, 12)},
  };
  std::uint64_t seed = 1000;
  for (const Limits& l : limits) {
    const Side a(mxfp4(), 1, 150, 1100, l.a, seed++);
    const Side b(mxfp4(), 1, 140, 1100, l.b, seed++);
    expect_product(a, b, 1100, l.name);
  }
}

TEST_F(TensorProduct, NanScales) {
  const ScaleRule mx = [](std::int64_t line, std::int64_t block, std::uint32_t word) {
    return line % 9 == 4 && block == 3 ? std::uint32_t{e8m0_nan} : 124 + word % 7;
  };
  const ScaleRule hif = [](std::int64_t line, std::int64_t block, std::uint32_t word) {
    return line % 9 == 4 && block == 3 ? word | e6m2_nan : hif4_anything(line, block, word);
  };
  const Side mx_a(mxfp4(), 1, 140, 300, mx, 1);
  const Side mx_b(mxfp4(), 1, 70, 300, mx, 2);
  expect_product(mx_a, mx_b, 300, "mxfp4");
  const Side hif_a(hif4(), 1, 140, 250, hif, 3);
  const Side hif_b(hif4(), 1, 70, 250, hif, 4);
  expect_product(hif_a, hif_b, 250, "hif4");
}

/// C = RN(C1 + RN(alpha * RN(sum / divisor))), B converted once; also where tiles take the other road.
TEST_F(TensorProduct, SecondProduct) {
  struct Pair {
    const Profile* profile;
    ScaleRule rule;
  };
  for (const Pair& pair :
       {Pair{&mxfp4(), mx_around_one}, Pair{&hif4(), hif4_anything}, Pair{&mxfp4(), spread(60, 20, 40)}}) {
    const std::int64_t k = 700;
    const Side first(*pair.profile, 2, 200, k, pair.rule, 11);
    const Side second(*pair.profile, 2, 200, k, pair.rule, 12);
    const Side b(*pair.profile, 2, 150, k, pair.rule, 13);
    DeviceArray<float> c(2 * 200 * 150);
    PartProduct product = product_of(first, b, k, c.get());
    product.epilogue.divisor = 0.75F;
    const Workspace workspace(tensor_workspace(product));
    ASSERT_EQ(launch_tensor_product(product, {}, workspace.get(), workspace.bytes(), nullptr), Status::ok);
    product.a = second.on_device();
    product.epilogue.adds_to_c = true;
    product.epilogue.alpha = 0.3F;
    const ReadyImages ready{.a = false, .b = true};
    ASSERT_EQ(launch_tensor_product(product, ready, workspace.get(), workspace.bytes(), nullptr), Status::ok);
    std::vector<float> want = reference(first, b, portable::Accumulator::seq512);
    const std::vector<float> added = reference(second, b, portable::Accumulator::seq512);
    for (std::size_t i = 0; i < want.size(); ++i) {
      const float y = added[i] / 0.75F;
      const float weighted = 0.3F * y;
      const float quotient = want[i] / 0.75F;
      want[i] = quotient + weighted;
      if (is_nan_bits(float_bits(want[i]))) want[i] = canonical_nan();
    }
    expect_same_bits(c.values(), want, std::string(pair.profile->name));
  }
}

TEST(TensorProductChoice, TakesWhatItDefines) {
  PartProduct product;
  product.k = 32;
  product.a.lines = product.b.lines = 1;
  EXPECT_TRUE(takes_tensor_road(product));
  PartProduct other = product;
  other.k = 0;
  EXPECT_FALSE(takes_tensor_road(other));
  other = product;
  other.slice = 128;
  EXPECT_FALSE(takes_tensor_road(other));
  other = product;
  other.block = 16;
  EXPECT_FALSE(takes_tensor_road(other));
  other = product;
  other.b.element = Element::e4m3;
  EXPECT_FALSE(takes_tensor_road(other));
  other = product;
  other.a.family = Family::nvfp4;
  EXPECT_FALSE(takes_tensor_road(other));
  other = product;
  other.a.family = other.b.family = Family::hif4;
  other.a.element = other.b.element = Element::s1p2;
  other.block = 64;
  EXPECT_TRUE(takes_tensor_road(other));
  other.a.element = Element::s1p3;
  EXPECT_FALSE(takes_tensor_road(other));
  EXPECT_EQ(tensor_workspace(other), 0U);
}

TEST(TensorProductChoice, RefusesASmallWorkspace) {
  PartProduct product;
  product.k = 32;
  product.a.lines = product.b.lines = 1;
  std::uint8_t byte = 0;
  EXPECT_EQ(launch_tensor_product(product, {}, &byte, tensor_workspace(product) - 1, nullptr), Status::small_workspace);
}

}  // namespace
}  // namespace fp4proof::gpu
