// correct() on the device against the portable reference, bit for bit: codes, scales, macro bytes and values of every
// named stack and some others, on every profile that takes them, over number formats, axes, odd shapes and batches.

#include "gpu/correct.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "formats/correction_rules.h"
#include "formats/philox.h"
#include "formats/spec_profiles.h"
#include "gpu/residual_packed.h"
#include "reference/portable/correct.h"
#include "tests/gpu/device_memory.h"
#include "tests/gpu/random_matrices.h"

namespace fp4proof::gpu {
namespace {

using Bytes = std::vector<std::uint8_t>;

// --- Subjects --------------------------------------------------------------------------------------------------------

CorrectionStack changed(const char* base, std::string_view name, auto change) {
  CorrectionStack stack = *find_correction_stack(base);
  stack.name = name;
  change(stack);
  return stack;
}

/// The named stacks, and choices that none of them makes.
std::vector<CorrectionStack> all_stacks() {
  std::vector<CorrectionStack> stacks(correction_stacks().begin(), correction_stacks().end());
  const auto add = [&](const char* base, std::string_view name, auto change) {
    stacks.push_back(changed(base, name, change));
  };
  add("fallback", "alpha negative", [](CorrectionStack& s) { s.residual.alpha = -0.7F; });
  add("mbs-64", "macro blocks of small tiles, small mask tiles", [](CorrectionStack& s) {
    s.tile = 16;
    s.residual = find_correction_stack("rfq-l2")->residual;
    s.residual.tile_rows = 7;
    s.residual.tile_cols = 9;
    s.residual.fraction = 0.3F;
  });
  add("mbs-divide", "dividing macro blocks of tiles", [](CorrectionStack& s) { s.tile = 8; });
  add("mbs-32", "macro blocks, stochastic", [](CorrectionStack& s) { s.stochastic = true; });
  add("mbs-divide", "dividing macro blocks, stochastic", [](CorrectionStack& s) { s.stochastic = true; });
  add("hadamard-16", "Hadamard, stochastic", [](CorrectionStack& s) { s.stochastic = true; });
  add("hadamard-64", "fresh Hadamard of 64, few channels", [](CorrectionStack& s) {
    s.hadamard.signs = HadamardSigns::fresh;
    s.hadamard.seed = 0x123456789ABCDEFULL;
    s.residual = find_correction_stack("resq-channels")->residual;
    s.residual.fraction = 0.1F;
  });
  add("three-quarters-rn", "three-quarters of tiles, residual", [](CorrectionStack& s) {
    s.tile = 32;
    s.residual.on = true;
  });
  add("rfq-theta", "threshold zero, odd tiles", [](CorrectionStack& s) {
    s.residual.threshold = 0.0F;
    s.residual.tile_rows = 1;
    s.residual.tile_cols = 5;
  });
  add("rfq-theta", "threshold infinite",
      [](CorrectionStack& s) { s.residual.threshold = std::numeric_limits<float>::infinity(); });
  add("rfq-max", "single elements", [](CorrectionStack& s) {
    s.residual.tile_rows = 1;
    s.residual.tile_cols = 1;
  });
  add("rfq-l2", "wide tiles, all kept", [](CorrectionStack& s) {
    s.residual.tile_rows = 255;
    s.residual.tile_cols = 255;
    s.residual.fraction = 1.0F;
  });
  add("resq-channels", "one channel", [](CorrectionStack& s) { s.residual.fraction = 1e-30F; });
  return stacks;
}

const std::vector<CorrectionStack>& stacks() {
  static const std::vector<CorrectionStack> all = all_stacks();
  return all;
}

/// The named profiles, and three under which NaN and infinity go on.
const std::vector<Profile>& subject_profiles() {
  static const std::vector<Profile> all = [] {
    std::vector<Profile> list(profiles().begin(), profiles().end());
    for (const char* base : {"mxfp4/ocp", "mxfp4/rceil", "hif4/gcc", "nvfp4/tensor-scale"}) {
      Profile profile = *find_profile(base);
      profile.nan = NanPolicy::ignore;
      profile.inf = InfPolicy::saturate;
      list.push_back(profile);
    }
    return list;
  }();
  return all;
}

bool refuses_inputs(const Profile& profile) {
  return profile.nan == NanPolicy::error || profile.inf == InfPolicy::error;
}

// --- Inputs ----------------------------------------------------------------------------------------------------------

/// A few binades around 1 with outlier columns, zeros, and many equal magnitudes: rankings meet ties.
std::vector<std::byte> tame_matrices(DType dtype, const MatrixShape& shape, std::uint64_t seed) {
  std::vector<std::byte> bytes;
  for (std::int64_t i = 0; i < shape.elements(); ++i) {
    const std::uint32_t word = random_word(seed, Stream::cases, 0, static_cast<std::uint64_t>(i));
    const std::int64_t row = i / shape.columns % shape.rows;
    const std::uint32_t sign = word >> 31;
    const std::uint32_t exponent = 11 + (word & 7U) + (i % shape.columns % 29 == 5 ? 6 : 0);
    const std::uint32_t mantissa = row % 3 == 0 ? (word >> 3) & 0x300U : (word >> 3) & 0x3FFU;
    const bool is_zero = (word >> 20) % 16 == 0;
    std::uint32_t half = sign << 15 | (is_zero ? 0U : exponent << 10 | mantissa);
    std::uint32_t single = sign << 31 | (is_zero ? 0U : (exponent + 112) << 23 | mantissa << 13);
    if (dtype == DType::bf16) half = single >> 16;
    const auto* first = reinterpret_cast<const std::byte*>(dtype == DType::f32 ? &single : &half);
    bytes.insert(bytes.end(), first, first + bytes_of(dtype));
  }
  return bytes;
}

/// Groups of words of one kind each: ordinary, subnormal, near the ends of the format, uniform with NaN and infinity.
std::vector<std::byte> wild_matrices(DType dtype, const MatrixShape& shape, std::uint64_t seed) {
  const std::vector<std::byte> tame = tame_matrices(dtype, shape, seed);
  std::vector<std::byte> bytes = tame;
  const auto size = static_cast<std::size_t>(bytes_of(dtype));
  for (std::size_t i = 0; i < bytes.size() / size; ++i) {
    const std::uint32_t a = random_word(seed, Stream::cases, 1, i);
    const std::uint32_t kind = random_word(seed, Stream::cases, 2, i / 48) % 12;
    std::uint8_t top = static_cast<std::uint8_t>(bytes[(i + 1) * size - 1]);
    if (kind == 0) top = static_cast<std::uint8_t>((top & 0x80U) | (a & 1U));
    if (kind == 1) top = static_cast<std::uint8_t>((top & 0x80U) | 0x7AU | (a & 1U));
    if (kind == 2 && a % 7 == 0) top = static_cast<std::uint8_t>(a);
    if (kind == 3 && a % 40 == 0) top |= 0x7FU;
    bytes[(i + 1) * size - 1] = std::byte{top};
    if (kind == 3 && a % 40 == 0) {  // an infinity or a NaN
      const bool infinite = a % 80 == 0;
      for (std::size_t k = 0; k + 1 < size; ++k) bytes[i * size + k] = std::byte{0};
      const std::uint32_t below = dtype == DType::f16 ? 0x7CU : 0x7FU;
      bytes[(i + 1) * size - 1] = std::byte{static_cast<std::uint8_t>((top & 0x80U) | below)};
      if (dtype != DType::f16) bytes[(i + 1) * size - 2] = std::byte{static_cast<std::uint8_t>(infinite ? 0x80 : 0xC0)};
      if (dtype == DType::f16 && !infinite) bytes[i * size] = std::byte{1};
    }
  }
  return bytes;
}

// --- Answers ---------------------------------------------------------------------------------------------------------

struct Case {
  CorrectionStack stack;
  Profile profile;
  DType dtype;
  MatrixShape shape;
  std::vector<std::byte> input;

