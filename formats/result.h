#pragma once
// Errors as values. Every fallible function of the project returns Result<T>; text is made at the edge.
// (std::expected is C++23 and nvcc 13 stops at C++20.)

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace fp4proof {

/// What kind of failure it is. The command line maps each kind to one exit code (docs/exit-codes.md).
enum class ErrorKind {
  usage,        ///< the caller asked for something impossible: wrong shape, unknown name, contradictory options
  corrupt,      ///< a file is malformed, truncated, or does not match its digest
  io,           ///< the operating system refused: missing file, no permission, disk full
  data,         ///< well-formed input that the profile rejects, for example NaN under the `error` policy
  unsupported,  ///< a valid request that this implementation does not offer
  backend,      ///< a plug-in, library or program under test failed
  internal,     ///< a broken promise of our own
};

/// One failure: what kind, and a sentence that says what went wrong, where, and how to mend it.
struct Error {
  ErrorKind kind = ErrorKind::internal;
  std::string message;
};

/// Either a value of type T or an Error. `[[nodiscard]]`: a dropped result is a compile-time warning.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  /// The value; only when ok().
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }

  /// The error; only when not ok().
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

/// Success without a value, or an Error.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

}  // namespace fp4proof
