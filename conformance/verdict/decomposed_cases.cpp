#include "conformance/verdict/decomposed_cases.h"

#include <omp.h>

#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "conformance/suite/case_group.h"
#include "conformance/vectors/bytes.h"
#include "conformance/verdict/statistical.h"
#include "formats/packing.h"
#include "reference/portable/decompose.h"
#include "reference/portable/dequantize.h"

namespace fp4proof::verdict {

namespace {

using nlohmann::json;
using portable::ErrorSplit;

/// Cases are small and many: threads would cost more than they save.
class OneThread {
 public:
  OneThread() { omp_set_num_threads(1); }
  ~OneThread() { omp_set_num_threads(threads_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int threads_ = omp_get_max_threads();
};

/// The tensors of one answer.
struct Answer {
  Bytes codes;
  Bytes scales;
  float tensor_scale = 1.0F;
};

void take(Answer& answer, std::string_view name, Bytes bytes) {
  if (name == "codes") answer.codes = bytes;
  if (name == "scales") answer.scales = bytes;
  if (name == "tensor_scale") answer.tensor_scale = std::bit_cast<float>(load_le32(bytes.data()));
}

struct Answers {
  Answer expected;
  Answer actual;
};

Answers answers_of(const verify::ComparedCase& compared) {
  Answers answers;
  std::size_t output = 0;
  for (const suite::CaseTensor& tensor : compared.group.tensors) {
    if (!tensor.expected) continue;
    take(answers.expected, tensor.name, tensor.of_case(compared.index));
    take(answers.actual, tensor.name, compared.actual[output++]);
  }
  return answers;
}

/// The input of one case, and how it is cut.
class Question {
 public:
  static std::optional<Question> of(const verify::ComparedCase& compared) {
    const suite::GroupSpec& spec = compared.group.spec;
    const suite::CaseTensor* input = compared.group.find("input");
    const Result<portable::Geometry> geometry = suite::case_geometry(*compared.table.profile, spec);
    if (input == nullptr || !geometry) return std::nullopt;
    return Question(*compared.table.profile, spec, *geometry,
                    copy_elements<std::uint32_t>(input->of_case(compared.index)));
  }

  /// Nothing where the profile has no decomposition.
  std::optional<ErrorSplit> decompose(const Answer& answer) const {
    std::vector<float> values(words_.size());
    portable::dequantize_rows(profile_, geometry_, answer.tensor_scale, geometry_.rows, answer.codes, answer.scales,
                              values);
    const std::array<std::int64_t, 2> shape = {spec_.rows, spec_.columns};
    const portable::TensorView tensor = {portable::DType::f32, shape,
                                         reinterpret_cast<const std::byte*>(words_.data())};
    portable::QuantizeOptions options;
    options.axis = spec_.axis;
    options.tail = spec_.tail;
    const Result<ErrorSplit> split = portable::decompose(profile_, tensor, options, values);
    return split ? std::optional(*split) : std::nullopt;
  }

 private:
  Question(const Profile& profile, const suite::GroupSpec& spec, portable::Geometry geometry,
           std::vector<std::uint32_t> words)
      : profile_(profile), spec_(spec), geometry_(std::move(geometry)), words_(std::move(words)) {}

  const Profile& profile_;
  const suite::GroupSpec& spec_;
  portable::Geometry geometry_;
  std::vector<std::uint32_t> words_;
};

bool is_sensible(const ErrorSplit& split) {
  constexpr double most = largest_decomposed_error * largest_decomposed_error;
  return split.excluded == 0 && split.value > 0 && split.error <= most * split.value;
}

double share(double term, double value) { return std::ldexp(std::round(std::ldexp(term / value, 24)), -24); }

void add(SplitSum& sum, const ErrorSplit& split) {
  sum.error += share(split.error, split.value);
  sum.scale += share(split.scale, split.value);
  sum.deadzone += share(split.deadzone, split.value);
  sum.grid += share(split.grid, split.value);
}

json to_json(const SplitSum& sum) {
  return {{"error", sum.error}, {"scale", sum.scale}, {"deadzone", sum.deadzone}, {"grid", sum.grid}};
}

}  // namespace

void DecomposedCases::saw(const verify::ComparedCase& compared) {
  if (!compared.finding || compared.table.operation != suite::Operation::quantize) return;
  if (is_drawn(compared.table.operation, *compared.report.profile)) return;
  if (compared.group.first + compared.index >= most_decomposed_cases) return;
  const OneThread one_thread;
  const std::optional<Question> question = Question::of(compared);
  if (!question) return;
  const Answers answers = answers_of(compared);
  const std::optional<ErrorSplit> expected = question->decompose(answers.expected);
  const std::optional<ErrorSplit> actual = question->decompose(answers.actual);
  if (!expected || !actual) return;
  DecomposedTable& table = tables_[std::string(compared.report.profile->name)];
  if (!is_sensible(*expected) || !is_sensible(*actual)) {
    ++table.left_out;
    return;
  }
  ++table.cases;
  add(table.expected, *expected);
  add(table.actual, *actual);
}

json DecomposedCases::of_profile(std::string_view profile) const {
  const auto found = tables_.find(profile);
  if (found == tables_.end()) return {};
  const DecomposedTable& table = found->second;
  return {{"cases", table.cases},
          {"left_out", table.left_out},
          {"expected", to_json(table.expected)},
          {"actual", to_json(table.actual)}};
}

json sum_of_decompositions(const json& a, const json& b) {
  json sum = a;
  for (const char* count : {"cases", "left_out"})
    sum.at(count) = a.at(count).get<std::uint64_t>() + b.at(count).get<std::uint64_t>();
  for (const char* answer : {"expected", "actual"})
    for (const char* term : {"error", "scale", "deadzone", "grid"})
      sum.at(answer).at(term) = a.at(answer).at(term).get<double>() + b.at(answer).at(term).get<double>();
  return sum;
}

}  // namespace fp4proof::verdict
