#pragma once
// One output element of a call, made again step by step, and what could have given the other bits.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "conformance/divergence/call_trace.h"

namespace fp4proof::training {

/// A table of steps for people and programs, every number as text.
struct Replay {
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> notes;       ///< what the table does not show
  std::optional<std::uint64_t> result;  ///< the bits that the steps lead to: those of the reference
  std::vector<std::string> causes;      ///< faults that give exactly the other bits; the first are the likeliest
};

/// One element of an output.
struct OutputElement {
  const CapturedCall& answer;  ///< the call as the reference answers it
  const CapturedTensor& output;
  std::int64_t index = 0;
  std::uint64_t other = 0;  ///< the bits of the run that differs from the reference
};

/// Products (T21, T23): block by block, with the codes and scales that fed them.
Replay replay_product(const OutputElement& element);

/// quantize (T20): the block that holds the element.
Replay replay_quantize(const OutputElement& element);

/// adam (T45): its steps.
Replay replay_adam(const OutputElement& element);

/// rms_norm (T32): its steps.
Replay replay_rms_norm(const OutputElement& element);

/// Any operator: what stands at the same place of its inputs.
Replay replay_inputs(const OutputElement& element);

/// The one of these that fits.
Replay replay(const OutputElement& element);

}  // namespace fp4proof::training
