#pragma once
// The random Hadamard transform of rows along K. Rules C10 to C13 of docs/rules-corrections.md.

#include <cstdint>
#include <span>
#include <vector>

#include "formats/spec_corrections.h"

namespace fp4proof::portable {

/// The transform of rows of one length, with its signs drawn once.
class HadamardTransform {
 public:
  /// `columns` must be a multiple of the size. `product` is the product number of HadamardSigns::fresh.
  HadamardTransform(const HadamardSpec& spec, std::uint32_t product, std::int64_t columns);

  /// C10 on the columns [first, first + values.size()) of a row, in place; both a multiple of the size.
  void forward(std::int64_t first, std::span<float> values) const;
  /// C12, likewise.
  void inverse(std::int64_t first, std::span<float> values) const;

 private:
  void butterflies(std::span<float> values) const;
  void apply_signs(std::int64_t first, std::span<float> values) const;

  int size_;
  std::vector<std::uint32_t> signs_;  ///< the sign bit of every column; empty where all are +
};

}  // namespace fp4proof::portable
