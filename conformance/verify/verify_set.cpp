#include "conformance/verify/verify_set.h"

#include <fmt/format.h>

#include <unordered_map>
#include <utility>

#include "conformance/suite/reference_answers.h"
#include "conformance/vectors/os_error.h"
#include "conformance/vectors/safetensors.h"

namespace fp4proof::verify {

namespace {

using suite::CaseGroup;
using suite::CaseTable;
using suite::CaseTensor;
using suite::TableEntry;
using suite::VectorSet;

Error usage(std::string message) { return {ErrorKind::usage, std::move(message)}; }

/// Reads the answers to one group out of a file.
class AnswerReader {
 public:
  AnswerReader(const SafetensorsFile& file, const CaseTable& table, const CaseGroup& group, TableReport& report)
      : file_(file), table_(table), group_(group), report_(report) {}

  Result<ActualGroup> read() {
    ActualGroup actual;
    for (const CaseTensor& tensor : group_.tensors) {
      if (!tensor.expected) continue;
      const Result<Bytes> bytes = read_tensor(tensor);
      if (!bytes) return bytes.error();
      actual.tensors.push_back(*bytes);
    }
    Result<std::vector<std::optional<std::size_t>>> rows = read_rows();
    if (!rows) return rows.error();
    actual.rows = std::move(*rows);
    return actual;
  }

 private:
  std::string name(std::string_view tensor) const { return tensor_name(table_, group_.spec, tensor); }

  /// The bytes of a tensor whose shape but for the number of cases is the one of the set; none where it is missing.
  Result<Bytes> read_tensor(const CaseTensor& tensor) {
    const TensorEntry* entry = file_.find(name(tensor.name));
    if (entry == nullptr) {
      report_.missing_tensors.push_back(name(tensor.name));
      return Bytes();
    }
    const std::vector<std::uint64_t>& shape = entry->spec.shape;
    const bool same_shape = shape.size() == tensor.case_shape.size() + 1 &&
                            std::equal(tensor.case_shape.begin(), tensor.case_shape.end(), shape.begin() + 1);
    if (!same_shape || bits_of(entry->spec.dtype) != bits_of(tensor.dtype) || shape[0] > group_.size()) {
      return usage(fmt::format("tensor {}: must be {} of shape [{}, {}], at most {} cases first",
                               quote(name(tensor.name)), fp4proof::name_of(tensor.dtype), group_.size(),
                               fmt::join(tensor.case_shape, ", "), group_.size()));
    }
    return file_.bytes(*entry);
  }

  Result<std::vector<std::optional<std::size_t>>> read_rows() const {
    std::vector<std::optional<std::size_t>> rows(group_.size());
    const TensorEntry* entry = file_.find(name("case_id"));
    if (entry == nullptr) {
      for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = i;
      return rows;
    }
    if (entry->spec.shape.size() != 1 || bits_of(entry->spec.dtype) != 64) {
      return usage(fmt::format("tensor {}: must be U64 of shape [cases]", quote(name("case_id"))));
    }
    std::unordered_map<std::uint64_t, std::size_t> places;
    for (std::size_t i = 0; i < group_.size(); ++i) places.emplace(group_.ids[i], i);
    const auto ids = copy_elements<std::uint64_t>(file_.bytes(*entry));
    for (std::size_t row = 0; row < ids.size(); ++row) {
      const auto place = places.find(ids[row]);
      if (place == places.end() || rows[place->second]) {
        return usage(fmt::format("tensor {}: case {} is not in the set, or given twice", quote(name("case_id")),
                                 suite::id_text(ids[row])));
      }
      rows[place->second] = row;
    }
    return rows;
  }

  const SafetensorsFile& file_;
  const CaseTable& table_;
  const CaseGroup& group_;
  TableReport& report_;
};

class Verifier {
 public:
  Verifier(const VerifyRequest& request, const VectorSet& set, const suite::Errata& errata,
           const SafetensorsFile* answers)
      : request_(request), set_(set), answers_(answers) {
    context_.rules = request.rules;
    context_.errata = &errata;
    context_.classes = &set.classes;
    context_.most_mismatches = request.most_mismatches;
    context_.observer = request.observer;
  }

