#pragma once
// The result matrix of a GEMM, and what happens where memory does not suffice.

#include <cstddef>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "formats/result.h"

namespace fp4proof::portable {

/// C of m x n zeros, filled by fill(c) unless it is empty. Where C, or what `fill` allocates, does not fit in memory:
/// ErrorKind::unsupported in the name of `function`.
template <class Fill>
Result<std::vector<float>> make_matrix(const char* function, std::int64_t m, std::int64_t n, Fill fill) {
  std::vector<float> c;
  try {
    const auto rows = static_cast<std::size_t>(m);
    const auto columns = static_cast<std::size_t>(n);
    if (columns != 0 && rows > c.max_size() / columns) throw std::length_error("C");
    c.resize(rows * columns);
    if (!c.empty()) fill(c);
    return c;
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  return Error{ErrorKind::unsupported, std::string(function) + ": C of shape [" + std::to_string(m) + ", " +
                                           std::to_string(n) +
                                           "] and the unpacked operands do not fit in memory; multiply in pieces of "
                                           "fewer rows"};
}

}  // namespace fp4proof::portable