  std::string text() const {
    return std::string(stack.name) + " on " + std::string(profile.name) + ", " + name_of_dtype(dtype) + " [" +
           std::to_string(shape.batch) + ", " + std::to_string(shape.rows) + ", " + std::to_string(shape.columns) +
           "] axis " + std::to_string(shape.axis);
  }
};

struct Part {
  Bytes codes;
  Bytes scales;
  Bytes macro;
  std::vector<float> tensor_scales;
};

struct Answer {
  Part first;
  Part residual;
  std::vector<float> values;
};

constexpr RandomSource philox_source = {0x5EED0123456789ULL, Stream::sr_weight, 41, nullptr};
constexpr std::uint32_t product_number = 9;

void append(const portable::CodedPart& from, Part& to) {
  const auto join = [](Bytes& all, const Bytes& more) { all.insert(all.end(), more.begin(), more.end()); };
  join(to.codes, from.quantized.codes);
  join(to.scales, from.quantized.scales);
  join(to.macro, from.macro);
  to.tensor_scales.push_back(from.quantized.tensor_scale);
}

/// Each matrix by itself on the CPU.
Answer expected_answer(const Case& c, std::span<const std::uint32_t> words) {
  const std::vector<std::int64_t> extents = {c.shape.rows, c.shape.columns};
  const auto elements = static_cast<std::size_t>(c.shape.rows * c.shape.columns);
  Answer answer;
  for (std::size_t b = 0; b < static_cast<std::size_t>(c.shape.batch); ++b) {
    portable::CorrectOptions options;
    options.quantize.axis = c.shape.axis;
    options.quantize.tail = portable::Tail::pad;
    options.quantize.random_words = words.subspan(b * elements, elements);
    options.product = product_number;
    const portable::TensorView view{portable_dtype(c.dtype), extents,
                                    c.input.data() + b * elements * static_cast<std::size_t>(bytes_of(c.dtype))};
    const auto matrix = portable::correct(c.profile, c.stack, view, options);
    if (!matrix) throw std::runtime_error(matrix.error().message);
    append(matrix->first, answer.first);
    if (matrix->residual) append(*matrix->residual, answer.residual);
    const std::vector<float> values = portable::dequantize(*matrix);
    answer.values.insert(answer.values.end(), values.begin(), values.end());
  }
  return answer;
}

/// The arrays of one part in device memory.
struct DevicePart {
  DeviceArray<std::uint8_t> codes;
  DeviceArray<std::uint8_t> scales;
  DeviceArray<std::uint8_t> macro;
  DeviceArray<float> tensor_scales;

