#pragma once
// trace.json: the digest chain that a run has left.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "conformance/training/trace.h"
#include "formats/result.h"

namespace fp4proof::training {

struct TraceFile {
  std::uint64_t warm_start = 0;  ///< the chain behind the warm start
  std::vector<TraceStep> steps;  ///< 1, 2, ...

  /// The chain behind the last step.
  std::uint64_t chain() const { return steps.empty() ? warm_start : steps.back().chain; }
};

/// A digest as the files of a run have it: 16 hexadecimal digits.
std::string digest_text(std::uint64_t digest);

/// The file as text, a step a line.
std::string trace_text(const TraceFile& trace);

/// Reads one. Errors: `io` for a file that cannot be read, `corrupt` for one that is no trace.
Result<TraceFile> read_trace(const std::filesystem::path& path);

/// The first tensor of two steps with unequal digests; empty: none.
std::string first_differing_tensor(const TraceStep& a, const TraceStep& b);

}  // namespace fp4proof::training
