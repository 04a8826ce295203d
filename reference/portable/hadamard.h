#pragma once
// The random Hadamard transform of rows along K. Rules C10 to C13 of docs/rules-corrections.md.

#include <cstdint>
#include <vector>

#include "formats/spec_corrections.h"

namespace fp4proof::portable {

/// The transform of rows of one length, with its signs drawn once.
class HadamardTransform {
 public:
  /// `columns` must be a multiple of the size. `product` is the product number of HadamardSigns::fresh.
  HadamardTransform(const HadamardSpec& spec, std::uint32_t product, std::int64_t columns);

  /// C10 on the columns [first, first + count) of a row of binary32 words, in place; first and count are multiples of
  /// the size.
  void forward(std::int64_t first, std::int64_t count, std::uint32_t* words) const;
  /// C12, likewise.
  void inverse(std::int64_t first, std::int64_t count, std::uint32_t* words) const;

 private:
  int size_;
  std::vector<std::uint32_t> signs_;  ///< the sign bit of every column
};

}  // namespace fp4proof::portable
