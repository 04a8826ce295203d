#include "conformance/diagnose/reorder.h"

#include <algorithm>
#include <cstring>

#include "formats/packing.h"
#include "formats/scale_layout.h"

namespace fp4proof::diagnose {

namespace {

using Buffer = std::vector<std::uint8_t>;
using suite::CaseTensor;

/// Codes or scales of one case.
struct Part {
  const Profile& profile;
  std::size_t rows = 0;
  std::size_t row_bytes = 0;
  bool is_read = false;  ///< the kernel reads it; else it writes it
};

bool is_nibble(const Profile& profile) { return element_spec(profile.element).is_nibble(); }

/// One code a byte.
Buffer unpacked(const Part& part, const Buffer& bytes) {
  if (!is_nibble(part.profile)) return bytes;
  Buffer codes(2 * bytes.size());
  unpack_nibbles(NibbleOrder::even_low, bytes.data(), codes.size(), codes.data());
  return codes;
}

Buffer packed(const Part& part, const Buffer& codes) {
  if (!is_nibble(part.profile)) return codes;
  Buffer bytes(codes.size() / 2);
  pack_nibbles(NibbleOrder::even_low, codes.data(), codes.size(), bytes.data());
  return bytes;
}

bool change_nibbles(const Part& part, NibbleOrder order, Buffer& bytes) {
  if (!is_nibble(part.profile)) return false;
  const std::size_t length = part.profile.block.cols;
  const NibbleOrder from = part.is_read ? order : NibbleOrder::even_low;
  const NibbleOrder to = part.is_read ? NibbleOrder::even_low : order;
  Buffer codes(length);
  for (std::size_t begin = 0; begin + length / 2 <= bytes.size(); begin += length / 2) {
    unpack_nibbles(from, &bytes[begin], length, codes.data());
    pack_nibbles(to, codes.data(), length, &bytes[begin]);
  }
  return true;
}

/// Row-major [rows, columns] items to column after column, or back.
Buffer transposed_items(const Buffer& items, std::size_t rows, std::size_t columns, std::size_t bytes) {
  Buffer result(items.size());
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      std::copy_n(&items[(r * columns + c) * bytes], bytes, &result[(c * rows + r) * bytes]);
    }
  }
  return result;
}

bool transpose_codes(const Part& part, Buffer& bytes) {
  const std::size_t columns = part.row_bytes * (is_nibble(part.profile) ? 2 : 1);
  if (part.rows == 1) return false;
  const Buffer codes = unpacked(part, bytes);
  bytes = packed(part, part.is_read ? transposed_items(codes, columns, part.rows, 1)
                                    : transposed_items(codes, part.rows, columns, 1));
  return true;
}

void swap_word_bytes(Buffer& bytes) {
  for (std::size_t i = 0; i + 4 <= bytes.size(); i += 4) std::reverse(&bytes[i], &bytes[i] + 4);
}

template <class Change>
void change_codes(const Part& part, Buffer& bytes, Change change) {
  Buffer codes = unpacked(part, bytes);
  for (std::uint8_t& code : codes) code = change(code);
  bytes = packed(part, codes);
}

std::uint8_t reversed_bits(const Profile& profile, std::uint8_t code) {
  const auto reversed = reverse_bits_in_bytes(code);
  return static_cast<std::uint8_t>(reversed >> (8 - element_spec(profile.element).bits()));
}

/// Sign and magnitude to two's complement; its own inverse but for the code of -0.
std::uint8_t complemented(const Profile& profile, std::uint8_t code) {
  const std::uint8_t sign = element_spec(profile.element).sign_mask();
  if ((code & sign) == 0) return code;
  return static_cast<std::uint8_t>((0U - code) & (sign - 1U)) | sign;
}

bool reorder_codes_of_case(const Part& part, CodeOrder order, Buffer& bytes) {
  switch (order) {
    case CodeOrder::swapped: return change_nibbles(part, NibbleOrder::even_high, bytes);
    case CodeOrder::split: return change_nibbles(part, NibbleOrder::split, bytes);
    case CodeOrder::transposed: return transpose_codes(part, bytes);
    case CodeOrder::words: swap_word_bytes(bytes); return true;
    case CodeOrder::reversed_bits:
      change_codes(part, bytes, [&](std::uint8_t code) { return reversed_bits(part.profile, code); });
      return true;
    case CodeOrder::complement:
      change_codes(part, bytes, [&](std::uint8_t code) { return complemented(part.profile, code); });
      return true;
  }
  return false;
}

template <class Change>
bool change_hif4_words(const Part& part, Buffer& bytes, Change change) {
  if (part.profile.family != Family::hif4) return false;
  for (std::size_t i = 0; i + 4 <= bytes.size(); i += 4) store_le32(change(load_le32(&bytes[i])), &bytes[i]);
  return true;
}

std::uint32_t exchanged_levels(std::uint32_t word) {
  return (word & 0xFFU) | (word >> 16 & 0xFFU) << 8 | (word >> 24 & 0xFFU) << 16 | (word >> 8 & 0xFFU) << 24;
}

std::uint32_t restored_levels(std::uint32_t word) { return exchanged_levels(exchanged_levels(word)); }

