#pragma once
// Quantization under a stack of corrections (docs/rules-corrections.md) on the device.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "formats/spec.h"
#include "formats/spec_corrections.h"
#include "gpu/matrix.h"
#include "gpu/status.h"

namespace fp4proof::gpu {

struct CorrectJob {
  Profile profile;  ///< before CorrectionStack::effective()
  CorrectionStack stack;
  DType dtype = DType::bf16;
  MatrixShape shape;
  const void* input = nullptr;
  RandomSource random;
  std::uint32_t product = 0;  ///< number of the product, for fresh Hadamard signs
};

/// One coded part: the quantized matrix and, under macro-block scaling, its factor bytes [batch, lines, macro blocks].
struct CodedPart {
  Coded coded;
  std::uint8_t* macro = nullptr;
};

/// The same to read.
struct ConstCodedPart {
  ConstCoded coded;
  const std::uint8_t* macro = nullptr;

  constexpr ConstCodedPart() = default;
  constexpr ConstCodedPart(const ConstCoded& c, const std::uint8_t* m) : coded(c), macro(m) {}
  constexpr ConstCodedPart(const CodedPart& part) : coded(part.coded), macro(part.macro) {}
};

struct Corrected {
  CodedPart first;
  CodedPart residual;       ///< unused where the stack has none; codes outside the mask are +0
  float* values = nullptr;  ///< [batch, lines, length]: what the parts stand for together (C21); may be null
};

/// Macro blocks of a line.
constexpr std::int64_t macro_blocks(const MacroSpec& macro, std::int64_t padded_length) {
  return macro.is_on() ? (padded_length + macro.size - 1) / macro.size : 0;
}

/// Bytes of device memory that correct() needs while it runs.
std::size_t correct_workspace(const CorrectJob& job);

/// Quantizes job.input under the stack, whose shapes are coded_shape(stack.effective(profile), shape).
/// Status::unsupported where the rules do not define the stack for the profile.
Status correct(const CorrectJob& job, const Corrected& output, void* workspace, std::size_t workspace_bytes,
               cudaStream_t stream);

}  // namespace fp4proof::gpu
