#include "conformance/runners/file_subject.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "conformance/vectors/os_error.h"

namespace fp4proof::runners {

namespace {

using suite::CaseGroup;
using suite::CaseTensor;
using suite::TableEntry;

Error usage(std::string message) { return {ErrorKind::usage, std::move(message)}; }

std::string prefix_of(const TableEntry& entry, const suite::GroupSpec& spec) {
  suite::CaseTable table;
  table.operation = entry.operation;
  table.profile = entry.profile;
  return tensor_name(table, spec, "");
}

std::size_t cases_of(const TableEntry& entry, const suite::GroupSpec& spec) {
  const auto found = std::ranges::find(entry.groups, spec, &suite::GroupEntry::spec);
  return found == entry.groups.end() ? 0 : found->cases;
}

}  // namespace

Result<GroupAnswers> FileSubject::answer(suite::Operation operation, const Profile& profile, const CaseGroup& group) {
  const TableEntry* entry = set_.find(operation, profile);
  if (entry == nullptr) {
    return Error{ErrorKind::internal,
                 fmt::format("the set has no cases of {} for profile {}", suite::name_of(operation), profile.name)};
  }
  if (const Result<void> done = lay_out(*entry, group); !done) return done.error();
  GroupAnswers answers;
  answers.differs.assign(group.size(), false);
  answers.missing.assign(group.size(), false);
  for (const CaseTensor& tensor : group.tensors) {
    if (!tensor.expected) continue;
    const Result<Bytes> bytes = read_tensor(tensor, answers);
    if (!bytes) return bytes.error();
    const std::size_t case_bytes = tensor.case_bytes();
    std::vector<std::uint8_t>& output = answers.outputs.emplace_back(group.size() * case_bytes);
    for (std::size_t i = 0; i < group.size(); ++i) {
      const std::optional<std::size_t> row = layout_.rows[group.first + i];
      if (!row || bytes->size() < (*row + 1) * case_bytes) {
        answers.missing[i] = true;
        continue;
      }
      const Bytes from = bytes->subspan(*row * case_bytes, case_bytes);
      std::ranges::copy(from, output.begin() + static_cast<std::ptrdiff_t>(i * case_bytes));
    }
  }
  return answers;
}

Result<void> FileSubject::lay_out(const TableEntry& entry, const CaseGroup& group) {
  std::string prefix = prefix_of(entry, group.spec);
  if (prefix == layout_.prefix) return {};
  std::vector<std::optional<std::size_t>> rows(cases_of(entry, group.spec));
  if (const TensorEntry* listed = answers_.find(prefix + "case_id")) {
    if (listed->spec.shape.size() != 1 || bits_of(listed->spec.dtype) != 64) {
      return usage(fmt::format("tensor {}: must be U64 of shape [cases]", quote(prefix + "case_id")));
    }
    Result<std::vector<std::optional<std::size_t>>> placed = listed_rows(entry, rows.size(), *listed);
    if (!placed) return placed.error();
    rows = std::move(*placed);
  } else {
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = i;
  }
  layout_ = {std::move(prefix), std::move(rows)};
  return {};
}

/// The list in the answers, looked up among the ids of the set.
Result<std::vector<std::optional<std::size_t>>> FileSubject::listed_rows(const TableEntry& entry, std::size_t cases,
                                                                         const TensorEntry& listed) const {
  const Result<SafetensorsFile> questions = SafetensorsFile::open(set_.folder / entry.file);
  if (!questions) return questions.error();
  const Result<const TensorEntry*> known = questions->require(listed.spec.name);
  if (!known) return known.error();
  std::unordered_map<std::uint64_t, std::size_t> places;
  const auto known_ids = copy_elements<std::uint64_t>(questions->bytes(**known));
  for (std::size_t i = 0; i < known_ids.size(); ++i) places.emplace(known_ids[i], i);
  std::vector<std::optional<std::size_t>> rows(cases);
  const auto ids = copy_elements<std::uint64_t>(answers_.bytes(listed));
  for (std::size_t row = 0; row < ids.size(); ++row) {
    const auto place = places.find(ids[row]);
    if (place == places.end() || rows[place->second]) {
      return usage(fmt::format("tensor {}: case {} is not in the set, or given twice", quote(listed.spec.name),
                               suite::id_text(ids[row])));
    }
    rows[place->second] = row;
  }
  return rows;
}

/// The bytes of a tensor whose shape but for the number of cases is the one of the set; none where it is missing.
Result<Bytes> FileSubject::read_tensor(const CaseTensor& tensor, GroupAnswers& answers) const {
  const std::string name = layout_.prefix + tensor.name;
  const TensorEntry* entry = answers_.find(name);
  if (entry == nullptr) {
    answers.missing_tensors.push_back(name);
    return Bytes();
  }
  const std::vector<std::uint64_t>& shape = entry->spec.shape;
  const std::size_t cases = layout_.rows.size();
  const bool same_shape = shape.size() == tensor.case_shape.size() + 1 &&
                          std::equal(tensor.case_shape.begin(), tensor.case_shape.end(), shape.begin() + 1);
  if (!same_shape || bits_of(entry->spec.dtype) != bits_of(tensor.dtype) || shape[0] > cases) {
    return usage(fmt::format("tensor {}: must be {} of shape [{}, {}], at most {} cases first", quote(name),
                             fp4proof::name_of(tensor.dtype), cases, fmt::join(tensor.case_shape, ", "), cases));
  }
  return answers_.bytes(*entry);
}

}  // namespace fp4proof::runners
