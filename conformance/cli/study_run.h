#pragma once
// What `fp4proof study` measures.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "conformance/cli/progress.h"
#include "conformance/corrections/stack_lookup.h"
#include "conformance/profiles/profile_lookup.h"
#include "conformance/study/measure.h"
#include "formats/result.h"

namespace fp4proof::cli {

/// One profile under one stack. Exactly one of the two is there.
struct StudyRow {
  SharedProfile profile;
  SharedStack stack;
  std::optional<StudyMeasure> measure;
  std::string refused;  ///< why the pair is refused
};

/// One table: a subject, or a sum of subjects.
struct StudyTable {
  std::string subject;
  std::int64_t elements = 0;
  std::vector<StudyRow> rows;

  /// Whether every pair was refused.
  bool is_empty() const;
};

/// A named tensor under study; the memory behind the view is the caller's.
struct StudySubject {
  std::string name;
  portable::TensorView tensor;
};

/// The pairs to be studied, and how.
struct StudyPlan {
  std::vector<SharedProfile> profiles;
  std::vector<SharedStack> stacks;
  portable::QuantizeOptions options;
  std::uint64_t weight_seed = 0;
};

/// Measures every pair on one subject. A pair that check_stack() or the tensor refuses gets the reason; other errors
/// end the study. Counts one unit a pair in `progress`.
Result<StudyTable> study(const StudyPlan& plan, const StudySubject& subject, Progress& progress);

/// The sum of tables of one plan, in order. A pair that one of them refused is refused in the sum.
StudyTable sum_of(const std::vector<StudyTable>& tables);

}  // namespace fp4proof::cli
