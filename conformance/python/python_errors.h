#pragma once
// Errors of the project as Python exceptions. This is the edge: nothing behind it knows Python.

#include <utility>

#include "formats/result.h"

namespace fp4proof::python {

/// Throws what Python shows: usage, data and corrupt as ValueError, io as OSError, unsupported as NotImplementedError,
/// internal as RuntimeError. The message stays as it is. The caller holds the GIL.
[[noreturn]] void raise(const Error& error);

/// The value, or the exception of raise().
template <class T>
T value_or_raise(Result<T> result) {
  if (!result) raise(result.error());
  return std::move(result).value();
}

inline void raise_unless_ok(const Result<void>& result) {
  if (!result) raise(result.error());
}

}  // namespace fp4proof::python