  DevicePart(const CorrectionStack& stack, const CodedShape& shape)
      : codes(static_cast<std::size_t>(shape.code_bytes())),
        scales(static_cast<std::size_t>(shape.scale_bytes())),
        macro(static_cast<std::size_t>(shape.batch * shape.lines * macro_blocks(stack.macro, shape.padded_length()))),
        tensor_scales(static_cast<std::size_t>(shape.batch)) {}

  CodedPart part() const { return {{codes.get(), scales.get(), tensor_scales.get()}, macro.get()}; }
  Part values() const { return {codes.values(), scales.values(), macro.values(), tensor_scales.values()}; }
  bool margins_are_whole() const {
    return codes.margin_is_whole() && scales.margin_is_whole() && macro.margin_is_whole() &&
           tensor_scales.margin_is_whole();
  }
};

/// Everything that a call on the device needs.
class DeviceCall {
 public:
  DeviceCall(const Case& c, const RandomSource& random)
      : shape_(coded_shape(c.stack.effective(c.profile), c.shape)),
        input_(std::span(c.input)),
        first_(c.stack, shape_),
        residual_(c.stack, shape_),
        values_(static_cast<std::size_t>(c.shape.elements())),
        job_{c.profile, c.stack, c.dtype, c.shape, input_.get(), random, product_number},
        workspace_(correct_workspace(job_)),
        output_{first_.part(), residual_.part(), values_.get()} {}

