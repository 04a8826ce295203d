#include "conformance/minimize/question.h"

#include <utility>

#include "conformance/suite/undefined_inputs.h"

namespace fp4proof::minimize {

using suite::CaseGroup;
using suite::CaseTable;
using suite::CaseTensor;

Question question_of(const CaseGroup& group, std::size_t index) {
  Question question{group.spec, {}};
  for (const CaseTensor& tensor : group.tensors) {
    if (tensor.expected) continue;
    const Bytes bytes = tensor.of_case(index);
    question.inputs.emplace_back(bytes.begin(), bytes.end());
  }
  return question;
}

Result<CaseTable> table_of(const Topic& topic, std::span<const Question> questions) {
  Result<std::vector<CaseTensor>> tensors =
      suite::group_tensors(topic.operation, *topic.profile, questions.front().spec);
  if (!tensors) return tensors.error();
  CaseGroup group{questions.front().spec, {}, {}, std::move(*tensors)};
  for (const Question& question : questions) {
    auto input = question.inputs.begin();
    for (CaseTensor& tensor : group.tensors) {
      if (tensor.expected) continue;
      if (input == question.inputs.end() || input->size() != tensor.case_bytes()) {
        return Error{ErrorKind::internal, "minimiser: input " + tensor.name + " has not the size of its shape"};
      }
      tensor.bytes.insert(tensor.bytes.end(), input->begin(), input->end());
      ++input;
    }
    group.ids.push_back(group.ids.size());
    group.classes.push_back(0);
  }
  CaseTable table;
  table.operation = topic.operation;
  table.profile = topic.profile;
  table.groups.push_back(std::move(group));
  return table;
}

bool has_answer(const Topic& topic, const Question& question) {
  if (!suite::reads_words(topic.operation)) return true;
  return suite::is_defined(*topic.profile, copy_elements<std::uint32_t>(question.inputs.front()));
}

}  // namespace fp4proof::minimize
