#pragma once
// One block under a correction stack: every number on the way from the inputs to the corrected values, as data.
// correction_text.h and correction_json.h show it. Rules: docs/rules-corrections.md.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "conformance/explain/correction_context.h"
#include "conformance/explain/decomposition_story.h"
#include "conformance/explain/explanation.h"
#include "conformance/explain/hadamard_story.h"
#include "conformance/explain/macro_story.h"
#include "conformance/explain/mask_story.h"
#include "formats/result.h"
#include "formats/spec_corrections.h"

namespace fp4proof::explain {

/// One coded part of the block: the first, or the residual.
struct PartStory {
  std::optional<MacroStory> macro;
  Explanation block;  ///< the inner quantizer on the numbers that it codes; codes before a mask
};

/// What the residual does for one element. Words of binary32.
struct ElementResidual {
  std::uint32_t residual = 0;  ///< r = RN(x - x1)
  std::uint32_t coded = 0;     ///< what the inner quantizer sees: r, or r' under macro blocks
  MaskDecision mask;
  std::uint8_t code = 0;     ///< what is stored, 0 outside the mask
  std::uint32_t second = 0;  ///< x2
  std::uint32_t scaled = 0;  ///< RN(alpha x2)
};

/// One element of the block. Words of binary32.
struct CorrectedElement {
  int index = 0;            ///< in the block
  std::uint32_t input = 0;  ///< x
  std::optional<HadamardTrace> hadamard;
  std::uint32_t inner = 0;  ///< what the correction of the inner quantizer starts from: the transformed x, or x
  std::uint32_t coded = 0;  ///< what the inner quantizer sees: that, or x' under macro blocks
  std::uint8_t code = 0;    ///< of the first part
  std::uint32_t first = 0;  ///< x1
  std::optional<ElementResidual> residual;
  std::uint32_t inner_value = 0;        ///< x1, or RN(x1 + RN(alpha x2)); before the inverse transform
  std::uint32_t value = 0;              ///< x^
  std::optional<Rational> error;        ///< x^ - x, exact; nothing where one of them is not finite
  std::optional<std::uint32_t> plain;   ///< what the profile alone makes of x; nothing where it refuses the tensor
  std::optional<Rational> plain_error;  ///< its error
};

/// The whole story.
struct CorrectionStory {
  std::shared_ptr<const Profile> asked;      ///< as it was asked for
  std::shared_ptr<const Profile> effective;  ///< CorrectionStack::effective of it: what codes the elements
  CorrectionStack stack;
  std::uint32_t product = 0;  ///< the product number of HadamardSigns::fresh
  CorrectionContext context;
  std::int64_t columns = 0;  ///< of the context
  PartStory first;
  std::optional<PartStory> residual;
  std::vector<CorrectedElement> elements;  ///< those of the block that the tensor has, row after row
  BlockDecomposition decomposition;        ///< of x^, with Q* of the profile that was asked for (D8)
};

/// Explains one block. The numbers are those of reference/portable; scales, codes, the stages of the transform and the
/// sum of the parts are derived a second time and compared: `internal` error where a story differs from
/// portable::correct().
///
/// `profile` must pass check_profile() and the name of the stack must outlive the result. `product` is the
/// product number of HadamardSigns::fresh. Errors: those of portable::correct(), also `data` where the profile refuses
/// the tensor.
Result<CorrectionStory> explain_correction(const Profile& profile, const CorrectionStack& stack,
                                           CorrectionContext context, std::uint32_t product = 0);

}  // namespace fp4proof::explain
