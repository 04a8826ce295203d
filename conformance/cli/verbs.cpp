#include "conformance/cli/verbs.h"

#include <array>

namespace fp4proof::cli {

std::span<const Verb> verbs() {
  static const std::array table = {
      list_verb,        info_verb,         quantize_verb, dequantize_verb, compare_verb,
      decompose_verb,   gemm_verb,         explain_verb,  generate_verb,   export_verb,
      run_verb,         verify_verb,       minimize_verb, merge_verb,      lint_verb,
      diff_verb,        reproduce_verb,    study_verb,    train_verb,      compare_training_verb,
      sweep_verb,       merge_sweeps_verb, report_verb,   selftest_verb,   plugin_guardian_verb,
      plugin_host_verb, process_host_verb};
  return table;
}

}  // namespace fp4proof::cli
