#pragma once
// The digest chain of a run: what every step read and wrote, so that two runs can be compared step by step.

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "conformance/training/digest.h"
#include "conformance/training/parameters.h"

namespace fp4proof::training {

struct TraceStep {
  std::int64_t step = 0;
  std::vector<std::pair<std::string, std::uint64_t>> tensors;  ///< name and digest, in the order of the chain
  std::uint64_t chain = 0;                                     ///< behind this step
};

class Trace {
 public:
  /// The first step of a chain starts from `chain`.
  explicit Trace(std::uint64_t chain = 0) : chain_(chain) {}

  void begin(std::int64_t step);
  template <class T>
  void add(const std::string& name, std::span<const T> elements) {
    add(name, elements.size(), digest_of(elements));
  }
  /// A binary64 number: its two words, low first; a NaN as 0x7FF8000000000000.
  void add(const std::string& name, double number);
  void add(const std::string& name, std::uint64_t elements, std::uint64_t digest);
  /// Weights and moments of every parameter.
  void add(Operators& operators, const Parameters& parameters);
  const TraceStep& end();

  std::uint64_t chain() const { return chain_; }

 private:
  std::uint64_t chain_;
  TraceStep step_;
  Memory<std::uint64_t> digests_;
};

}  // namespace fp4proof::training