  bool is_packed() const { return takes_residual_packed(job_, output_); }
  Status run(cudaStream_t stream) const { return correct(job_, output_, workspace_.get(), workspace_.bytes(), stream); }

  Answer answer() const {
    EXPECT_TRUE(first_.margins_are_whole() && residual_.margins_are_whole());
    EXPECT_TRUE(values_.margin_is_whole() && workspace_.margin_is_whole());
    return {first_.values(), residual_.values(), values_.values()};
  }

 private:
  CodedShape shape_;
  DeviceArray<std::byte> input_;
  DevicePart first_;
  DevicePart residual_;
  DeviceArray<float> values_;
  CorrectJob job_;
  DeviceArray<std::uint8_t> workspace_;
  Corrected output_;
};

template <class Value>
void expect_same(const std::vector<Value>& ours, const std::vector<Value>& wanted, const char* what) {
  ASSERT_EQ(ours.size(), wanted.size()) << what;
  std::size_t different = 0;
  std::size_t first = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    if (std::memcmp(&ours[i], &wanted[i], sizeof(Value)) == 0) continue;
    if (different++ == 0) first = i;
  }
  EXPECT_EQ(different, 0U) << what << ": the first is " << first << ", " << +ours[first] << " in place of "
                           << +wanted[first];
}

void expect_same_part(const Case& c, const Part& ours, const Part& wanted, const char* name) {
  const std::string what(name);
  expect_same(ours.codes, wanted.codes, (what + " codes").c_str());
  expect_same(ours.scales, wanted.scales, (what + " scales").c_str());
  expect_same(ours.macro, wanted.macro, (what + " macro bytes").c_str());
  if (c.profile.family == Family::nvfp4 && c.profile.tensor_scale) {
    expect_same(ours.tensor_scales, wanted.tensor_scales, (what + " tensor scales").c_str());
  }
}

void expect_same_answer(const Case& c, const Answer& ours, const Answer& wanted) {
  expect_same_part(c, ours.first, wanted.first, "first");
  if (c.stack.residual.is_on()) expect_same_part(c, ours.residual, wanted.residual, "residual");
  expect_same(ours.values, wanted.values, "values");
}

void check(const Case& c) {
  SCOPED_TRACE(c.text());
  const std::vector<std::uint32_t> words = philox_words(philox_source, c.shape.elements());
  const Answer wanted = expected_answer(c, words);
  const DeviceCall call(c, philox_source);
  ASSERT_EQ(call.run(nullptr), Status::ok);
  expect_same_answer(c, call.answer(), wanted);
  if (c.stack.effective(c.profile).rounding != Rounding::stochastic) return;
  const DeviceArray<std::uint32_t> given{std::span(words)};
  const DeviceCall by_words(c, {1, Stream::init, 0, given.get()});
  ASSERT_EQ(by_words.run(nullptr), Status::ok);
  expect_same_answer(c, by_words.answer(), wanted);
}

Case make_case(const CorrectionStack& stack, const Profile& profile, DType dtype, MatrixShape shape, int kind) {
  if (const int g = stack.hadamard.size; g != 0) {
    std::int64_t& length = shape.axis == 1 ? shape.columns : shape.rows;
    length = (length + g - 1) / g * g;
  }
  const std::uint64_t seed = static_cast<std::uint64_t>(shape.elements() * 8 + kind);
  Case c{stack, profile, dtype, shape, {}};
  c.input = kind == 0   ? tame_matrices(dtype, shape, seed)
            : kind == 1 ? wild_matrices(dtype, shape, seed)
                        : random_matrices(stack.effective(profile), dtype, shape, seed);
  return c;
}

using Names = std::span<const char* const>;
constexpr const char* long_profiles[] = {"mxfp4/ocp", "mxfp4/rceil", "mxfp4/even",
                                         "hif4/gcc",  "hif4-2d/gcc", "nvfp4/tensor-scale"};
constexpr const char* few_profiles[] = {"mxfp4/ocp", "mxfp4/rceil", "mxfp4/even", "nvfp4/direct"};

/// Those of the profiles that the stack suits.
std::vector<const Profile*> suited(const CorrectionStack& stack, Names names) {
  std::vector<const Profile*> profiles;
  for (const char* name : names) {
    if (stack_refusal(*find_profile(name), stack) == nullptr) profiles.push_back(find_profile(name));
  }
  return profiles;
}

TEST(Correct, EveryStackSuitsAProfileOfTheTests) {
  for (const CorrectionStack& stack : stacks()) {
    for (const Names names : {Names(long_profiles), Names(few_profiles)}) {
      EXPECT_FALSE(suited(stack, names).empty()) << stack.name;
    }
  }
}

// --- On the device ---------------------------------------------------------------------------------------------------

class CorrectOnDevice : public testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override {
    if (!has_device()) GTEST_SKIP() << "no CUDA device";
  }
  const CorrectionStack& stack() const { return stacks()[GetParam()]; }
};

