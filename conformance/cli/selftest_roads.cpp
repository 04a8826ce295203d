// The roads to the same bits: fast code, scalar codec, oracle.

#include <fmt/format.h>
#include <omp.h>

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "conformance/cli/selftest_checks.h"
#include "conformance/suite/make_table.h"
#include "formats/block_codec.h"
#include "formats/packing.h"
#include "formats/philox.h"
#include "formats/spec_profiles.h"
#include "reference/exact/block.h"
#include "reference/exact/gemm.h"
#include "reference/portable/dequantize.h"
#include "reference/portable/gemm.h"
#include "reference/portable/quantize.h"

namespace fp4proof::cli {

namespace {

using portable::Geometry;

std::vector<std::uint32_t> words_of(Bytes bytes) { return copy_elements<std::uint32_t>(bytes); }

/// The tensors of one quantize case, and its answer by the fast road.
struct Case {
  const Profile& profile;
  Geometry geometry;
  std::vector<std::uint32_t> input;
  std::vector<std::uint32_t> random;  // empty where the profile draws none
  Bytes codes;
  Bytes scales;
  std::uint32_t tensor_scale = float_bits(1.0F);

  std::uint8_t code(std::int64_t row, std::int64_t column) const {
    const std::uint8_t* bytes = codes.data() + row * geometry.code_bytes_per_row;
    if (!element_spec(profile.element).is_nibble()) return bytes[column];
    return static_cast<std::uint8_t>((bytes[column / 2] >> (4 * (column & 1))) & 0xF);
  }

  std::uint32_t scale_word(std::int64_t row, std::int64_t block) const {
    const int width = scale_bytes(profile.family);
    const std::uint8_t* bytes = scales.data() + row * geometry.scale_bytes_per_row + block * width;
    return width == 4 ? load_le32(bytes) : bytes[0];
  }

  /// One block of a matrix of words.
  std::vector<std::uint32_t> block_of(const std::vector<std::uint32_t>& matrix, std::int64_t row,
                                      std::int64_t block) const {
    std::vector<std::uint32_t> words;
    if (matrix.empty()) return words;
    for (std::int64_t r = row; r < row + profile.block.rows; ++r) {
      const auto first = matrix.begin() + r * geometry.columns + block * profile.block.cols;
      words.insert(words.end(), first, first + profile.block.cols);
    }
    return words;
  }
};

/// A block as codes, one scale word a row, and decoded words.
struct Answer {
  std::vector<std::uint8_t> codes;
  std::vector<std::uint32_t> row_scales;
  std::vector<std::uint32_t> values;
  bool operator==(const Answer&) const = default;
};

Answer fast_answer(const Case& one, std::int64_t row, std::int64_t block, std::span<const float> values) {
  Answer answer;
  for (std::int64_t r = row; r < row + one.profile.block.rows; ++r) {
    answer.row_scales.push_back(one.scale_word(r, block));
    for (std::int64_t c = block * one.profile.block.cols; c < (block + 1) * one.profile.block.cols; ++c) {
      answer.codes.push_back(one.code(r, c));
      answer.values.push_back(float_bits(values[static_cast<std::size_t>(r * one.geometry.columns + c)]));
    }
  }
  return answer;
}

std::optional<Answer> scalar_answer(const Case& one, std::int64_t row, std::int64_t block) {
  const Profile& profile = one.profile;
  const std::vector<std::uint32_t> words = one.block_of(one.input, row, block);
  const std::vector<std::uint32_t> random = one.block_of(one.random, row, block);
  Answer answer{std::vector<std::uint8_t>(words.size()), std::vector<std::uint32_t>(profile.block.rows), {}};
  const float tensor_scale = float_from_bits(one.tensor_scale);
  const BlockStatus status = encode_block(profile, {words.data(), random.empty() ? nullptr : random.data(),
                                                    tensor_scale, answer.row_scales.data(), answer.codes.data()});
  if (status != BlockStatus::ok) return std::nullopt;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t r = i / profile.block.cols;
    const auto column = static_cast<int>(i % profile.block.cols);
    answer.values.push_back(
        float_bits(decode_block_element(profile, answer.row_scales[r], tensor_scale, column, answer.codes[i])));
  }
  return answer;
}

std::optional<Answer> oracle_answer(const Case& one, std::int64_t row, std::int64_t block) {
  Profile profile = one.profile;
  profile.micro_order = MicroOrder::lsb_first;
  const exact::EncodedBlock encoded = exact::encode_block(profile, one.block_of(one.input, row, block),
                                                          one.block_of(one.random, row, block), one.tensor_scale);
  if (encoded.rejected) return std::nullopt;
  Answer answer{encoded.codes, {}, exact::decode_block(profile, encoded, one.tensor_scale)};
  for (int r = 0; r < profile.block.rows; ++r) {
    const bool groups = profile.family == Family::hif4;
    answer.row_scales.push_back(groups ? load_le32(exact::hif4_scale_bytes(profile, encoded, r).data())
                                       : encoded.scale);
  }
  return answer;
}

std::string case_problem(const Case& one, std::size_t& blocks) {
  std::vector<float> values(one.input.size());
  portable::dequantize_rows(one.profile, one.geometry, float_from_bits(one.tensor_scale), one.geometry.rows, one.codes,
                            one.scales, values);
  for (std::int64_t row = 0; row < one.geometry.rows; row += one.profile.block.rows) {
    for (std::int64_t block = 0; block < one.geometry.blocks; ++block) {
      ++blocks;
      const Answer fast = fast_answer(one, row, block, values);
      if (scalar_answer(one, row, block) != fast) return "the fast road and the scalar codec differ";
      if (oracle_answer(one, row, block) != fast) return "the fast road and the oracle differ";
    }
  }
  return {};
}

std::string group_problem(const Profile& profile, const suite::CaseGroup& group, std::size_t& blocks) {
  const Result<Geometry> geometry = suite::case_geometry(profile, group.spec);
  if (!geometry) return geometry.error().message;
  const bool whole_blocks = geometry->columns == geometry->padded_columns && geometry->rows % profile.block.rows == 0;
  if (group.spec.axis != 1 || !whole_blocks) return {};
  for (std::size_t i = 0; i < group.size(); ++i) {
    Case one{profile,
             *geometry,
             words_of(group.find("input")->of_case(i)),
             {},
             group.find("codes")->of_case(i),
             group.find("scales")->of_case(i)};
    if (const suite::CaseTensor* random = group.find("random"); random != nullptr) {
      one.random = words_of(random->of_case(i));
    }
    if (const suite::CaseTensor* scale = group.find("tensor_scale"); scale != nullptr) {
      one.tensor_scale = words_of(scale->of_case(i)).front();
    }
    if (const std::string problem = case_problem(one, blocks); !problem.empty()) {
      return fmt::format("{} (case {} of group {})", problem, suite::id_text(group.ids[i]),
                         suite::group_name(group.spec));
    }
  }
  return {};
}

std::vector<float> sample_matrix(std::int64_t rows, std::int64_t columns, std::uint64_t seed) {
  std::vector<float> values;
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(rows * columns); ++i) {
    const std::uint32_t word = random_word(seed, Stream::cases, 0, i);
    // Exponents around 1, significands of eight bits: ties and exact values are frequent.
    values.push_back(float_from_bits((word & 0x80FF0000U & ~0x7F800000U) | ((120U + word % 12U) << 23)));
  }
  return values;
}

