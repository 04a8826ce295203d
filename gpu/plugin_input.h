#pragma once
// Inputs of the plug-in are binary32 words. So that all kernels of quantization are judged by them, each case is
// answered in the narrowest format that holds it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "formats/result.h"
#include "gpu/matrix.h"
#include "gpu/plugin_memory.h"

namespace fp4proof::gpu::plugin {

/// Formats in which inputs are answered: the environment variable FP4PROOF_GPU_INPUT.
enum class InputMode : std::uint8_t {
  narrowest,  ///< bf16 where that holds every word of the case, else f16 where that does, else f32
  f32,        ///< always f32
  f16,        ///< f16 where that holds every word of the case, else f32
  bf16,       ///< bf16 where that holds every word of the case, else f32
};

/// The mode that the environment names, `narrowest` where it names none.
Result<InputMode> input_mode_of_environment();
const char* input_mode_text(InputMode mode);

/// The words of all cases.
struct InputWords {
  const std::uint32_t* words = nullptr;  ///< device, [cases, words of a case]
  std::int64_t cases = 0;
  std::int64_t case_words = 0;
};

/// A tensor that is answered, [cases, bytes of a case] on the device.
struct OutputTensor {
  void* data = nullptr;
  std::int64_t case_bytes = 0;
};

/// How many cases were answered in each format, by DType.
using FormatCounts = std::array<std::int64_t, 3>;

/// Answers all cases: `input` in the format, `outputs` in the order of the tensors.
using AnswerIn = std::function<Result<void>(DType dtype, const void* input, std::span<void* const> outputs)>;

/// Has every case answered in its format. Where cases of several formats stand in one call, all of them are answered in
/// each of these formats, and the answer of each case is taken from its own.
Result<void> answer_by_format(InputMode mode, const InputWords& input, std::span<const OutputTensor> outputs,
                              const AnswerIn& answer, Scratch& scratch, FormatCounts& counts);

}  // namespace fp4proof::gpu::plugin
