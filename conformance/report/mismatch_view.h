#pragma once
// The numbers of one mismatch of a report document, as people read them.

#include <string>
#include <vector>

#include "conformance/report/document.h"

namespace fp4proof::report {

/// A number of a mismatch in three forms.
struct NumberView {
  std::string label;  ///< "input", "expected scale", "actual scale", "expected", "actual"
  std::string value;  ///< "-0x1.8p+1", "127 (2^0)", "-1.5"
  std::string bits;   ///< "40400000", "code 5"
  std::string sign;   ///< the fields in binary; empty where the format has none
  std::string exponent;
  std::string fraction;
  std::string levels;  ///< HiF4 scales: the level-2 bits, a space, the level-3 bits
};

/// Those that the mismatch has, in the order of NumberView::label. The profile is looked up by its name; under one that
/// is not a named profile, codes and scales have no fields.
std::vector<NumberView> numbers_of(const Json& mismatch);

/// "0.10000000.100", "101100.01 levels 11110000 0000000000000000"; "" where there are no fields.
std::string fields_text(const NumberView& view);

/// "codes row 0 block 1 element 3", as far as the document says.
std::string place_of(const Json& mismatch);

/// "SCALE scale-code, distance +1".
std::string cause_of(const Json& mismatch);

/// Several lines for people: the case, cause and place, the numbers, the likely cause: `text`, or from the other
/// members.
std::string text_of(const Json& mismatch);

/// The fault that the cases of a class are made to catch, one sentence; "" for an unknown class.
std::string_view class_purpose(std::string_view class_name);

}  // namespace fp4proof::report
