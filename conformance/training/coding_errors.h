#pragma once
// What coding costs: the error of every operand that a step codes, and what it consists of. The lines of quant.csv.

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/study/corrected_error.h"
#include "conformance/training/operators.h"

namespace fp4proof::training {

/// One operand of one kind of product, summed over the passes of a step.
struct CodingError {
  std::string product, operand, tensor;  ///< as in CallPlace
  std::string profile, stack;
  CorrectedError error;
};

/// Watches quantize calls. Each is made again by the reference from the operand as the backend holds it, which gives
/// the same codes on a conforming backend.
class CodingErrors : public CallObserver {
 public:
  explicit CodingErrors(Operators& operators) : operators_(&operators) {}

  void after(const ObservedCall& call) override;

  /// What was seen since the last time, in the order of first sight. Error: the reference refused a call.
  Result<std::vector<CodingError>> take();

 private:
  Operators* operators_;
  std::vector<CodingError> seen_;
  Result<void> sound_;
};

}  // namespace fp4proof::training
