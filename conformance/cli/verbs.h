#pragma once
// Every verb of the command.

#include <span>

#include "conformance/cli/verb.h"

namespace fp4proof::cli {

extern const Verb compare_verb;
extern const Verb compare_training_verb;
extern const Verb decompose_verb;
extern const Verb dequantize_verb;
extern const Verb diff_verb;
extern const Verb explain_verb;
extern const Verb export_verb;
extern const Verb gemm_verb;
extern const Verb generate_verb;
extern const Verb info_verb;
extern const Verb lint_verb;
extern const Verb list_verb;
extern const Verb merge_sweeps_verb;
extern const Verb merge_verb;
extern const Verb minimize_verb;
extern const Verb plugin_guardian_verb;
extern const Verb plugin_host_verb;
extern const Verb process_host_verb;
extern const Verb quantize_verb;
extern const Verb report_verb;
extern const Verb reproduce_verb;
extern const Verb run_verb;
extern const Verb selftest_verb;
extern const Verb study_verb;
extern const Verb sweep_verb;
extern const Verb train_verb;
extern const Verb verify_verb;

/// The verbs in the order of `fp4proof --help`.
std::span<const Verb> verbs();

}  // namespace fp4proof::cli
