#include "formats/correction_rules.h"

#include <string>

#include "reference/portable/correct.h"

namespace fp4proof::portable {

Result<void> check_stack(const Profile& profile, const CorrectionStack& stack) {
  const char* reason = stack_refusal(profile, stack);
  if (reason == nullptr) return {};
  const std::string name = stack.name.empty() ? "this stack" : "stack " + std::string(stack.name);
  return Error{ErrorKind::usage, name + " on profile " + std::string(profile.name) + ": " + reason};
}

}  // namespace fp4proof::portable
