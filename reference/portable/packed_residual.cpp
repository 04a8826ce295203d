// A 2:4 residual as sparse tensor cores take it (C26).

#include <array>
#include <string>

#include "reference/portable/corrected_parts.h"
#include "reference/portable/residual_mask.h"

namespace fp4proof::portable {

namespace {

constexpr std::int64_t group_size = 4;

/// The two kept places of a group, in rising order.
struct Pair {
  int first = 0;
  int second = 0;
};

Pair kept_places(std::span<const float> row, std::int64_t column) {
  std::array<float, group_size> four{};
  std::array<std::uint8_t, group_size> kept{};
  for (std::size_t i = 0; i < four.size(); ++i) {
    const std::size_t at = static_cast<std::size_t>(column) + i;
    if (at < row.size()) four[i] = row[at];
  }
  keep_two_of_four(four.data(), kept.data());
  Pair pair{-1, -1};
  for (int i = 0; i < group_size; ++i) {
    if (kept[static_cast<std::size_t>(i)] != 0) (pair.first < 0 ? pair.first : pair.second) = i;
  }
  return pair;
}

std::uint8_t nibble_at(const std::uint8_t* bytes, std::int64_t place) {
  return static_cast<std::uint8_t>((bytes[place / 2] >> (4 * (place & 1))) & 0xF);
}

void put_nibble(std::uint8_t* bytes, std::int64_t place, unsigned nibble) {
  bytes[place / 2] = static_cast<std::uint8_t>(bytes[place / 2] | (nibble << (4 * (place & 1))));
}

Result<void> check_packable(const Corrected& corrected) {
  const bool fits = element_spec(corrected.profile.element).is_nibble() && corrected.residual.has_value() &&
                    corrected.stack.residual.mask == ResidualMask::two_four;
  if (fits) return {};
  return Error{ErrorKind::usage, "stack " + std::string(corrected.stack.name) + " on profile " +
                                     std::string(corrected.profile.name) +
                                     ": only a 2:4 residual of 4-bit elements packs; choose a stack such as resq on a "
                                     "4-bit profile"};
}

std::int64_t groups_of(const Geometry& g) { return g.padded_columns / group_size; }
std::int64_t place_bytes_of(const Geometry& g) { return (groups_of(g) + 1) / 2; }

}  // namespace

Result<PackedResidual> pack_residual(const Corrected& corrected, const TensorView& tensor,
                                     const CorrectOptions& options) {
  if (const auto checked = check_packable(corrected); !checked) return checked.error();
  const Geometry& g = corrected.geometry();
  const auto cut = cut_into_blocks(corrected.profile, tensor.shape, options.quantize.axis, options.quantize.tail);
  if (!cut) return cut.error();
  if (cut->shape != g.shape || cut->axis != g.axis) {
    return Error{ErrorKind::usage,
                 "the tensor to pack the residual of has another shape or axis than the corrected "
                 "one; pass the tensor and options that it was made from"};
  }
  const std::vector<float> input = inner_input(corrected.stack, corrected.product, tensor, g);
  const std::vector<float> residual = difference(input, decode_part(corrected, corrected.first));
  PackedResidual packed;
  packed.code_bytes_per_row = groups_of(g);
  packed.place_bytes_per_row = place_bytes_of(g);
  packed.codes.resize(static_cast<std::size_t>(g.rows * packed.code_bytes_per_row));
  packed.places.resize(static_cast<std::size_t>(g.rows * packed.place_bytes_per_row));
#pragma omp parallel for schedule(static)
  for (std::int64_t row = 0; row < g.rows; ++row) {
    const std::uint8_t* codes = corrected.residual->quantized.codes.data() + row * g.code_bytes_per_row;
    std::uint8_t* out_codes = packed.codes.data() + row * packed.code_bytes_per_row;
    std::uint8_t* out_places = packed.places.data() + row * packed.place_bytes_per_row;
    const auto values =
        std::span(residual).subspan(static_cast<std::size_t>(row * g.columns), static_cast<std::size_t>(g.columns));
    for (std::int64_t group = 0; group < packed.code_bytes_per_row; ++group) {
      const auto [first, second] = kept_places(values, group_size * group);
      out_codes[group] = static_cast<std::uint8_t>(nibble_at(codes, group_size * group + first) |
                                                   (nibble_at(codes, group_size * group + second) << 4));
      put_nibble(out_places, group, static_cast<unsigned>(first | (second << 2)));
    }
  }
  return packed;
}

Result<std::vector<std::uint8_t>> unpack_residual(const Geometry& geometry, const PackedResidual& packed) {
  const std::int64_t groups = groups_of(geometry);
  const bool nibbles = geometry.code_bytes_per_row * 2 == geometry.padded_columns;
  const bool sizes_fit = nibbles && packed.code_bytes_per_row == groups &&
                         packed.place_bytes_per_row == place_bytes_of(geometry) &&
                         packed.codes.size() == static_cast<std::size_t>(geometry.rows * groups) &&
                         packed.places.size() == static_cast<std::size_t>(geometry.rows * place_bytes_of(geometry));
  if (!sizes_fit) {
    return Error{ErrorKind::corrupt,
                 "packed residual: " + std::to_string(packed.codes.size()) + " bytes of codes and " +
                     std::to_string(packed.places.size()) + " of places do not fit " + std::to_string(geometry.rows) +
                     " rows of " + std::to_string(groups) + " groups of 4-bit codes; pack it again from its tensor"};
  }
  std::vector<std::uint8_t> codes(static_cast<std::size_t>(geometry.code_bytes()), 0);
  for (std::int64_t row = 0; row < geometry.rows; ++row) {
    std::uint8_t* out = codes.data() + row * geometry.code_bytes_per_row;
    for (std::int64_t group = 0; group < groups; ++group) {
      const unsigned places = nibble_at(packed.places.data() + row * packed.place_bytes_per_row, group);
      const unsigned first = places & 3U;
      const unsigned second = places >> 2;
      if (first >= second) {
        return Error{ErrorKind::corrupt, "packed residual: row " + std::to_string(row) + ", group " +
                                             std::to_string(group) + " keeps places " + std::to_string(first) +
                                             " and " + std::to_string(second) +
                                             ", which do not rise; pack it again from its tensor"};
      }
      const unsigned pair = packed.codes[static_cast<std::size_t>(row * groups + group)];
      put_nibble(out, group_size * group + first, pair & 0xFU);
      put_nibble(out, group_size * group + second, pair >> 4);
    }
  }
  return codes;
}

}  // namespace fp4proof::portable
