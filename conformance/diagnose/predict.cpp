#include "conformance/diagnose/predict.h"

#include <algorithm>
#include <utility>

#include "conformance/diagnose/model_correct.h"
#include "conformance/diagnose/model_encode.h"
#include "conformance/diagnose/model_values.h"
#include "conformance/diagnose/nan_scale.h"
#include "conformance/profiles/profile_rules.h"
#include "conformance/suite/reference_answers.h"
#include "formats/float_bits.h"
#include "formats/packing.h"

namespace fp4proof::diagnose {

namespace {

using suite::CaseGroup;
using suite::CaseTensor;
using suite::Operation;

/// A view of a profile that somebody else owns.
SharedProfile borrowed(const Profile& profile) { return {SharedProfile(), &profile}; }

bool answer_by_reference(Operation operation, const Profile& profile, CaseGroup& cases) {
  suite::CaseTable table{operation, borrowed(profile), {}};
  table.groups.push_back(std::move(cases));
  const bool done = suite::answer_by_reference(table).ok();
  cases = std::move(table.groups.front());
  return done;
}

bool same_shape(const CaseTensor& a, const CaseTensor& b) { return a.case_shape == b.case_shape && a.dtype == b.dtype; }

/// The same inputs as another question; nothing where it needs inputs that are not there or of another shape.
std::optional<CaseGroup> asked_otherwise(Operation operation, const Profile& profile, const CaseGroup& cases,
                                         const suite::GroupSpec& spec) {
  Result<std::vector<CaseTensor>> tensors = suite::group_tensors(operation, profile, spec);
  if (!tensors) return std::nullopt;
  CaseGroup other{spec, cases.ids, cases.classes, std::move(*tensors)};
  for (CaseTensor& tensor : other.tensors) {
    if (tensor.expected) continue;
    const CaseTensor* given = cases.find(tensor.name);
    if (given == nullptr || !same_shape(tensor, *given)) return std::nullopt;
    tensor.bytes = given->bytes;
  }
  return other;
}

/// Writes the answers of another question over those of this one, tensor by tensor in the same number of bytes;
/// tensors that it does not have are zero.
void take_answers(const CaseGroup& from, CaseGroup& to) {
  for (CaseTensor& tensor : to.tensors) {
    if (!tensor.expected) continue;
    const CaseTensor* other = from.find(tensor.name);
    if (other != nullptr && other->bytes.size() == tensor.bytes.size()) {
      tensor.bytes = other->bytes;
    } else {
      std::ranges::fill(tensor.bytes, std::uint8_t{0});
    }
  }
}

bool answer_as(Operation operation, const Profile& profile, const suite::GroupSpec& spec, CaseGroup& cases) {
  std::optional<CaseGroup> other = asked_otherwise(operation, profile, cases, spec);
  if (!other || !answer_by_reference(operation, profile, *other)) return false;
  take_answers(*other, cases);
  return true;
}

bool quantize_along_other_axis(const KernelModel& model, CaseGroup& cases) {
  suite::GroupSpec spec = cases.spec;
  spec.axis = 1 - spec.axis;
  return answer_as(Operation::quantize, model.profile, spec, cases);
}

bool quantize(const KernelModel& model, CaseGroup& cases) {
  if (model.other_axis) return model.encode == EncodeModel{} && quantize_along_other_axis(model, cases);
  if (model.encode == EncodeModel{}) return answer_by_reference(Operation::quantize, model.profile, cases);
  return encode_cases(model, cases);
}

/// Codes of `to` that the evidence has as one of two neighbours become the given ones.
void fit_between(const GroupEvidence& evidence, const CaseGroup& below, const CaseGroup& above, CaseGroup& to) {
  const CaseTensor& low = *below.find("codes");
  const CaseTensor& high = *above.find("codes");
  CaseTensor& codes = *to.find("codes");
  const std::size_t bytes = codes.case_bytes();
  for (std::size_t i = 0; i < to.size(); ++i) {
    for (std::size_t b = 0; b < bytes; ++b) {
      const std::size_t at = i * bytes + b;
      const std::uint8_t given = evidence.actual[i * evidence.answer_bytes + b];
      for (const int mask : {0x0F, 0xF0}) {
        const int part = given & mask;
        if (part != (low.bytes[at] & mask) && part != (high.bytes[at] & mask)) continue;
        codes.bytes[at] = static_cast<std::uint8_t>((codes.bytes[at] & ~mask) | part);
      }
    }
  }
}

/// A code wider than a nibble is fitted nibble by nibble, which the neighbours' codes may not allow; so 4-bit codes
/// only.
bool quantize_between(const KernelModel& model, const GroupEvidence& evidence, CaseGroup& cases) {
  if (!element_spec(model.profile.element).is_nibble()) return false;
  KernelModel below = model;
  below.profile.rounding = Rounding::rtz;
  KernelModel above = model;
  above.encode.element = ElementFault::up;
  CaseGroup low = cases;
  CaseGroup high = cases;
  if (!quantize(below, low) || !quantize(above, high) || !quantize(model, cases)) return false;
  fit_between(evidence, low, high, cases);
  return true;
}

bool multiply(Operation operation, const KernelModel& model, CaseGroup& cases) {
  if (model.decode == DecodeModel{} && model.sum == SumModel{}) {
    return answer_by_reference(operation, model.profile, cases);
  }
  if (model.sum.accumulator.empty()) return multiply_cases(model, cases);
  SumModel named;
  named.accumulator = model.sum.accumulator;
  if (model.decode != DecodeModel{} || model.sum != named) return false;
  const auto known = suite::accumulators_for(model.profile);
  if (std::ranges::find(known, named.accumulator) == known.end()) return false;
  suite::GroupSpec spec = cases.spec;
  spec.accumulator = named.accumulator;
  return answer_as(operation, model.profile, spec, cases);
}

bool answer(Operation operation, const KernelModel& model, const GroupEvidence& evidence, CaseGroup& cases) {
  if (!model.correct.stack.empty()) {
    suite::GroupSpec spec = cases.spec;
    spec.correction = model.correct.stack;
    return answer_as(operation, model.profile, spec, cases);
  }
  switch (operation) {
    case Operation::quantize:
      return model.either_neighbour ? quantize_between(model, evidence, cases) : quantize(model, cases);
    case Operation::dequantize:
      return model.decode == DecodeModel{} ? answer_by_reference(operation, model.profile, cases)
                                           : decode_cases(model, cases);
    case Operation::gemm:
    case Operation::correct_gemm: return multiply(operation, model, cases);
    case Operation::correct:
      return model.correct == CorrectModel{} ? answer_by_reference(operation, model.profile, cases)
                                             : correct_cases(model, cases);
    case Operation::decompose: return answer_by_reference(operation, model.profile, cases);
  }
  return false;
}

/// Whether the reference knows the profile, and every number that it needs is there.
bool is_answerable(const KernelModel& model, const CaseGroup& cases) {
  const bool stochastic = model.profile.rounding == Rounding::stochastic;
  return check_profile(model.profile).ok() && (!stochastic || cases.find("random") != nullptr);
}

bool has_values(const CaseTensor& tensor) { return tensor.name == "values" || tensor.name == "c"; }

/// Every answer as a row of bytes.
std::vector<std::uint8_t> flattened(const CaseGroup& cases, std::size_t answer_bytes,
                                    const std::vector<std::vector<std::size_t>>& ignored) {
  std::vector<std::uint8_t> rows(cases.size() * answer_bytes);
  std::size_t offset = 0;
  for (const CaseTensor& tensor : cases.tensors) {
    if (!tensor.expected) continue;
    const std::size_t bytes = tensor.case_bytes();
    for (std::size_t i = 0; i < cases.size(); ++i) {
      std::uint8_t* row = &rows[i * answer_bytes + offset];
      std::copy_n(&tensor.bytes[i * bytes], bytes, row);
      if (!has_values(tensor)) continue;
      for (std::size_t b = 0; b + 4 <= bytes; b += 4)
        if (is_nan_bits(load_le32(row + b))) store_le32(canonical_nan_bits, row + b);
    }
    offset += bytes;
  }
  for (std::size_t i = 0; i < ignored.size(); ++i)
    for (const std::size_t byte : ignored[i]) rows[i * answer_bytes + byte] = 0;
  return rows;
}

/// The bytes of codes under a NaN scale, of each case. Codes are the first tensor of an answer.
std::vector<std::vector<std::size_t>> codes_under_nan(const Profile& profile, const CaseGroup& cases) {
  const CaseTensor& scales = *cases.find("scales");
  const auto scale_size = static_cast<std::size_t>(scale_bytes(profile.family));
  const std::size_t block = profile.block.cols / (element_spec(profile.element).is_nibble() ? 2U : 1U);
  std::vector<std::vector<std::size_t>> bytes(cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Bytes of_case = scales.of_case(i);
    for (std::size_t b = 0; b < of_case.size() / scale_size; ++b) {
      if (!is_nan_scale(profile.family, of_case[b * scale_size])) continue;
      for (std::size_t byte = b * block; byte < (b + 1) * block; ++byte) bytes[i].push_back(byte);
    }
  }
  return bytes;
}

/// The bytes of kept cases as tensors of a group.
void fill_tensors(const std::vector<const KeptCase*>& kept, bool expected,
                  const std::vector<std::uint8_t>& (*bytes_of)(const KeptCase&), CaseGroup& cases) {
  std::size_t offset = 0;
  for (CaseTensor& tensor : cases.tensors) {
    if (tensor.expected != expected) continue;
    const std::size_t bytes = tensor.case_bytes();
    tensor.bytes.resize(kept.size() * bytes);
    for (std::size_t i = 0; i < kept.size(); ++i)
      std::copy_n(&bytes_of(*kept[i])[offset], bytes, &tensor.bytes[i * bytes]);
    offset += bytes;
  }
}

GroupEvidence evidence_of(const TableEvidence& table, std::vector<CaseTensor> tensors, const suite::GroupSpec& spec,
                          std::vector<const KeptCase*> kept) {
  GroupEvidence evidence;
  evidence.kept = std::move(kept);
  CaseGroup& cases = evidence.cases;
  cases.spec = spec;
  cases.tensors = std::move(tensors);
  for (const KeptCase* one : evidence.kept) cases.ids.push_back(one->id);
  cases.classes.resize(cases.ids.size());
  for (const CaseTensor& tensor : cases.tensors)
    if (tensor.expected) evidence.answer_bytes += tensor.case_bytes();
  using Kept = const KeptCase&;
  using Buffer = std::vector<std::uint8_t>;
  fill_tensors(
      evidence.kept, false, [](Kept one) -> const Buffer& { return one.inputs; }, cases);
  fill_tensors(
      evidence.kept, true, [](Kept one) -> const Buffer& { return one.expected; }, cases);
  if (table.ignores_codes_under_nan) evidence.ignored = codes_under_nan(*table.kept, cases);
  evidence.expected = flattened(cases, evidence.answer_bytes, evidence.ignored);
  suite::CaseGroup given = cases;
  fill_tensors(
      evidence.kept, true, [](Kept one) -> const Buffer& { return one.actual.empty() ? one.expected : one.actual; },
      given);
  evidence.actual = flattened(given, evidence.answer_bytes, evidence.ignored);
  return evidence;
}

}  // namespace

std::vector<GroupEvidence> group_evidence(const TableEvidence& table) {
  std::vector<std::vector<const KeptCase*>> kept(table.groups.size());
  for (const CaseSample* sample : {&table.failing, &table.passing})
    for (const KeptCase* one : sample->cases()) kept[one->group].push_back(one);
  std::vector<GroupEvidence> groups;
  for (std::size_t g = 0; g < kept.size(); ++g) {
    if (kept[g].empty()) continue;
    Result<std::vector<CaseTensor>> tensors = suite::group_tensors(table.operation, *table.kept, table.groups[g]);
    if (tensors) groups.push_back(evidence_of(table, std::move(*tensors), table.groups[g], std::move(kept[g])));
  }
  return groups;
}

std::optional<std::vector<std::uint8_t>> predict(const Question& question, const KernelModel& model,
                                                 const GroupEvidence& evidence) {
  Working working{question.operation, question.profile, evidence, evidence.cases};
  if (!is_answerable(model, working.cases)) return std::nullopt;
  const bool gives_codes = suite::reads_words(question.operation);
  for (const Step& step : model.inputs) step.run(working, step.parameter);
  if (!gives_codes) {
    for (const Step& step : model.packing) step.run(working, step.parameter);
  }
  if (!answer(question.operation, model, evidence, working.cases)) return std::nullopt;
  for (const Step& step : model.outputs) step.run(working, step.parameter);
  if (gives_codes) {
    for (const Step& step : model.packing) step.run(working, step.parameter);
  }
  return flattened(working.cases, evidence.answer_bytes, evidence.ignored);
}

}  // namespace fp4proof::diagnose