portable::TensorView view_of(const std::vector<float>& values, std::span<const std::int64_t> shape) {
  return {portable::DType::f32, shape, reinterpret_cast<const std::byte*>(values.data())};
}

}  // namespace

std::string thread_problem() {
  const std::vector<std::int64_t> shape = {61, 256};
  const std::vector<float> values = sample_matrix(shape[0], shape[1], 1);
  const int threads = omp_get_max_threads();
  for (const char* name : {"mxfp4/ocp", "mxfp4/rceil-sr", "hif4/gcc", "nvfp4/tensor-scale"}) {
    const Profile& profile = *find_profile(name);
    omp_set_num_threads(1);
    const auto one = portable::quantize(profile, view_of(values, shape));
    omp_set_num_threads(threads > 1 ? threads : 4);
    const auto many = portable::quantize(profile, view_of(values, shape));
    omp_set_num_threads(threads);
    if (!one || !many) return fmt::format("{} refuses plain numbers", name);
    if (one->codes != many->codes || one->scales != many->scales) return fmt::format("{} depends on threads", name);
  }
  return {};
}

std::string gemm_problem(portable::Accumulator accumulator) {
  const std::vector<std::int64_t> shape = {3, 1024};
  const std::vector<float> a = sample_matrix(shape[0], shape[1], 2);
  const std::vector<float> b = sample_matrix(shape[0], shape[1], 3);
  const Profile& profile = *find_profile("mxfp4/ocp");
  const auto fast_a = portable::quantize(profile, view_of(a, shape));
  const auto fast_b = portable::quantize(profile, view_of(b, shape));
  if (!fast_a || !fast_b) return "quantization failed";
  const auto fast = portable::gemm(profile, *fast_a, profile, *fast_b, accumulator);
  if (!fast) return fast.error().message;
  const auto operand = [&](const std::vector<float>& values) {
    return exact::quantize_operand(profile, words_of(bytes_of(values)), static_cast<std::size_t>(shape[0]),
                                   static_cast<std::size_t>(shape[1]));
  };
  const auto exact_a = operand(a);
  const auto exact_b = operand(b);
  if (!exact_a || !exact_b) return "the oracle refuses plain numbers";
  const auto oracle = exact::gemm(*exact_a, *exact_b, static_cast<exact::Accumulator>(accumulator));
  if (!oracle) return oracle.error().message;
  return words_of(bytes_of(*fast)) == *oracle ? "" : "the bits differ";
}

ProfileCheck check_profile_roads(const Profile& profile) {
  ProfileCheck check;
  const SharedProfile shared(std::shared_ptr<void>(), &profile);
  const auto table = suite::make_table(*suite::find_set("smoke"), suite::Operation::quantize, shared);
  if (!table) {
    check.problem = table.error().message;
    return check;
  }
  for (const suite::CaseGroup& group : table->groups) {
    check.problem = group_problem(profile, group, check.blocks);
    if (!check.problem.empty()) return check;
  }
  if (check.blocks == 0) check.problem = "the smoke set has no block for it";
  return check;
}

}  // namespace fp4proof::cli
