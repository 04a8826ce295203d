#include "conformance/training/operators.h"

#include <fmt/format.h>

namespace fp4proof::training {

Result<void> Operators::check() const {
  if (error_) return *error_;
  return {};
}

void Operators::require(const char* name, fp4proof_status status) {
  if (status == FP4PROOF_OK) return;
  fail(name, fmt::format("status {}{}", status, reason()));
}

std::string Operators::reason() const {
  const char* const told = table_->error != nullptr ? table_->error() : "";
  return *told == '\0' ? "" : fmt::format(": {}", told);
}

void Operators::fail(const char* name, const std::string& reason) {
  if (error_) return;
  error_ = Error{ErrorKind::internal, fmt::format("backend {}, operator {}: {}", table_->name, name, reason)};
}

}  // namespace fp4proof::training
