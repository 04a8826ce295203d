#pragma once
// One long sum in its normative order, and other orders that could have given other bits.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace fp4proof::training {

/// The terms of a sum in order, seq512: acc := RN32(acc + term) from +0, a new acc every `chunk` terms, chunk sums
/// added in order, the first one copied (GM10, GM14 of docs/rules-gemm.md).
struct LongSum {
  std::vector<double> terms;  ///< binary32 numbers, or exact products that are fused into the sum
  std::size_t chunk = 0;      ///< terms a chunk
  std::string term_name;      ///< what a term is: "block", "product", "slice"

  /// acc behind each term.
  std::vector<float> partial_sums() const;
  float total() const;
};

/// Wrong ways to add whose result is `wanted` after `finish`, which is what happens to the sum before it is stored:
/// "blocks 2 and 3 are added in the other order", ...
std::vector<std::string> orders_that_give(const LongSum& sum, const std::function<std::uint32_t(float)>& finish,
                                          std::uint32_t wanted);

}  // namespace fp4proof::training
