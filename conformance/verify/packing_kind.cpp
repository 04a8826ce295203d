#include "conformance/verify/packing_kind.h"

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include "formats/scale_layout.h"

namespace fp4proof::verify {

namespace {

using Buffer = std::vector<std::uint8_t>;

/// The reordered bytes, or nothing where the reordering has no meaning for the shape.
using Reorder = std::optional<Buffer> (*)(const QuantizedView& view);

bool equal(Bytes a, Bytes b) { return std::ranges::equal(a, b); }

bool has_nibbles(const QuantizedView& view) { return element_spec(view.profile().element).is_nibble(); }

std::optional<Buffer> swapped_nibbles(const QuantizedView& view) {
  if (!has_nibbles(view)) return std::nullopt;
  Buffer bytes(view.codes().begin(), view.codes().end());
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(byte >> 4 | (byte & 0xF) << 4);
  return bytes;
}

std::optional<Buffer> split_nibbles(const QuantizedView& view) {
  if (!has_nibbles(view)) return std::nullopt;
  const std::size_t length = view.profile().block.cols;
  Buffer bytes(view.codes().begin(), view.codes().end());
  Buffer codes(length);
  for (std::size_t begin = 0; begin + length / 2 <= bytes.size(); begin += length / 2) {
    unpack_nibbles(NibbleOrder::split, &bytes[begin], length, codes.data());
    pack_nibbles(NibbleOrder::even_low, codes.data(), length, &bytes[begin]);
  }
  return bytes;
}

/// Codes column after column.
std::optional<Buffer> transposed_codes(const QuantizedView& view) {
  const portable::Geometry& geometry = view.geometry();
  const std::int64_t columns = geometry.padded_columns;
  if (geometry.rows == 1) return std::nullopt;
  Buffer bytes(view.codes().size(), 0);
  for (std::int64_t r = 0; r < geometry.rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) {
      const std::int64_t place = c * geometry.rows + r;
      const std::uint8_t code = view.code(place / columns, place % columns);
      const std::int64_t row = r * geometry.code_bytes_per_row;
      if (has_nibbles(view)) {
        bytes[static_cast<std::size_t>(row + c / 2)] |= static_cast<std::uint8_t>(code << (4 * (c & 1)));
      } else {
        bytes[static_cast<std::size_t>(row + c)] = code;
      }
    }
  }
  return bytes;
}

template <class Word>
Buffer with_hif4_words(const QuantizedView& view, Word change) {
  Buffer bytes(view.scales().begin(), view.scales().end());
  for (std::size_t i = 0; i < bytes.size(); i += 4) store_le32(change(load_le32(&bytes[i])), &bytes[i]);
  return bytes;
}

std::optional<Buffer> msb_first(const QuantizedView& view) {
  if (view.profile().family != Family::hif4) return std::nullopt;
  return with_hif4_words(view, swap_micro_order);
}

std::optional<Buffer> big_endian(const QuantizedView& view) {
  if (view.profile().family != Family::hif4) return std::nullopt;
  return with_hif4_words(view, [](std::uint32_t word) { return __builtin_bswap32(word); });
}

/// Scales column after column.
std::optional<Buffer> column_major_scales(const QuantizedView& view) {
  const portable::Geometry& geometry = view.geometry();
  const auto bytes = static_cast<std::size_t>(scale_bytes(view.profile().family));
  const auto rows = static_cast<std::size_t>(geometry.rows);
  const auto blocks = static_cast<std::size_t>(geometry.blocks);
  Buffer ordered(view.scales().size());
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t b = 0; b < blocks; ++b) {
      std::copy_n(&view.scales()[(b * rows + r) * bytes], bytes, &ordered[(r * blocks + b) * bytes]);
    }
  }
  return ordered;
}

/// Scales stored in a layout of formats/scale_layout.h that needs no padding for this shape.
std::optional<Buffer> from_layout(const QuantizedView& view, ScaleLayout layout) {
  const portable::Geometry& geometry = view.geometry();
  const auto bytes = static_cast<std::size_t>(scale_bytes(view.profile().family));
  const ScaleGrid grid = {static_cast<std::size_t>(geometry.rows), static_cast<std::size_t>(geometry.blocks), bytes};
  if (!scale_layout_fits(layout, bytes) || scale_buffer_bytes(layout, grid) != view.scales().size()) {
    return std::nullopt;
  }
  Buffer ordered(view.scales().size());
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    const ScalePlace place = scale_place(layout, grid, i);
    ordered[scale_offset(ScaleLayout::row_major, grid, place.row, place.col, place.byte)] = view.scales()[i];
  }
  return ordered;
}

std::optional<Buffer> tiled_scales(const QuantizedView& view) { return from_layout(view, ScaleLayout::tiled_128x4); }
std::optional<Buffer> patched_scales(const QuantizedView& view) { return from_layout(view, ScaleLayout::patches_16); }

struct NamedReorder {
  std::string_view kind;
  Reorder reorder;
};

constexpr std::array<NamedReorder, 3> code_orders = {
    {{"swapped-nibbles", swapped_nibbles}, {"split-nibbles", split_nibbles}, {"transposed", transposed_codes}}};
constexpr std::array<NamedReorder, 5> scale_orders = {{{"micro-order", msb_first},
                                                       {"byte-order", big_endian},
                                                       {"scale-order", column_major_scales},
                                                       {"scale-order", tiled_scales},
                                                       {"scale-order", patched_scales}}};

template <std::size_t Count>
std::optional<std::string_view> first_match(const std::array<NamedReorder, Count>& orders, const QuantizedView& actual,
                                            Bytes expected) {
  for (const NamedReorder& order : orders) {
    const std::optional<Buffer> bytes = order.reorder(actual);
    if (bytes && equal(*bytes, expected)) return order.kind;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string_view> packing_kind(const QuantizedView& expected, const QuantizedView& actual) {
  const bool codes_differ = !equal(expected.codes(), actual.codes());
  const bool scales_differ = !equal(expected.scales(), actual.scales());
  std::optional<std::string_view> kind;
  if (codes_differ) {
    kind = first_match(code_orders, actual, expected.codes());
    if (!kind) return std::nullopt;
  }
  if (scales_differ) {
    const std::optional<std::string_view> scale_kind = first_match(scale_orders, actual, expected.scales());
    if (!scale_kind) return std::nullopt;
    if (!kind) kind = scale_kind;
  }
  return kind;
}

}  // namespace fp4proof::verify
