#pragma once
// Functions swept over every input, on the device and on the CPU. Each sweep has one digest (the sum of digest_term()
// of tests/exhaustive/word_digest.h over its inputs), the same on both sides.

#include <cstddef>
#include <cstdint>
#include <span>

namespace fp4proof::sweeps {

struct Sweep {
  const char* name;
  const char* what;      ///< the function and its inputs in words
  std::uint64_t inputs;  ///< words 0 up to here
};

std::span<const Sweep> sweeps();

/// The digest by the CPU, on all OpenMP threads. Throws std::logic_error where a function that has to be constant over
/// a run of inputs is not.
std::uint64_t cpu_digest(std::size_t index);

}  // namespace fp4proof::sweeps
