#include "conformance/divergence/element_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "formats/float_bits.h"

namespace fp4proof::training {

namespace {

std::string float_text(double value, const std::string& shortest) { return std::isnan(value) ? "nan" : shortest; }

float float_of(ElementType type, std::uint64_t bits) {
  return type == ElementType::bf16 ? bf16_to_float(static_cast<std::uint16_t>(bits))
                                   : float_from_bits(static_cast<std::uint32_t>(bits));
}

/// Bits of a binary number as integers that count up with it.
std::int64_t ordered(std::uint64_t bits, std::uint32_t width) {
  const std::uint64_t sign = std::uint64_t{1} << (width - 1);
  const auto magnitude = static_cast<std::int64_t>(bits & (sign - 1));
  return (bits & sign) != 0 ? -magnitude : magnitude;
}

}  // namespace

std::string bits_text(ElementType type, std::uint64_t bits) {
  return fmt::format("0x{:0{}x}", bits, bits_of(type) / 4);
}

std::string value_text(ElementType type, std::uint64_t bits) {
  switch (type) {
    case ElementType::f32:
    case ElementType::bf16: {
      const float value = float_of(type, bits);
      return float_text(double{value}, fmt::format("{}", value));
    }
    case ElementType::f64: {
      const auto value = bits_as<double>(bits);
      return float_text(value, fmt::format("{}", value));
    }
    case ElementType::i32: return fmt::format("{}", static_cast<std::int32_t>(bits));
    case ElementType::u64:
    case ElementType::byte:
    case ElementType::nibble:
    case ElementType::scale_word: return fmt::format("{}", bits);
  }
  return {};
}

std::string element_text(ElementType type, std::uint64_t bits) {
  return fmt::format("{} = {}", bits_text(type, bits), value_text(type, bits));
}

std::optional<std::uint64_t> ulps_between(ElementType type, std::uint64_t a, std::uint64_t b) {
  const bool is_double = type == ElementType::f64;
  if (!is_double && type != ElementType::f32 && type != ElementType::bf16) return std::nullopt;
  const auto is_nan = [&](std::uint64_t bits) {
    return is_double ? std::isnan(bits_as<double>(bits)) : std::isnan(float_of(type, bits));
  };
  if (is_nan(a) || is_nan(b)) return std::nullopt;
  const std::int64_t low = std::min(ordered(a, bits_of(type)), ordered(b, bits_of(type)));
  const std::int64_t high = std::max(ordered(a, bits_of(type)), ordered(b, bits_of(type)));
  return static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
}

std::string_view type_text(ElementType type) {
  switch (type) {
    case ElementType::f32: return "binary32";
    case ElementType::bf16: return "bfloat16";
    case ElementType::i32: return "int32";
    case ElementType::f64: return "binary64";
    case ElementType::u64: return "uint64";
    case ElementType::byte: return "bytes";
    case ElementType::nibble: return "4-bit codes";
    case ElementType::scale_word: return "scale words";
  }
  return {};
}

std::vector<std::int64_t> coordinates_of(const std::vector<std::int64_t>& shape, std::int64_t index) {
  std::vector<std::int64_t> coordinates(shape.size());
  for (std::size_t d = shape.size(); d-- > 0; index /= shape[d]) coordinates[d] = index % shape[d];
  return coordinates;
}

std::string coordinates_text(const std::vector<std::int64_t>& coordinates) {
  return fmt::format("[{}]", fmt::join(coordinates, ", "));
}

}  // namespace fp4proof::training
