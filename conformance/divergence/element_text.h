#pragma once
// Elements of tensors as bits and as numbers.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "conformance/divergence/operator_tensors.h"

namespace fp4proof::training {

/// The bits in hexadecimal, as many digits as the type has: "0x3f800000".
std::string bits_text(ElementType type, std::uint64_t bits);

/// The number: the shortest decimal that reads back as the same bits; of codes and scales the plain integer.
std::string value_text(ElementType type, std::uint64_t bits);

/// Both: "0x3f800000 = 1".
std::string element_text(ElementType type, std::uint64_t bits);

/// How many numbers of the type lie between the two, counting one of them; nothing for NaN and for what is no
/// floating-point number.
std::optional<std::uint64_t> ulps_between(ElementType type, std::uint64_t a, std::uint64_t b);

/// "binary32", "bfloat16", ...
std::string_view type_text(ElementType type);

/// The place of element `index` of a row-major tensor: "[3, 17]".
std::vector<std::int64_t> coordinates_of(const std::vector<std::int64_t>& shape, std::int64_t index);
std::string coordinates_text(const std::vector<std::int64_t>& coordinates);

}  // namespace fp4proof::training
