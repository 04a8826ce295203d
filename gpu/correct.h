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
/// Codes are aligned to 4 bytes.
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
  float* values = nullptr;  ///< [batch, lines, length]: what the parts stand for together (C21); may be null, and under
                            ///< a Hadamard transform is aligned to 16 bytes
};

/// Macro blocks of a line.
constexpr std::int64_t macro_blocks(const MacroSpec& macro, std::int64_t padded_length) {
  return macro.is_on() ? (padded_length + macro.size - 1) / macro.size : 0;
}

/// Bytes of device memory that correct() needs while it runs; 0 for what it refuses.
std::size_t correct_workspace(const CorrectJob& job);

/// Quantizes job.input under the stack, whose shapes are coded_shape(stack.effective(profile), shape). Every matrix of
/// the batch is corrected by itself. Random words are addressed by the place in job.input, whatever the stack does
/// before. The workspace is aligned to 256 bytes.
/// Status::unsupported: a stack that the rules refuse for the profile (C4), and what quantize() does not offer.
/// Status::invalid: a length that is no multiple of the Hadamard size, null or misaligned pointers, blocks and extents
/// that quantize() does not take.
Status correct(const CorrectJob& job, const Corrected& output, void* workspace, std::size_t workspace_bytes,
               cudaStream_t stream);

}  // namespace fp4proof::gpu
