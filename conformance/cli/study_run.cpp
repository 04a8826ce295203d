#include "conformance/cli/study_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "conformance/vectors/os_error.h"
#include "reference/portable/correct.h"

namespace fp4proof::cli {

namespace {

/// A refusal that says something about the pair; anything else is a failure of the study.
bool is_refusal(const Error& error) {
  return error.kind == ErrorKind::usage || error.kind == ErrorKind::data || error.kind == ErrorKind::unsupported;
}

Error named(const StudySubject& subject, const Error& error) {
  return {error.kind, fmt::format("tensor {}: {}", quote(subject.name), error.message)};
}

}  // namespace

bool StudyTable::is_empty() const {
  return std::none_of(rows.begin(), rows.end(), [](const StudyRow& row) { return row.measure.has_value(); });
}

Result<StudyTable> study(const StudyPlan& plan, const StudySubject& subject, Progress& progress) {
  const auto tensor = StudyTensor::make(subject.tensor, plan.options, plan.weight_seed);
  if (!tensor) return named(subject, tensor.error());
  StudyTable table{subject.name, tensor->elements(), {}};
  for (const SharedProfile& profile : plan.profiles) {
    for (const SharedStack& stack : plan.stacks) {
      StudyRow row{profile, stack, {}, {}};
      const auto fits = portable::check_stack(*profile, *stack);
      if (!fits) {
        row.refused = fits.error().message;
      } else if (const auto measure = tensor->measure(*profile, *stack); measure) {
        row.measure = *measure;
      } else if (is_refusal(measure.error())) {
        row.refused = measure.error().message;
      } else {
        return named(subject, measure.error());
      }
      table.rows.push_back(std::move(row));
      progress.advance(1);
    }
  }
  return table;
}

StudyTable sum_of(const std::vector<StudyTable>& tables) {
  StudyTable sum = tables.front();
  for (std::size_t i = 1; i < tables.size(); ++i) {
    sum.elements += tables[i].elements;
    for (std::size_t r = 0; r < sum.rows.size(); ++r) {
      StudyRow& row = sum.rows[r];
      const StudyRow& other = tables[i].rows[r];
      if (row.measure && other.measure) {
        row.measure->add(*other.measure);
      } else if (row.measure) {
        row.measure.reset();
        row.refused = fmt::format("tensor {}: {}", quote(tables[i].subject), other.refused);
      }
    }
  }
  sum.subject = fmt::format("all {} tensors", tables.size());
  return sum;
}

}  // namespace fp4proof::cli
