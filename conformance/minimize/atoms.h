#pragma once
// The single numbers that a question consists of.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "conformance/minimize/question.h"
#include "formats/result.h"

namespace fp4proof::minimize {

enum class Role : std::uint8_t {
  word,          ///< element: a binary32 word
  code,          ///< element: a code
  random,        ///< random word of an element
  scale,         ///< scale byte of MX or NVFP4
  e6m2,          ///< scale byte of HiF4
  level_bits,    ///< HiF4: level-2 bits (low byte) and level-3 bits
  tensor_scale,  ///< binary32 word
  macro,         ///< factor byte of a macro block
};

/// Where a number is stored.
struct Place {
  std::size_t input = 0;  ///< which tensor
  std::size_t byte = 0;
};

/// One number, stored once or, the scale of a tile, in several places.
struct Atom {
  Role role = Role::word;
  std::vector<Place> places;
  int shift = 0;           ///< codes of four bits: 0 or 4
  int bits = 32;           ///< width: 4, 8, 24 (level bits) or 32
  std::string tensor;      ///< name of the tensor
  std::int64_t row = 0;    ///< across the block axis
  std::int64_t place = 0;  ///< along the block axis: element, block or macro block

  bool is_element() const { return role == Role::word || role == Role::code; }
};

/// Every number of a question: tensor after tensor, row after row, along the block axis.
Result<std::vector<Atom>> atoms_of(const Topic& topic, const suite::GroupSpec& spec);

std::uint32_t value_of(const Question& question, const Atom& atom);
void set_value(Question& question, const Atom& atom, std::uint32_t value);

/// Elements that are not zero; -0 is not.
std::size_t nonzero_elements(const Question& question, const std::vector<Atom>& atoms);

}  // namespace fp4proof::minimize