/// The bytes of a padded layout that there is room for; padding is zero, and so is what was cut off.
bool change_layout(const Part& part, ScaleLayout layout, Buffer& bytes) {
  const auto size = static_cast<std::size_t>(scale_bytes(part.profile.family));
  const ScaleGrid grid = {part.rows, part.row_bytes / size, size};
  if (!scale_layout_fits(layout, size)) return false;
  Buffer result(bytes.size(), 0);
  for (std::size_t canonical = 0; canonical < bytes.size(); ++canonical) {
    const ScalePlace place = scale_place(ScaleLayout::row_major, grid, canonical);
    const std::size_t stored = scale_offset(layout, grid, place.row, place.col, place.byte);
    if (stored >= bytes.size()) continue;
    if (part.is_read) {
      result[canonical] = bytes[stored];
    } else {
      result[stored] = bytes[canonical];
    }
  }
  bytes = std::move(result);
  return true;
}

bool transpose_scales(const Part& part, Buffer& bytes) {
  const auto size = static_cast<std::size_t>(scale_bytes(part.profile.family));
  const std::size_t columns = part.row_bytes / size;
  if (part.rows == 1 || columns == 1) return false;
  bytes = part.is_read ? transposed_items(bytes, columns, part.rows, size)
                       : transposed_items(bytes, part.rows, columns, size);
  return true;
}

/// Scales as a kernel reads them that takes rows to be padded to a multiple of 256 elements.
bool read_padded_rows(const Part& part, bool behind_is_zero, Buffer& bytes) {
  const auto size = static_cast<std::size_t>(scale_bytes(part.profile.family));
  const std::size_t columns = part.row_bytes / size;
  const std::size_t step = 256U / part.profile.block.cols;
  const std::size_t stride = (columns + step - 1) / step * step;
  if (!part.is_read || part.rows == 1 || stride == columns) return false;
  Buffer result(bytes.size(), 0);
  const std::size_t count = bytes.size() / size;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t place = i / columns * stride + i % columns;
    if (place >= count && behind_is_zero) continue;
    std::copy_n(&bytes[std::min(place, count - 1) * size], size, &result[i * size]);
  }
  bytes = std::move(result);
  return true;
}

bool reorder_scales_of_case(const Part& part, ScaleOrder order, Buffer& bytes) {
  switch (order) {
    case ScaleOrder::column_major: return transpose_scales(part, bytes);
    case ScaleOrder::tiled_128x4: return change_layout(part, ScaleLayout::tiled_128x4, bytes);
    case ScaleOrder::patches_16: return change_layout(part, ScaleLayout::patches_16, bytes);
    case ScaleOrder::micro_msb: return change_hif4_words(part, bytes, swap_micro_order);
    case ScaleOrder::big_endian:
      return change_hif4_words(part, bytes, [](std::uint32_t word) { return __builtin_bswap32(word); });
    case ScaleOrder::level_bytes:
      return change_hif4_words(part, bytes, part.is_read ? restored_levels : exchanged_levels);
    case ScaleOrder::padded_last: return read_padded_rows(part, false, bytes);
    case ScaleOrder::padded_zero: return read_padded_rows(part, true, bytes);
  }
  return false;
}

bool is_operand(std::string_view name, int operands) {
  if (name.starts_with("a_")) return (operands & 1) != 0;
  if (name.starts_with("b_")) return (operands & 2) != 0;
  return true;
}

/// Applies `reorder` to every case of every tensor of that ending.
template <class Reorder>
void reorder_tensors(Working& working, std::string_view ending, int operands, Reorder reorder) {
  const bool is_read = !suite::reads_words(working.operation);
  for (CaseTensor& tensor : working.cases.tensors) {
    if (tensor.expected == is_read || !tensor.name.ends_with(ending) || tensor.name.ends_with("tensor_scale")) continue;
    if (!is_operand(tensor.name, operands) || tensor.case_bytes() == 0) continue;
    const std::size_t rows = tensor.case_shape.front();
    const Part part{working.profile, rows, tensor.case_bytes() / rows, is_read};
    for (std::size_t i = 0; i < working.cases.size(); ++i) {
      const Bytes bytes = tensor.of_case(i);
      Buffer buffer(bytes.begin(), bytes.end());
      if (!reorder(part, buffer)) break;
      std::copy(buffer.begin(), buffer.end(), tensor.bytes.begin() + static_cast<std::ptrdiff_t>(i * buffer.size()));
    }
  }
}

}  // namespace

void reorder_codes(Working& working, int parameter) {
  reorder_tensors(working, "codes", parameter >> 8, [&](const Part& part, Buffer& bytes) {
    return reorder_codes_of_case(part, static_cast<CodeOrder>(parameter & 0xFF), bytes);
  });
}

void reorder_scales(Working& working, int parameter) {
  reorder_tensors(working, "scales", parameter >> 8, [&](const Part& part, Buffer& bytes) {
    return reorder_scales_of_case(part, static_cast<ScaleOrder>(parameter & 0xFF), bytes);
  });
}

}  // namespace fp4proof::diagnose