  Result<VerifyReport> run() {
    const std::vector<const TableEntry*> wanted = wanted_tables();
    if (wanted.empty()) return usage(nothing_wanted());
    for (const TableEntry* entry : wanted) {
      const Result<void> done = verify_table(*entry);
      if (!done) return done.error();
      if (request_.progress) request_.progress(wanted.size());
    }
    return std::move(report_);
  }

 private:
  std::vector<const TableEntry*> wanted_tables() const {
    std::vector<const TableEntry*> wanted;
    for (const TableEntry& entry : set_.tables) {
      if (request_.operation && entry.operation != *request_.operation) continue;
      if (request_.profile && set_.find(entry.operation, *request_.profile) != &entry) continue;
      wanted.push_back(&entry);
    }
    return wanted;
  }

  std::string nothing_wanted() const {
    return fmt::format("{}: the set has no cases{}{}", quote(set_.folder.string()),
                       request_.operation ? fmt::format(" of {}", suite::name_of(*request_.operation)) : "",
                       request_.profile ? fmt::format(" for profile {}", request_.profile->name) : "");
  }

  bool wants_group(const CaseGroup& group) const {
    const std::string& accumulator = group.spec.accumulator;
    if (accumulator.empty() || request_.accumulator == all_accumulators) return true;
    if (!request_.accumulator.empty()) return accumulator == request_.accumulator;
    // A kernel has one accumulator; the reference has them all.
    return answers_ == nullptr || accumulator == normative_accumulator;
  }

  Result<void> verify_table(const TableEntry& entry) {
    Result<CaseTable> table = suite::read_table(set_, entry);
    if (!table) return table.error();
    TableReport table_report;
    table_report.operation = entry.operation;
    table_report.profile = entry.profile;
    const Result<void> done =
        answers_ != nullptr ? against_answers(*table, table_report) : against_reference(*table, table_report);
    if (!done) return done;
    report_.tables.push_back(std::move(table_report));
    return {};
  }

  Result<void> against_answers(CaseTable& table, TableReport& table_report) {
    if (set_.inputs_only) {
      const Result<void> answered = suite::answer_by_reference(table);
      if (!answered) return answered;
    }
    for (const CaseGroup& group : table.groups) {
      if (!wants_group(group)) continue;
      const Result<ActualGroup> actual = AnswerReader(*answers_, table, group, table_report).read();
      if (!actual) return actual.error();
      compare_group(context_, table, group, *actual, table_report, report_);
    }
    return {};
  }

  Result<void> against_reference(const CaseTable& table, TableReport& table_report) {
    CaseTable again = table;
    const Result<void> answered = suite::answer_by_reference(again);
    if (!answered) return answered;
    for (std::size_t g = 0; g < table.groups.size(); ++g) {
      if (!wants_group(table.groups[g])) continue;
      std::vector<Bytes> tensors;
      for (const CaseTensor& tensor : again.groups[g].tensors)
        if (tensor.expected) tensors.emplace_back(tensor.bytes);
      const ActualGroup actual = ActualGroup::in_order(std::move(tensors), again.groups[g].size());
      compare_group(context_, table, table.groups[g], actual, table_report, report_);
    }
    return {};
  }

  const VerifyRequest& request_;
  const VectorSet& set_;
  const SafetensorsFile* answers_;
  CompareContext context_;
  VerifyReport report_;
};

}  // namespace

Result<VerifyReport> verify_set(const VerifyRequest& request) {
  const Result<VectorSet> set = suite::open_set(request.folder);
  if (!set) return set.error();
  const Result<suite::Errata> errata =
      request.errata ? suite::read_errata(*request.errata) : suite::errata_of_set(request.folder);
  if (!errata) return errata.error();
  if (!request.actual) {
    if (set->inputs_only) {
      return usage(fmt::format("{}: the set has no expected outputs to check; name the answers with --actual",
                               quote(request.folder.string())));
    }
    return Verifier(request, *set, *errata, nullptr).run();
  }
  const Result<SafetensorsFile> answers = SafetensorsFile::open(*request.actual);
  if (!answers) return answers.error();
  return Verifier(request, *set, *errata, &*answers).run();
}

}  // namespace fp4proof::verify
