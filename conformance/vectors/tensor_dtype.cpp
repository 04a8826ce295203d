#include "conformance/vectors/tensor_dtype.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>

namespace fp4proof {
namespace {

struct DtypeTraits {
  std::string_view name;
  std::uint32_t bits;
};

// Indexed by TensorDtype.
constexpr std::array<DtypeTraits, 22> traits{{
    {"BOOL", 8},    {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6},     {"U8", 8},          {"I8", 8},
    {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"I16", 16},
    {"U16", 16},    {"F16", 16},    {"BF16", 16},   {"I32", 32},        {"U32", 32},        {"F32", 32},
    {"C64", 64},    {"F64", 64},    {"I64", 64},    {"U64", 64},
}};

static_assert(traits[static_cast<std::size_t>(TensorDtype::f32)].name == "F32");
static_assert(traits[static_cast<std::size_t>(TensorDtype::u64)].name == "U64");

Error shape_error(TensorDtype dtype, std::span<const std::uint64_t> shape, std::string_view problem) {
  return {ErrorKind::usage,
          fmt::format("a {} tensor of shape [{}] {}", name_of(dtype), fmt::join(shape, ", "), problem)};
}

}  // namespace

std::string_view name_of(TensorDtype dtype) { return traits[static_cast<std::size_t>(dtype)].name; }

std::optional<TensorDtype> dtype_named(std::string_view name) {
  const auto found = std::ranges::find(traits, name, &DtypeTraits::name);
  if (found == traits.end()) return std::nullopt;
  return static_cast<TensorDtype>(found - traits.begin());
}

std::uint32_t bits_of(TensorDtype dtype) { return traits[static_cast<std::size_t>(dtype)].bits; }

Result<std::uint64_t> tensor_bytes(TensorDtype dtype, std::span<const std::uint64_t> shape) {
  if (shape.size() > most_dimensions) {
    return Error{ErrorKind::usage,
                 fmt::format("a tensor of {} dimensions is over the limit of {}", shape.size(), most_dimensions)};
  }
  std::uint64_t bits = bits_of(dtype);
  for (const std::uint64_t dimension : shape) {
    if (dimension == 0) continue;
    if (dimension > std::numeric_limits<std::int64_t>::max() / bits) {
      return shape_error(dtype, shape, "is too large: its size in bits exceeds 2^63 - 1");
    }
    bits *= dimension;
  }
  if (std::ranges::count(shape, 0U) > 0) return 0;
  if (bits % 8 != 0) return shape_error(dtype, shape, "does not fill a whole number of bytes; pad the last dimension");
  return bits / 8;
}

}  // namespace fp4proof
