// Faults that were reported in public, each with its smallest input. docs/wild-bugs.md tells the stories;
// tests/oracle/wild_bugs_test.cpp holds the right answers, typed by hand.

#include <array>
#include <cmath>

#include "conformance/suite/class_tables.h"
#include "conformance/suite/drafts.h"
#include "formats/packing.h"

namespace fp4proof::suite {

namespace {

template <Element E>
constexpr bool has_element(const Profile& profile) {
  return is_mx(profile) && profile.element == E;
}

constexpr bool is_mxfp4(const Profile& profile) { return has_element<Element::e2m1>(profile); }

/// Rows that start with the given values, zeros behind them.
Blocks rows_of_values(const CaseContext& context, std::initializer_list<std::initializer_list<double>> values) {
  Blocks rows;
  for (const auto& list : values) {
    Words row;
    for (const double value : list) row.push_back(word_of(value));
    row.resize(row_length(context.profile), 0);
    rows.push_back(std::move(row));
  }
  return rows;
}

Blocks flydsl_590(const CaseContext& context) { return rows_of_values(context, {{1.0, 0.5, -0.25, 0.9375}}); }
Blocks mlx_4353(const CaseContext& context) { return rows_of_values(context, {{600.0, -600.0, 448.0, 1.0}}); }
Blocks microxcaling_4(const CaseContext& context) { return rows_of_values(context, {{960.0, 957.0, -957.0}}); }
Blocks microxcaling_11(const CaseContext& context) { return rows_of_values(context, {{65536.0, 32768.0, -49152.0}}); }
Blocks ao_2939(const CaseContext& context) { return rows_of_values(context, {{0.5, 6.0}}); }
Blocks onnx_7784(const CaseContext& context) {
  return rows_of_values(context, {{1.125 * 4}, {1.25 * 4}, {5.0 * 4}, {0x1p-127 * 4}});
}
Blocks ml_dtypes_298(const CaseContext& context) { return rows_of_values(context, {{18.0}, {4.5}}); }
Blocks flashinfer_3387(const CaseContext& context) {
  return rows_of_values(context, {{6.0 * 0x1p-127, 0x1p-127},
                                  {0x1p-149, 0x1p-149},
                                  {0x1.800002p-125, 0x1p-140},
                                  {6.0, 2.5, 0x1.400002p+1, 0x1.3ffffep+1}});
}
Blocks tt_metal_51971(const CaseContext& context) { return rows_of_values(context, {{6.0, 0x1.000002p-2, 0.25}}); }
Blocks compressed_tensors_538(const CaseContext& context) { return rows_of_values(context, {{4.0, 1.0}}); }
Blocks rocm_systems_2461(const CaseContext& context) { return rows_of_values(context, {{0x1p-149}, {0x1p-130}}); }
Blocks rocm_systems_10593(const CaseContext& context) {
  return rows_of_values(context, {{32768.0, 3.3e-24, -3.3e-24, 1e-38}});
}

Blocks triton_6054(const CaseContext& context) {
  Words row;
  while (row.size() < row_length(context.profile)) {
    for (const double value : {6.0, 0.0, 0.24, 0.25, 0.75, 0.99, 1.2, 1.3}) row.push_back(word_of(value));
  }
  return {row};
}

Blocks ao_4201(const CaseContext& context) {
  const std::size_t length = row_length(context.profile);
  return {row_with(context.profile, 0x3F800000U, length - 1, 0x7FC00000U),
          row_with(context.profile, 0x3F800000U, length / 2, 0xFFC00000U)};
}

/// Row r, block c of a 34 x 4 grid of scales: enough to tell the layouts of 128x4 tiles apart at r = 33, c = 2.
std::vector<CaseInput> cuda_samples_248(const CaseContext& context) {
  if (context.level == Level::smoke) return {};
  GroupSpec spec;
  spec.rows = 34;
  spec.columns = 4 * context.profile.block.cols;
  Words words;
  for (int block = 0; block < 34 * 4; ++block) {
    words.insert(words.end(), row_length(context.profile), word_of(std::ldexp(1.0, block - 60)));
  }
  return {matrix_case(spec, words)};
}

/// Stochastic rounding at 2.5: the lower neighbour with random value 0, the upper one with the largest of 8 bits.
std::vector<CaseInput> transformer_engine_3281(const CaseContext& context) {
  Words row(row_length(context.profile), word_of(2.5));
  row[0] = word_of(6.0);
  row[3] = word_of(3.0);
  Words random(row.size(), 0);
  for (std::size_t i = 0; i < random.size(); i += 2) random[i] = 255U << 24;
  random[3] = 0xFFFFFFFFU;
  return cases_of_rows(context.profile, {row}, {random});
}

CaseInput coded_block(const Profile& profile, std::initializer_list<std::uint8_t> first_codes, std::uint8_t scale) {
  CaseInput input;
  input.spec = block_spec(profile);
  std::vector<std::uint8_t> codes(first_codes);
  codes.resize(row_length(profile), 0);
  if (element_spec(profile.element).is_nibble()) {
    std::vector<std::uint8_t> packed(codes.size() / 2);
    pack_nibbles(NibbleOrder::even_low, codes.data(), codes.size(), packed.data());
    codes = std::move(packed);
  }
  input.tensors.emplace("codes", std::move(codes));
  input.tensors.emplace("scales", std::vector<std::uint8_t>{scale});
  if (profile.tensor_scale) input.tensors.emplace("tensor_scale", bytes_of_words(std::array{0x3F800000U}));
  return input;
}

std::vector<CaseInput> triton_5197(const CaseContext& context) { return {coded_block(context.profile, {1, 7}, 127)}; }
std::vector<CaseInput> llvm_214919(const CaseContext& context) { return {coded_block(context.profile, {2, 10}, 255)}; }
std::vector<CaseInput> transformer_engine_3262(const CaseContext& context) {
  return {coded_block(context.profile, {0x38, 0xB8}, 0), coded_block(context.profile, {0x38}, 255)};
}
std::vector<CaseInput> sglang_25519(const CaseContext& context) {
  return {coded_block(context.profile, {2}, 134), coded_block(context.profile, {2}, 255)};
}
std::vector<CaseInput> omlx_2159(const CaseContext& context) { return {coded_block(context.profile, {2}, 120)}; }
std::vector<CaseInput> rocm_libraries_7439(const CaseContext& context) {
  return {coded_block(context.profile, {2, 8, 10}, 0x39)};
}

template <Operation O>
constexpr CaseClass wild(std::string_view name, std::string_view bug, bool (*applies)(const Profile&),
                         std::vector<CaseInput> (*make)(const CaseContext&)) {
  return {name, bug, O, applies, make};
}

constexpr auto quantizes = wild<Operation::quantize>;
constexpr auto dequantizes = wild<Operation::dequantize>;

constexpr bool is_mxfp4_stochastic(const Profile& profile) { return is_mxfp4(profile) && is_stochastic(profile); }

constexpr std::array wild_table = {
    quantizes("wild-flydsl-590", "The scale is nearest(amax / max), one step low on most E2M3 blocks.",
              has_element<Element::e2m3>, rows_of<flydsl_590>),
    quantizes("wild-mlx-4353", "One back end rounds the scale to nearest and clips, another rounds it up.",
              has_element<Element::e4m3>, rows_of<mlx_4353>),
    quantizes("wild-microxcaling-4", "957 clips to 896 under the floor rule; that is right, and only there.",
              has_element<Element::e4m3>, rows_of<microxcaling_4>),
    quantizes("wild-microxcaling-11", "The power of two of the scale is inexact on a GPU.", is_mxfp4,
              rows_of<microxcaling_11>),
    quantizes("wild-ao-2939", "The first element stands in the high nibble.", is_mxfp4, rows_of<ao_2939>),
    quantizes("wild-onnx-7784", "The mask of the rounding up to a power of two misses a bit: 1.125 becomes 1.",
              is_mxfp4, rows_of<onnx_7784>),
    quantizes("wild-ml-dtypes-298", "Ties of the nearest power of two all go up.", is_mxfp4, rows_of<ml_dtypes_298>),
    quantizes("wild-flashinfer-3387", "Fast-math changes blocks with subnormals and values near ties.", is_mxfp4,
              rows_of<flashinfer_3387>),
    quantizes("wild-tt-metal-51971", "The sticky bit is dropped: one unit above the tie 0.25 rounds to zero.", is_mxfp4,
              rows_of<tt_metal_51971>),
    quantizes("wild-compressed-tensors-538", "Scales are stored with bias 125.", is_mxfp4,
              rows_of<compressed_tensors_538>),
    quantizes("wild-rocm-systems-2461", "A tiny maximum wraps to a huge scale, or NaN.", is_mxfp4,
              rows_of<rocm_systems_2461>),
    quantizes("wild-rocm-systems-10593", "A shift by 64 or more turns an underflow into a large code.",
              has_element<Element::e5m2>, rows_of<rocm_systems_10593>),
    quantizes("wild-triton-6054", "Two public quantizers disagree on ties.", is_mxfp4, rows_of<triton_6054>),
    quantizes("wild-ao-4201", "The maximum drops a NaN, so the block looks finite.", any_profile, rows_of<ao_4201>),
    quantizes(
        "wild-cuda-samples-248", "Scales are read by the wrong formula of the 128x4 tile.",
        [](const Profile& profile) { return profile.name == "mxfp4/ocp"; }, cuda_samples_248),
    quantizes("wild-transformer-engine-3281", "Stochastic rounding gives zeros, or never goes up.", is_mxfp4_stochastic,
              transformer_engine_3281),
    dequantizes("wild-triton-5197", "Upcasting takes the high nibble first.", is_mxfp4, triton_5197),
    dequantizes("wild-llvm-214919", "Scale code 255 widens to infinity.", is_mxfp4, llvm_214919),
    dequantizes("wild-transformer-engine-3262", "Scale code 0 decodes to zero, 255 to infinity.",
                has_element<Element::e4m3>, transformer_engine_3262),
    dequantizes("wild-sglang-25519", "The NaN test is made on the decoded scale: 128.0 becomes NaN, 255 infinity.",
                is_mxfp4, sglang_25519),
    dequantizes("wild-omlx-2159", "The scale byte itself is used as a number.", is_mxfp4, omlx_2159),
    dequantizes("wild-rocm-libraries-7439", "An E4M3 scale is decoded as an exponent, and -0 loses its sign.", is_nvfp4,
                rocm_libraries_7439),
};

}  // namespace

std::span<const CaseClass> wild_classes() { return wild_table; }

}  // namespace fp4proof::suite
