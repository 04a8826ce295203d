#include "conformance/suite/reference_answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "conformance/suite/correction_answers.h"
#include "conformance/suite/drafts.h"
#include "conformance/vectors/os_error.h"
#include "reference/portable/dequantize.h"
#include "reference/portable/gemm.h"
#include "reference/portable/quantize.h"

namespace fp4proof::suite {

namespace {

/// Makes room for the answers.
void size_answers(CaseGroup& group) {
  for (CaseTensor& tensor : group.tensors)
    if (tensor.expected) tensor.bytes.assign(group.size() * tensor.case_bytes(), 0);
}

void put(CaseTensor& tensor, std::size_t first_case, Bytes bytes) {
  std::copy(bytes.begin(), bytes.end(),
            tensor.bytes.begin() + static_cast<std::ptrdiff_t>(first_case * tensor.case_bytes()));
}

/// Quantizes cases first .. first + count - 1 as one tensor, with the stated random words where there are any.
Result<void> quantize_cases(const Profile& profile, CaseGroup& group, std::size_t first, std::size_t count) {
  const std::array<std::int64_t, 3> shape = {static_cast<std::int64_t>(count), group.spec.rows, group.spec.columns};
  const auto bytes_of_cases = [&](const CaseTensor& tensor) {
    return Bytes(tensor.bytes).subspan(first * tensor.case_bytes(), count * tensor.case_bytes());
  };
  const auto* data = reinterpret_cast<const std::byte*>(bytes_of_cases(*group.find("input")).data());
  std::vector<std::uint32_t> random;
  if (const CaseTensor* tensor = group.find("random")) random = copy_elements<std::uint32_t>(bytes_of_cases(*tensor));
  portable::QuantizeOptions options;
  options.axis = group.spec.axis + 1;
  options.tail = group.spec.tail;
  options.random_words = random;
  const Result<portable::Quantized> quantized =
      portable::quantize(profile, {portable::DType::f32, shape, data}, options);
  if (!quantized) return quantized.error();
  put(*group.find("codes"), first, quantized->codes);
  put(*group.find("scales"), first, quantized->scales);
  if (profile.tensor_scale) {
    put(*group.find("tensor_scale"), first, fp4proof::bytes_of(std::array{quantized->tensor_scale}));
  }
  return {};
}

Result<void> answer_quantize(const Profile& profile, CaseGroup& group) {
  if (!profile.tensor_scale) return quantize_cases(profile, group, 0, group.size());
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (const Result<void> done = quantize_cases(profile, group, i, 1); !done) return done;
  }
  return {};
}

float tensor_scale_of_case(const CaseGroup& group, std::size_t index) {
  const CaseTensor* tensor = group.find("tensor_scale");
  return tensor == nullptr ? 1.0F : copy_elements<float>(tensor->of_case(index)).front();
}

/// Dequantizes cases first .. first + count - 1 as one tensor of count times the rows.
Result<void> dequantize_cases(const Profile& profile, CaseGroup& group, std::size_t first, std::size_t count) {
  GroupSpec whole = group.spec;
  whole.rows *= static_cast<std::int64_t>(count);
  const Result<portable::Geometry> geometry = case_geometry(profile, whole);
  if (!geometry) return geometry.error();
  const auto bytes_of_cases = [&](std::string_view name) {
    const CaseTensor& tensor = *group.find(name);
    return Bytes(tensor.bytes).subspan(first * tensor.case_bytes(), count * tensor.case_bytes());
  };
  std::vector<float> values(static_cast<std::size_t>(whole.rows * whole.columns));
  portable::dequantize_rows(profile, *geometry, tensor_scale_of_case(group, first), geometry->rows,
                            bytes_of_cases("codes"), bytes_of_cases("scales"), values);
  put(*group.find("values"), first, fp4proof::bytes_of(values));
  return {};
}

Result<void> answer_dequantize(const Profile& profile, CaseGroup& group) {
  if (!profile.tensor_scale) return dequantize_cases(profile, group, 0, group.size());
  for (std::size_t i = 0; i < group.size(); ++i) {
    const Result<void> done = dequantize_cases(profile, group, i, 1);
    if (!done) return done;
  }
  return {};
}

/// One operand of a gemm case.
Result<portable::Quantized> operand_of_case(const Profile& profile, const CaseGroup& group, std::size_t index,
                                            const std::string& prefix, std::int64_t rows) {
  const std::array<std::int64_t, 2> shape = {rows, group.spec.columns};
  const Result<portable::Geometry> geometry = portable::cut_into_blocks(profile, shape, -1, portable::Tail::error);
  if (!geometry) return geometry.error();
  portable::Quantized operand;
  operand.geometry = *geometry;
  operand.codes = copy_elements<std::uint8_t>(group.find(prefix + "codes")->of_case(index));
  operand.scales = copy_elements<std::uint8_t>(group.find(prefix + "scales")->of_case(index));
  if (const CaseTensor* scale = group.find(prefix + "tensor_scale")) {
    operand.tensor_scale = copy_elements<float>(scale->of_case(index)).front();
  }
  return operand;
}

Result<void> answer_gemm(const Profile& profile, CaseGroup& group) {
  for (std::size_t i = 0; i < group.size(); ++i) {
    const Result<std::vector<std::uint32_t>> c = gemm_of_case(profile, group, i, group.spec.accumulator);
    if (!c) return c.error();
    put(*group.find("c"), i, fp4proof::bytes_of(*c));
  }
  return {};
}

/// Case by case: `answer` gives all expected tensors of one.
template <class AnswerOf>
Result<void> answer_each(const Profile& profile, CaseGroup& group, AnswerOf answer_of) {
  for (std::size_t i = 0; i < group.size(); ++i) {
    const Result<Answer> answer = answer_of(profile, group, i);
    if (!answer) return answer.error();
    auto next = answer->begin();
    for (CaseTensor& tensor : group.tensors)
      if (tensor.expected) put(tensor, i, *next++);
  }
  return {};
}

}  // namespace

