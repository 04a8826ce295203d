#include "conformance/suite/make_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "conformance/suite/drafts.h"
#include "conformance/suite/reference_answers.h"
#include "conformance/suite/undefined_inputs.h"

namespace fp4proof::suite {

namespace {

/// Keeps `most` of the cases, evenly from first to last.
std::vector<CaseInput> evenly(std::vector<CaseInput> cases, std::size_t most) {
  if (cases.size() <= most) return cases;
  std::vector<CaseInput> kept;
  for (std::size_t i = 0; i < most; ++i) {
    const std::size_t index = most == 1 ? 0 : i * (cases.size() - 1) / (most - 1);
    kept.push_back(std::move(cases[index]));
  }
  return kept;
}

std::vector<std::uint8_t> philox_bytes(const CaseContext& context, std::uint64_t first, std::size_t bytes) {
  Words words;
  for (std::uint64_t i = 0; i < bytes / 4; ++i) {
    words.push_back(random_word(context.seed, Stream::cases, context.step, first + i));
  }
  return bytes_of_words(words);
}

Words input_words(const CaseInput& input) { return copy_elements<std::uint32_t>(input.tensors.at("input")); }

bool rounds_stochastically(const Profile& profile, const CaseInput& input) {
  const Result<CorrectionStack> stack = stack_of(input.spec);
  return stack && stack->effective(profile).rounding == Rounding::stochastic;
}

/// Gives each case that rounds stochastically the random words that its class left open.
void add_random_words(const CaseContext& context, std::vector<CaseInput>& cases) {
  std::uint64_t next = std::uint64_t{1} << 32;
  for (CaseInput& input : cases) {
    if (!rounds_stochastically(context.profile, input)) continue;
    const std::size_t bytes = input.tensors.at("input").size();
    if (!input.tensors.contains("random")) input.tensors.emplace("random", philox_bytes(context, next, bytes));
    next += bytes / 4;
  }
}

class TableBuilder {
 public:
  TableBuilder(Operation operation, SharedProfile profile) {
    table_.operation = operation;
    table_.profile = std::move(profile);
  }

  Result<void> add(std::uint16_t class_index, const CaseInput& input) {
    Result<CaseGroup*> group = group_of(input.spec);
    if (!group) return group.error();
    return append(**group, class_index, input);
  }

  CaseTable finish() { return std::move(table_); }

 private:
  Result<CaseGroup*> group_of(const GroupSpec& spec) {
    const auto found = std::ranges::find(table_.groups, spec, &CaseGroup::spec);
    if (found != table_.groups.end()) return &*found;
    Result<std::vector<CaseTensor>> tensors = group_tensors(table_.operation, *table_.profile, spec);
    if (!tensors) return tensors.error();
    table_.groups.push_back({spec, {}, {}, std::move(*tensors)});
    return &table_.groups.back();
  }

  Result<void> append(CaseGroup& group, std::uint16_t class_index, const CaseInput& input) {
    for (CaseTensor& tensor : group.tensors) {
      if (tensor.expected) continue;
      const auto given = input.tensors.find(tensor.name);
      if (given == input.tensors.end() || given->second.size() != tensor.case_bytes()) {
        return Error{ErrorKind::internal,
                     fmt::format("class {}: tensor {} of group {} is missing or of wrong size",
                                 case_classes()[class_index].name, tensor.name, group_name(group.spec))};
      }
      tensor.bytes.insert(tensor.bytes.end(), given->second.begin(), given->second.end());
    }
    const Result<std::uint64_t> id = case_id(table_, group, group.size());
    if (!id) return id.error();
    if (!seen_.insert(*id).second) return remove_last(group);
    group.ids.push_back(*id);
    group.classes.push_back(class_index);
    return {};
  }

  Result<void> remove_last(CaseGroup& group) {
    for (CaseTensor& tensor : group.tensors)
      if (!tensor.expected) tensor.bytes.resize(group.size() * tensor.case_bytes());
    return {};
  }

  CaseTable table_;
  std::unordered_set<std::uint64_t> seen_;
};

}  // namespace

Result<CaseTable> make_questions(const SetPlan& set, Operation operation, SharedProfile profile) {
  TableBuilder builder(operation, profile);
  for (std::size_t index = 0; index < case_classes().size(); ++index) {
    const CaseClass& of_class = case_classes()[index];
    if (of_class.operation != operation || !of_class.applies(*profile)) continue;
    const std::size_t most = most_cases(set, *profile, of_class);
    if (most == 0) continue;
    const CaseContext context{*profile, set.level, most, suite_seed, class_step(of_class.name)};
    std::vector<CaseInput> cases = of_class.make(context);
    if (reads_words(operation)) {
      std::erase_if(cases, [&](const CaseInput& input) { return !is_defined(*profile, input_words(input)); });
    }
    cases = evenly(std::move(cases), most);
    if (reads_words(operation)) add_random_words(context, cases);
    for (const CaseInput& input : cases) {
      const Result<void> added = builder.add(static_cast<std::uint16_t>(index), input);
      if (!added) return added.error();
    }
  }
  return builder.finish();
}

Result<CaseTable> make_table(const SetPlan& set, Operation operation, SharedProfile profile) {
  Result<CaseTable> table = make_questions(set, operation, std::move(profile));
  if (!table) return table;
  const Result<void> answered = answer_by_reference(*table);
  if (!answered) return answered.error();
  return table;
}

}  // namespace fp4proof::suite
