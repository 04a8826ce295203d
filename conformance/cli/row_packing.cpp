#include "conformance/cli/row_packing.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "formats/packing.h"
#include "formats/scale_layout.h"

namespace fp4proof::cli {

namespace {

using portable::Geometry;

void reorder_nibbles(NibbleOrder from, NibbleOrder to, const Profile& profile, std::span<std::uint8_t> bytes) {
  const std::size_t size = profile.block.cols;
  std::array<std::uint8_t, 64> codes{};
  for (std::size_t at = 0; at + size / 2 <= bytes.size(); at += size / 2) {
    unpack_nibbles(from, bytes.data() + at, size, codes.data());
    pack_nibbles(to, codes.data(), size, bytes.data() + at);
  }
}

ScaleGrid grid_of(const Profile& profile, std::int64_t rows, std::int64_t blocks) {
  return {static_cast<std::size_t>(rows), static_cast<std::size_t>(blocks),
          static_cast<std::size_t>(scale_bytes(profile.family))};
}

/// Rows that a layout keeps together: a panel is contiguous in the buffer.
std::int64_t panel_rows(ScaleLayout layout) {
  switch (layout) {
    case ScaleLayout::row_major: return 1;
    case ScaleLayout::tiled_128x4: return 128;
    case ScaleLayout::patches_16: return 16;
  }
  return 1;
}

void swap_micro_order_if_needed(const Profile& profile, std::uint8_t* scale) {
  if (profile.family == Family::hif4) store_hif4_word(profile.micro_order, load_le32(scale), scale);
}

}  // namespace

void pack_code_rows(const Profile& profile, std::span<std::uint8_t> codes) {
  if (profile.nibble_order != NibbleOrder::even_low) {
    reorder_nibbles(NibbleOrder::even_low, profile.nibble_order, profile, codes);
  }
}

void unpack_code_rows(const Profile& profile, std::span<std::uint8_t> codes) {
  if (profile.nibble_order != NibbleOrder::even_low) {
    reorder_nibbles(profile.nibble_order, NibbleOrder::even_low, profile, codes);
  }
}

ScalePacker::ScalePacker(const Profile& profile, const Geometry& geometry, Emit emit)
    : profile_(profile),
      geometry_(geometry),
      emit_(std::move(emit)),
      panel_rows_(panel_rows(profile.scale_layout)),
      panel_(scale_buffer_bytes(profile.scale_layout, grid_of(profile, panel_rows_, geometry.blocks)), scale_padding) {}

Result<void> ScalePacker::add(Bytes scales) {
  const ScaleGrid grid = grid_of(profile_, panel_rows_, geometry_.blocks);
  const auto row_bytes = static_cast<std::size_t>(geometry_.scale_bytes_per_row);
  for (std::size_t at = 0; at + row_bytes <= scales.size() && row_ < geometry_.rows; at += row_bytes) {
    const auto local_row = static_cast<std::size_t>(row_ % panel_rows_);
    for (std::size_t block = 0; block < grid.cols; ++block) {
      std::array<std::uint8_t, 4> scale{};
      std::memcpy(scale.data(), scales.data() + at + block * grid.bytes, grid.bytes);
      swap_micro_order_if_needed(profile_, scale.data());
      for (std::size_t byte = 0; byte < grid.bytes; ++byte) {
        panel_[scale_offset(profile_.scale_layout, grid, local_row, block, byte)] = scale[byte];
      }
    }
    ++row_;
    if (row_ % panel_rows_ == 0 || row_ == geometry_.rows) {
      if (Result<void> emitted = emit_panel(); !emitted) return emitted;
    }
  }
  return {};
}

Result<void> ScalePacker::emit_panel() {
  const std::int64_t panel = (row_ - 1) / panel_rows_;
  Result<void> emitted = emit_(static_cast<std::uint64_t>(panel) * panel_.size(), panel_);
  std::fill(panel_.begin(), panel_.end(), scale_padding);
  return emitted;
}

void unpack_scale_rows(const Profile& profile, const Geometry& geometry, RowRange range, Bytes buffer,
                       std::span<std::uint8_t> scales) {
  const ScaleGrid grid = grid_of(profile, geometry.rows, geometry.blocks);
  std::uint8_t* out = scales.data();
  for (std::int64_t row = range.begin; row < range.end; ++row) {
    for (std::size_t block = 0; block < grid.cols; ++block, out += grid.bytes) {
      for (std::size_t byte = 0; byte < grid.bytes; ++byte) {
        out[byte] = buffer[scale_offset(profile.scale_layout, grid, static_cast<std::size_t>(row), block, byte)];
      }
      swap_micro_order_if_needed(profile, out);
    }
  }
}

}  // namespace fp4proof::cli