std::vector<std::string_view> accumulators_for(const Profile& profile) {
  std::vector<std::string_view> names = {"seq512", "seq", "exact"};
  if (profile.family == Family::hif4) return names;
  const bool is_fp8 = profile.element == Element::e4m3 || profile.element == Element::e5m2;
  if (profile.family == Family::mx) names.emplace_back("tc:blackwell-mxf8f6f4");
  if (profile.element == Element::e2m1) names.emplace_back("tc:blackwell-mxf4");
  names.emplace_back(is_fp8 ? "tc:hopper-fp8" : "tc:hopper-fp16");
  return names;
}

Result<std::vector<std::uint32_t>> gemm_of_case(const Profile& profile, const CaseGroup& group, std::size_t index,
                                                std::string_view accumulator) {
  if (!group.spec.correction.empty()) return corrected_product(profile, group, index, accumulator);
  const std::optional<portable::Accumulator> known = portable::find_accumulator(accumulator);
  if (!known) return Error{ErrorKind::corrupt, fmt::format("unknown accumulator {}", quote(accumulator))};
  const Result<portable::Quantized> a = operand_of_case(profile, group, index, "a_", group.spec.rows);
  if (!a) return a.error();
  const Result<portable::Quantized> b = operand_of_case(profile, group, index, "b_", group.spec.other_rows);
  if (!b) return b.error();
  const Result<std::vector<float>> c = portable::gemm(profile, *a, profile, *b, *known);
  if (!c) return c.error();
  return copy_elements<std::uint32_t>(fp4proof::bytes_of(*c));
}

Result<void> answer_by_reference(CaseTable& table) {
  for (CaseGroup& group : table.groups) {
    size_answers(group);
    Result<void> answered;
    switch (table.operation) {
      case Operation::quantize: answered = answer_quantize(*table.profile, group); break;
      case Operation::dequantize: answered = answer_dequantize(*table.profile, group); break;
      case Operation::gemm:
      case Operation::correct_gemm: answered = answer_gemm(*table.profile, group); break;
      case Operation::correct: answered = answer_each(*table.profile, group, corrected_answer); break;
      case Operation::decompose: answered = answer_each(*table.profile, group, decomposed_answer); break;
    }
    if (!answered) return answered;
  }
  return {};
}

}  // namespace fp4proof::suite
