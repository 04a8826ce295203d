#pragma once
// The ideal quantizer Q* of one block (rule D1 of docs/rules-corrections.md), by exact integers.

#include <array>
#include <cstdint>

#include "formats/block.h"

namespace fp4proof::portable {

class IdealQuantizer {
 public:
  explicit IdealQuantizer(const Profile& profile);

  /// F of rule D3.
  int factor() const { return factor_; }

  /// F Q*(x), exact, for the profile.block.size() elements of one block. `words` are binary32 words as the tensor holds
  /// them, `random` one random word an element or null. A zero carries the sign of x; NaN and infinity get 0.
  void encode_block(const std::uint32_t* words, const std::uint32_t* random, double* result) const;

  /// F Q*(x) is m * level(code) * 2^(level bits): exact, since m has 24 significant bits and a level at most 5.
  double level(std::uint8_t magnitude_code) const { return levels_[magnitude_code]; }

 private:
  struct Part {
    int row;
    int column;
    int rows;
    int columns;
  };
  Magnitude over_unit(std::uint32_t word, const Magnitude& largest) const;
  bool reaches(const std::uint32_t* words, const Magnitude& largest, const Part& part, int log2) const;
  int level_bits(const std::uint32_t* words, const Magnitude& largest, int row, int column) const;
  double encode(std::uint32_t word, std::uint32_t random, const Magnitude& largest, double largest_value,
                int bits) const;

  Profile profile_;
  int factor_;
  Magnitude full_scale_;  ///< what m is coded as: the element's largest value, 7 for HiF4
  std::array<double, 128> levels_{};
};

}  // namespace fp4proof::portable
