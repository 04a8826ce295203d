#pragma once
// The names of the files of a run, and the first lines of its tables. docs/training.md describes them.

#include <string_view>

namespace fp4proof::training {

inline constexpr const char* run_file = "run.json";
inline constexpr const char* steps_file = "steps.csv";
inline constexpr const char* trace_file = "trace.json";
inline constexpr const char* summary_file = "summary.json";
inline constexpr const char* quant_file = "quant.csv";
inline constexpr const char* gradients_file = "gradients.csv";
inline constexpr const char* operators_file = "operators.csv";

inline constexpr std::string_view run_format = "fp4proof-run/1";
inline constexpr std::string_view steps_header =
    "step,reward,loss,entropy,k1,k3,max_difference,ratio_p99,clip_fraction,length,live_groups,noise_sigma,"
    "gradient_norm,learning_rate,seconds,greedy_rollout,greedy_training,greedy_bf16";
inline constexpr std::string_view quant_header =
    "step,product,operand,tensor,profile,stack,elements,excluded,deadzone_fraction,relative_error,scale_bias,deadzone,"
    "grid,saturated";
inline constexpr std::string_view gradients_header = "step,tensor,cosine,norm_ratio,error,repeats,bias,variance";
inline constexpr std::string_view operators_header = "operator,calls,seconds,share";
/// The line of gradients.csv that takes all parameters together.
inline constexpr const char* all_parameters = "all";

}  // namespace fp4proof::training
