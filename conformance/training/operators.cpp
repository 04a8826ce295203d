#include "conformance/training/operators.h"

#include <fmt/format.h>

namespace fp4proof::training {

Result<void> Operators::check() const {
  if (error_) return *error_;
  return {};
}

void Operators::require(const char* name, fp4proof_status status) {
  if (status == FP4PROOF_OK) return;
  const char* reason = table_->error != nullptr ? table_->error() : "";
  fail(name, fmt::format("status {}{}{}", status, *reason == '\0' ? "" : ": ", reason));
}

void Operators::fail(const char* name, const std::string& reason) {
  if (error_) return;
  error_ = Error{ErrorKind::internal, fmt::format("backend {}, operator {}: {}", table_->name, name, reason)};
}

}  // namespace fp4proof::training
