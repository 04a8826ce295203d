#pragma once
// Checkpoints: all that a run needs to go on with the same bits. Random numbers have addresses, not state, so weights,
// moments, the number of the step and the digest chain are all there is.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "conformance/training/parameters.h"
#include "formats/result.h"

namespace fp4proof::training {

struct CheckpointState {
  std::string phase;        ///< "warm-start" or "reinforcement"
  std::int64_t step = 0;    ///< steps done in that phase
  std::uint64_t chain = 0;  ///< digest chain behind them
  std::string identity;     ///< what the run is: a checkpoint of another run is refused
};

/// Where a run keeps the checkpoint of a step, beside the last one: `checkpoint-000120.safetensors`.
std::filesystem::path kept_checkpoint(const std::filesystem::path& folder, std::int64_t step);

/// Writes a safetensors file: NAME, NAME.first_moment and NAME.second_moment of every parameter, the state as metadata.
Result<void> save_checkpoint(const std::filesystem::path& path, Operators& operators, const Parameters& parameters,
                             const CheckpointState& state);

/// The state alone of a checkpoint of that phase and identity. Errors as load_checkpoint(), `usage` also for one of the
/// other phase.
Result<CheckpointState> check_checkpoint(const std::filesystem::path& path, std::string_view phase,
                                         const std::string& identity);

/// Reads one into parameters of the same names and shapes. Errors: `corrupt` for a file that is no checkpoint or whose
/// numbers do not match its digest, `usage` for one of other tensors or with another identity. The parameters then hold
/// anything.
Result<CheckpointState> load_checkpoint(const std::filesystem::path& path, Operators& operators, Parameters& parameters,
                                        const std::string& identity);

}  // namespace fp4proof::training
