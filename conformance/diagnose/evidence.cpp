#include "conformance/diagnose/evidence.h"

#include <algorithm>

namespace fp4proof::diagnose {

namespace {

using suite::CaseGroup;
using suite::CaseTensor;

void append(Bytes bytes, std::vector<std::uint8_t>& to) { to.insert(to.end(), bytes.begin(), bytes.end()); }

/// The bytes of a case in the tensors that are expected, or in those that are not.
std::vector<std::uint8_t> bytes_of_case(const CaseGroup& group, std::size_t index, bool expected) {
  std::vector<std::uint8_t> bytes;
  for (const CaseTensor& tensor : group.tensors)
    if (tensor.expected == expected) append(tensor.of_case(index), bytes);
  return bytes;
}

std::size_t place_of_group(const suite::GroupSpec& spec, std::vector<suite::GroupSpec>& groups) {
  const auto found = std::ranges::find(groups, spec);
  if (found != groups.end()) return static_cast<std::size_t>(found - groups.begin());
  groups.push_back(spec);
  return groups.size() - 1;
}

/// Whether an answer that passed has other codes than the expected ones.
bool has_other_codes(const verify::ComparedCase& compared) {
  if (compared.finding || compared.table.operation != suite::Operation::quantize) return false;
  return !std::ranges::equal(compared.group.find("codes")->of_case(compared.index), compared.actual.front());
}

KeptCase kept_of(const verify::ComparedCase& compared, std::size_t group) {
  KeptCase kept;
  kept.group = group;
  kept.id = compared.group.ids[compared.index];
  kept.inputs = bytes_of_case(compared.group, compared.index, false);
  kept.expected = bytes_of_case(compared.group, compared.index, true);
  if (compared.finding) {
    for (const Bytes bytes : compared.actual) append(bytes, kept.actual);
  }
  if (compared.index != 0) kept.previous = bytes_of_case(compared.group, compared.index - 1, true);
  return kept;
}

}  // namespace

bool CaseSample::wants(std::uint16_t of_class, std::uint64_t id) const {
  if (!is_full()) return true;
  std::size_t largest = 0;
  for (const auto& [number, cases] : classes_) largest = std::max(largest, cases.size());
  const auto found = classes_.find(of_class);
  return found == classes_.end() || found->second.size() < largest || id < found->second.rbegin()->first;
}

void CaseSample::add(std::uint16_t of_class, KeptCase kept) {
  const std::size_t bytes = kept.bytes();
  const std::uint64_t id = kept.id;
  if (!classes_[of_class].emplace(id, std::move(kept)).second) return;
  ++cases_;
  bytes_ += bytes;
  while (cases_ > 1 && (cases_ > most_cases_ || bytes_ > most_bytes_)) {
    OfClass& largest = largest_class();
    const auto last = std::prev(largest.end());
    bytes_ -= last->second.bytes();
    --cases_;
    largest.erase(last);
  }
}

CaseSample::OfClass& CaseSample::largest_class() {
  return std::ranges::max_element(classes_, {}, [](const auto& entry) { return entry.second.size(); })->second;
}

std::vector<const KeptCase*> CaseSample::cases() const {
  std::vector<const KeptCase*> all;
  for (const auto& [number, of_class] : classes_)
    for (const auto& [id, kept] : of_class) all.push_back(&kept);
  return all;
}

TableEvidence& Evidence::table_of(const verify::ComparedCase& compared) {
  const SharedProfile& asked = compared.report.profile ? compared.report.profile : compared.table.profile;
  const auto [place, is_new] =
      places_.emplace(std::pair(compared.table.operation, std::string(asked->name)), tables_.size());
  if (is_new) {
    TableEvidence& table = tables_.emplace_back(limits_);
    table.operation = compared.table.operation;
    table.asked = asked;
    table.kept = compared.table.profile;
  }
  return tables_[place->second];
}

void Evidence::saw(const verify::ComparedCase& compared) {
  TableEvidence& table = table_of(compared);
  const bool failed = compared.finding.has_value();
  ++(failed ? table.failed : table.passed);
  table.ignores_codes_under_nan = table.ignores_codes_under_nan || has_other_codes(compared);
  CaseSample& sample = failed ? table.failing : table.passing;
  const std::uint16_t of_class = compared.group.classes[compared.index];
  if (!sample.wants(of_class, compared.group.ids[compared.index])) return;
  sample.add(of_class, kept_of(compared, place_of_group(compared.group.spec, table.groups)));
}

}  // namespace fp4proof::diagnose
