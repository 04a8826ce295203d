#include "conformance/training/operators.h"

#include <fmt/format.h>

#include "reference/portable/environment.h"

namespace fp4proof::training {

Result<void> Operators::check() const {
  if (error_) return *error_;
  if (const Result<void> sound = portable::check_environment(); !sound) {
    return Error{ErrorKind::backend,
                 fmt::format("backend {} changed how this process computes: {}", table_->name, sound.error().message)};
  }
  return {};
}

void Operators::require(const char* name, fp4proof_status status) {
  if (status == FP4PROOF_OK) return;
  const ErrorKind kind = status == FP4PROOF_UNSUPPORTED ? ErrorKind::unsupported : ErrorKind::backend;
  fail(kind, name, fmt::format("status {}{}", status, reason()));
}

std::string Operators::reason() const {
  const char* const told = table_->error != nullptr ? table_->error() : "";
  return told == nullptr || *told == '\0' ? "" : fmt::format(": {}", told);
}

void Operators::fail(ErrorKind kind, const char* name, const std::string& reason) {
  if (error_) return;
  error_ = Error{kind, fmt::format("backend {}, operator {}: {}", table_->name, name, reason)};
}

}  // namespace fp4proof::training
