#pragma once
// What the coded parts of a corrected matrix decode to. Rules C19 to C21 and C28 of docs/rules-corrections.md.

#include <cuda_runtime_api.h>

#include "formats/spec.h"
#include "formats/spec_corrections.h"
#include "gpu/correct.h"
#include "gpu/matrix.h"
#include "gpu/status.h"

namespace fp4proof::gpu {

/// How parts are read. Their codes are aligned to 4 bytes.
struct PartFormat {
  Profile profile;  ///< the effective one
  CodedShape shape;
  MacroSpec macro;
  bool three_quarters = false;
};

/// residual[i] := RN(input[i] - x1), x1 being what `part` decodes to. Lines without padding.
Status take_residual(const PartFormat& format, const ConstCodedPart& part, const float* input, float* residual,
                     cudaStream_t stream);

/// values[i] := what the part decodes to.
Status decode_part(const PartFormat& format, const ConstCodedPart& part, float* values, cudaStream_t stream);

/// values[i] := RN(x1 + RN(alpha x2)).
Status decode_parts(const PartFormat& format, const ConstCodedPart& first, const ConstCodedPart& second, float alpha,
                    float* values, cudaStream_t stream);

}  // namespace fp4proof::gpu