TEST_P(CorrectOnDevice, GivesTheBitsOfTheReference) {
  constexpr MatrixShape shapes[] = {{1, 67, 192, 1}, {2, 33, 200, 1}, {3, 40, 45, 1}, {2, 128, 38, 0}, {1, 203, 37, 0},
                                    {1, 1, 333, 1},  {5, 9, 64, 0},   {1, 130, 7, 1}, {1, 64, 129, 0}, {2, 3, 1, 1}};
  constexpr DType dtypes[] = {DType::bf16, DType::f32, DType::f16};
  constexpr std::size_t cases_of_pair = 5;
  std::size_t turn = 3 * GetParam();
  int pairs = 0;
  for (const Profile& profile : subject_profiles()) {
    if (stack_refusal(profile, stack()) != nullptr || refuses_inputs(profile)) continue;
    ++pairs;
    for (std::size_t i = 0; i < cases_of_pair; ++i, ++turn) {
      const int kind = static_cast<int>(turn / 7 % 3);
      check(make_case(stack(), profile, dtypes[turn / 2 % 3], shapes[turn % std::size(shapes)], kind));
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(pairs, 0);
  RecordProperty("pairs", pairs);
}

TEST_P(CorrectOnDevice, GivesTheBitsOfTheReferenceOnLongLines) {
  for (const Profile* profile : suited(stack(), long_profiles)) {
    check(make_case(stack(), *profile, DType::bf16, {1, 96, 4096, 1}, 0));
    check(make_case(stack(), *profile, DType::bf16, {1, 2048, 96, 0}, 1));
  }
}

/// bfloat16 lines of which each has its largest exponent: all of them, one after the other. The other elements stand up
/// to 13 binades below it, some are -0.
std::vector<std::byte> all_exponents(const MatrixShape& shape, std::uint64_t seed) {
  std::vector<std::byte> bytes;
  for (std::int64_t i = 0; i < shape.elements(); ++i) {
    const std::uint32_t word = random_word(seed, Stream::cases, 0, static_cast<std::uint64_t>(i));
    const auto top = static_cast<std::uint32_t>(i / shape.columns % 255);
    const std::uint32_t below = (word >> 16) % 14;
    const std::uint32_t field = top > below ? top - below : 0;
    const std::uint32_t half =
        (word & 0x8000U) | ((word >> 24) % 23 == 0 ? 0 : field << 7 | (word & ((word >> 23) % 2 == 0 ? 0x7FU : 0x60U)));
    bytes.push_back(std::byte{static_cast<std::uint8_t>(half)});
    bytes.push_back(std::byte{static_cast<std::uint8_t>(half >> 8)});
  }
  return bytes;
}

TEST(PackedResiduals, GiveTheBitsOfTheReferenceAtEveryExponent) {
  if (!has_device()) GTEST_SKIP() << "no CUDA device";
  for (const char* name : {"mxfp4/ocp", "mxfp4/ceil", "mxfp4/rceil", "mxfp4/even", "mxfp4/nearest", "hif4/gcc"}) {
    for (const char* stack : {"resq", "fallback", "rfq"}) {
      for (const MatrixShape& shape : {MatrixShape{1, 255 * 40, 64, 1}, MatrixShape{3, 255, 192, 1}}) {
        Case c{*find_correction_stack(stack), *find_profile(name), DType::bf16, shape, {}};
        c.input = all_exponents(shape, static_cast<std::uint64_t>(shape.rows));
        EXPECT_TRUE(DeviceCall(c, philox_source).is_packed()) << c.text();
        check(c);
      }
    }
  }
}

TEST(PackedResiduals, GiveTheBitsOfTheReferenceOnAnyWords) {
  if (!has_device()) GTEST_SKIP() << "no CUDA device";
  for (const char* name : {"mxfp4/ocp", "mxfp4/rceil", "mxfp4/even", "hif4/gcc"}) {
    for (const MatrixShape& shape : {MatrixShape{1, 1, 64, 1}, MatrixShape{2, 5, 64, 1}, MatrixShape{1, 33, 2112, 1}}) {
      for (const int kind : {0, 1, 2}) {
        const Case c = make_case(*find_correction_stack("resq"), *find_profile(name), DType::bf16, shape, kind);
        EXPECT_TRUE(DeviceCall(c, philox_source).is_packed()) << c.text();
        check(c);
      }
    }
  }
}

TEST_P(CorrectOnDevice, NothingIsDoneWithoutElements) {
  for (const MatrixShape& shape : {MatrixShape{0, 4, 64, 1}, MatrixShape{2, 0, 64, 1}, MatrixShape{2, 64, 0, 0}}) {
    for (const Profile* profile : suited(stack(), few_profiles)) {
      const Case c{stack(), *profile, DType::bf16, shape, {}};
      SCOPED_TRACE(c.text());
      EXPECT_EQ(DeviceCall(c, philox_source).run(nullptr), Status::ok);
    }
  }
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

TEST_P(CorrectOnDevice, ACapturedCallGivesTheSame) {
  for (const Profile* profile : suited(stack(), few_profiles)) {
    const Case c = make_case(stack(), *profile, DType::bf16, {2, 64, 80, 0}, 0);
    SCOPED_TRACE(c.text());
    const DeviceCall call(c, philox_source);
    cudaStream_t stream = nullptr;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t instance = nullptr;
    require(cudaStreamCreate(&stream));
    require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    EXPECT_EQ(call.run(stream), Status::ok);
    require(cudaStreamEndCapture(stream, &graph));
    require(cudaGraphInstantiate(&instance, graph, 0));
    for (int time = 0; time < 2; ++time) require(cudaGraphLaunch(instance, stream));
    require(cudaStreamSynchronize(stream));
    expect_same_answer(c, call.answer(), expected_answer(c, philox_words(philox_source, c.shape.elements())));
    require(cudaGraphExecDestroy(instance));
    require(cudaGraphDestroy(graph));
    require(cudaStreamDestroy(stream));
  }
}

INSTANTIATE_TEST_SUITE_P(Stacks, CorrectOnDevice, testing::Range(std::size_t{0}, stacks().size()),
                         [](const auto& subject) {
                           std::string name(stacks()[subject.param].name);
                           std::replace_if(
                               name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
                           return name;
                         });

// --- Refusals, which need no device ----------------------------------------------------------------------------------

/// A call on pointers that nobody follows: it must be refused before anything is launched.
struct HostCall {
  CorrectJob job;
  Corrected output;
  std::size_t workspace_bytes = std::size_t{1} << 30;

  HostCall(std::string_view profile, std::string_view stack) {
    job.profile = *find_profile(profile);
    job.stack = *find_correction_stack(stack);
    job.shape = {1, 64, 128, 1};
    const auto place = [](std::uintptr_t address) { return reinterpret_cast<void*>(address); };
    job.input = place(0x1000);
    const CodedPart part{{static_cast<std::uint8_t*>(place(0x2000)), static_cast<std::uint8_t*>(place(0x3000)),
                          static_cast<float*>(place(0x4000))},
                         static_cast<std::uint8_t*>(place(0x5000))};
    output = {part, part, static_cast<float*>(place(0x6000))};
  }
  Status run() const { return correct(job, output, reinterpret_cast<void*>(0x10000), workspace_bytes, nullptr); }
};

TEST(CorrectRefusals, WhatTheRulesRefuseIsUnsupported) {
  int refused = 0;
  for (const CorrectionStack& stack : correction_stacks()) {
    for (const Profile& profile : profiles()) {
      if (portable::check_stack(profile, stack).ok()) continue;
      ++refused;
      EXPECT_EQ(HostCall(profile.name, stack.name).run(), Status::unsupported) << stack.name << profile.name;
    }
  }
  EXPECT_GT(refused, 500);
}

TEST(CorrectRefusals, ContradictionsAreInvalid) {
  const auto expect_invalid = [](const char* profile, const char* stack, auto spoil) {
    HostCall call(profile, stack);
    spoil(call);
    EXPECT_EQ(call.run(), Status::invalid) << stack;
  };
  expect_invalid("mxfp4/ocp", "hadamard-64", [](HostCall& c) { c.job.shape.columns = 96; });
  expect_invalid("mxfp4/ocp", "hadamard-16", [](HostCall& c) { c.job.shape = {1, 40, 64, 0}; });
  expect_invalid("mxfp4/ocp", "hadamard-16", [](HostCall& c) { ++c.output.values; });
  expect_invalid("mxfp4/ocp", "resq", [](HostCall& c) { c.job.shape.axis = 2; });
  expect_invalid("mxfp4/ocp", "resq", [](HostCall& c) { c.job.shape.rows = -1; });
  expect_invalid("mxfp4/ocp", "resq", [](HostCall& c) { c.job.shape.rows = c.job.shape.columns = INT64_MAX; });
  expect_invalid("mxfp4/ocp", "resq", [](HostCall& c) { c.job.profile.block = {0, 0}; });
  expect_invalid("mxfp4/ocp", "resq", [](HostCall& c) { c.job.input = nullptr; });
  expect_invalid("mxfp4/ocp", "resq", [](HostCall& c) { c.output.first.coded.codes = nullptr; });
  expect_invalid("mxfp4/ocp", "resq", [](HostCall& c) { c.output.residual.coded.scales = nullptr; });
  expect_invalid("mxfp4/ocp", "resq", [](HostCall& c) { ++c.output.residual.coded.codes; });
  expect_invalid("mxfp4/rceil", "mbs+resq", [](HostCall& c) { c.output.residual.macro = nullptr; });
  expect_invalid("nvfp4/tensor-scale", "resq", [](HostCall& c) { c.output.first.coded.tensor_scales = nullptr; });
}

TEST(CorrectRefusals, NoWorkspaceIsNeededForThem) {
  CorrectJob job = HostCall("mxfp4/ocp", "resq-tiles").job;
  EXPECT_GT(correct_workspace(job), 0U);
  job.stack.residual.tile_cols = 0;
  EXPECT_EQ(correct_workspace(job), 0U);
  job = HostCall("mxfp4/ocp", "resq").job;
  job.profile.block = {0, 0};
  EXPECT_EQ(correct_workspace(job), 0U);
}

TEST(CorrectRefusals, ASmallWorkspaceIsTold) {
  for (const CorrectionStack& stack : correction_stacks()) {
    if (!portable::check_stack(*find_profile("mxfp4/ocp"), stack).ok()) continue;
    HostCall call("mxfp4/ocp", stack.name);
    const std::size_t needed = correct_workspace(call.job);
    if (needed == 0) continue;
    call.workspace_bytes = needed - 1;
    EXPECT_EQ(call.run(), Status::small_workspace) << stack.name;
  }
}

}  // namespace
}  // namespace fp4proof::gpu
