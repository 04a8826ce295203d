// Nibble orders, HiF4 scale words and scale layouts: places typed by hand, and bijectivity over odd sizes.

#include "formats/packing.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "formats/scale_layout.h"

namespace fp4proof {
namespace {

constexpr std::array nibble_orders = {NibbleOrder::even_low, NibbleOrder::even_high, NibbleOrder::split};

TEST(NibblePlace, KnownPlaces) {
  EXPECT_EQ(nibble_place(NibbleOrder::even_low, 0, 32), (NibblePlace{0, 0}));
  EXPECT_EQ(nibble_place(NibbleOrder::even_low, 1, 32), (NibblePlace{0, 4}));
  EXPECT_EQ(nibble_place(NibbleOrder::even_low, 34, 32), (NibblePlace{17, 0}));
  EXPECT_EQ(nibble_place(NibbleOrder::even_high, 0, 32), (NibblePlace{0, 4}));
  EXPECT_EQ(nibble_place(NibbleOrder::even_high, 35, 32), (NibblePlace{17, 0}));
  EXPECT_EQ(nibble_place(NibbleOrder::split, 5, 32), (NibblePlace{5, 0}));
  EXPECT_EQ(nibble_place(NibbleOrder::split, 21, 32), (NibblePlace{5, 4}));
  EXPECT_EQ(nibble_place(NibbleOrder::split, 32, 32), (NibblePlace{16, 0}));
  EXPECT_EQ(nibble_place(NibbleOrder::split, 63, 32), (NibblePlace{31, 4}));
  EXPECT_EQ(nibble_place(NibbleOrder::split, 33, 64), (NibblePlace{1, 4}));
}

TEST(NibblePlace, IsABijectionWithItsInverse) {
  for (const NibbleOrder order : nibble_orders) {
    for (const std::size_t block_size : {std::size_t{2}, std::size_t{16}, std::size_t{32}, std::size_t{64}}) {
      const std::size_t elements = 7 * block_size;
      std::set<std::pair<std::size_t, int>> places;
      for (std::size_t element = 0; element < elements; ++element) {
        const NibblePlace place = nibble_place(order, element, block_size);
        EXPECT_LT(place.byte, packed_row_bytes(elements));
        EXPECT_TRUE(place.shift == 0 || place.shift == 4);
        EXPECT_EQ(nibble_element(order, place, block_size), element);
        places.insert({place.byte, place.shift});
      }
      EXPECT_EQ(places.size(), elements) << name_of(order) << ' ' << block_size;
    }
  }
}

TEST(PackNibbles, KnownBytes) {
  const std::array<std::uint8_t, 8> codes = {0x1, 0x2, 0x3, 0x4, 0xA, 0xB, 0xC, 0xD};
  std::array<std::uint8_t, 4> bytes{};
  pack_nibbles(NibbleOrder::even_low, codes.data(), codes.size(), bytes.data());
  EXPECT_EQ(bytes, (std::array<std::uint8_t, 4>{0x21, 0x43, 0xBA, 0xDC}));
  pack_nibbles(NibbleOrder::even_high, codes.data(), codes.size(), bytes.data());
  EXPECT_EQ(bytes, (std::array<std::uint8_t, 4>{0x12, 0x34, 0xAB, 0xCD}));
  pack_nibbles(NibbleOrder::split, codes.data(), codes.size(), bytes.data());
  EXPECT_EQ(bytes, (std::array<std::uint8_t, 4>{0xA1, 0xB2, 0xC3, 0xD4}));
}

TEST(PackNibbles, TakesOnlyTheLowFourBits) {
  const std::array<std::uint8_t, 2> codes = {0xF3, 0xE4};
  std::uint8_t byte = 0;
  pack_nibbles(NibbleOrder::even_low, codes.data(), codes.size(), &byte);
  EXPECT_EQ(byte, 0x43);
}

TEST(UnpackNibbles, UndoesPackNibbles) {
  std::array<std::uint8_t, 64> codes{};
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::uint8_t>((i * 7 + i / 16) & 0xF);
  for (const NibbleOrder order : nibble_orders) {
    std::array<std::uint8_t, 32> bytes{};
    std::array<std::uint8_t, 64> back{};
    pack_nibbles(order, codes.data(), codes.size(), bytes.data());
    unpack_nibbles(order, bytes.data(), codes.size(), back.data());
    EXPECT_EQ(back, codes) << name_of(order);
  }
}

// Whole rows and blocks tell the same story: packing block by block puts each element at its nibble_place.
TEST(PackNibbles, BlockByBlockAgreesWithPlacesInTheRow) {
  constexpr std::size_t block_size = 32;
  std::array<std::uint8_t, 3 * block_size> codes{};
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::uint8_t>((i * 5 + i / 9) & 0xF);
  for (const NibbleOrder order : nibble_orders) {
    std::array<std::uint8_t, packed_row_bytes(codes.size())> row{};
    for (std::size_t block = 0; block < 3; ++block) {
      pack_nibbles(order, &codes[block * block_size], block_size, &row[block * block_size / 2]);
    }
    for (std::size_t element = 0; element < codes.size(); ++element) {
      const NibblePlace place = nibble_place(order, element, block_size);
      EXPECT_EQ((row[place.byte] >> place.shift) & 0xF, codes[element]) << name_of(order) << ' ' << element;
    }
  }
}

TEST(LittleEndian, LowestByteFirst) {
  std::array<std::uint8_t, 4> bytes{};
  store_le32(0x12345678U, bytes.data());
  EXPECT_EQ(bytes, (std::array<std::uint8_t, 4>{0x78, 0x56, 0x34, 0x12}));
  EXPECT_EQ(load_le32(bytes.data()), 0x12345678U);
}

// Scale code 0x9F; level 2 set in eighths 0 and 5; level 3 set in sixteenths 0, 6, 8 and 15.
TEST(Hif4Word, KnownBytesInBothOrders) {
  constexpr std::uint32_t word = 0x9FU | (0x21U << 8) | (0x41U << 16) | (0x81U << 24);
  std::array<std::uint8_t, 4> bytes{};
  store_hif4_word(MicroOrder::lsb_first, word, bytes.data());
  EXPECT_EQ(bytes, (std::array<std::uint8_t, 4>{0x9F, 0x21, 0x41, 0x81}));
  EXPECT_EQ(load_hif4_word(MicroOrder::lsb_first, bytes.data()), word);
  store_hif4_word(MicroOrder::msb_first, word, bytes.data());
  EXPECT_EQ(bytes, (std::array<std::uint8_t, 4>{0x9F, 0x84, 0x82, 0x81}));
  EXPECT_EQ(load_hif4_word(MicroOrder::msb_first, bytes.data()), word);
}

TEST(Hif4Word, EveryBitHasItsMirrorInItsByte) {
  for (unsigned bit = 0; bit < 32; ++bit) {
    const unsigned mirror = bit < 8 ? bit : bit / 8 * 8 + 7 - bit % 8;
    EXPECT_EQ(swap_micro_order(1U << bit), 1U << mirror) << bit;
  }
}

TEST(ScaleLayout, FitsTheScaleSizesItIsDefinedFor) {
  EXPECT_TRUE(scale_layout_fits(ScaleLayout::row_major, 1));
  EXPECT_TRUE(scale_layout_fits(ScaleLayout::row_major, 4));
  EXPECT_TRUE(scale_layout_fits(ScaleLayout::tiled_128x4, 1));
  EXPECT_FALSE(scale_layout_fits(ScaleLayout::tiled_128x4, 4));
  EXPECT_FALSE(scale_layout_fits(ScaleLayout::patches_16, 1));
  EXPECT_TRUE(scale_layout_fits(ScaleLayout::patches_16, 4));
}

TEST(ScaleLayout, KnownOffsetsRowMajor) {
  EXPECT_EQ(scale_offset(ScaleLayout::row_major, {3, 5, 1}, 2, 3), 13U);
  EXPECT_EQ(scale_offset(ScaleLayout::row_major, {3, 5, 4}, 1, 2, 3), 31U);
  EXPECT_EQ(scale_buffer_bytes(ScaleLayout::row_major, {3, 5, 4}), 60U);
}

TEST(ScaleLayout, KnownOffsetsTiled) {
  const ScaleGrid grid{200, 9, 1};  // 2 x 3 tiles
  EXPECT_EQ(scale_buffer_bytes(ScaleLayout::tiled_128x4, grid), 6U * 512U);
  EXPECT_EQ(scale_offset(ScaleLayout::tiled_128x4, grid, 0, 0), 0U);
  EXPECT_EQ(scale_offset(ScaleLayout::tiled_128x4, grid, 0, 3), 3U);
  EXPECT_EQ(scale_offset(ScaleLayout::tiled_128x4, grid, 33, 2), 22U);
  EXPECT_EQ(scale_offset(ScaleLayout::tiled_128x4, grid, 31, 0), 496U);
  EXPECT_EQ(scale_offset(ScaleLayout::tiled_128x4, grid, 127, 3), 511U);
  EXPECT_EQ(scale_offset(ScaleLayout::tiled_128x4, grid, 0, 4), 512U);
  EXPECT_EQ(scale_offset(ScaleLayout::tiled_128x4, grid, 33, 6), 534U);
  EXPECT_EQ(scale_offset(ScaleLayout::tiled_128x4, grid, 161, 2), 3U * 512U + 22U);
  EXPECT_EQ(scale_place(ScaleLayout::tiled_128x4, grid, 22), (ScalePlace{33, 2, 0, false}));
  EXPECT_EQ(scale_place(ScaleLayout::tiled_128x4, grid, 5U * 512U), (ScalePlace{128, 8, 0, false}));
  EXPECT_EQ(scale_place(ScaleLayout::tiled_128x4, grid, 5U * 512U + 1U), (ScalePlace{128, 9, 0, true}));
}

TEST(ScaleLayout, KnownOffsetsPatches) {
  const ScaleGrid grid{20, 3, 4};  // 2 x 3 patches
  EXPECT_EQ(scale_buffer_bytes(ScaleLayout::patches_16, grid), 6U * 64U);
  EXPECT_EQ(scale_offset(ScaleLayout::patches_16, grid, 0, 0, 0), 0U);
  EXPECT_EQ(scale_offset(ScaleLayout::patches_16, grid, 0, 0, 1), 1U);
  EXPECT_EQ(scale_offset(ScaleLayout::patches_16, grid, 0, 0, 2), 32U);
  EXPECT_EQ(scale_offset(ScaleLayout::patches_16, grid, 0, 0, 3), 33U);
  EXPECT_EQ(scale_offset(ScaleLayout::patches_16, grid, 15, 0, 1), 31U);
  EXPECT_EQ(scale_offset(ScaleLayout::patches_16, grid, 5, 2, 2), 2U * 64U + 42U);
  EXPECT_EQ(scale_offset(ScaleLayout::patches_16, grid, 17, 1, 0), 4U * 64U + 2U);
  EXPECT_EQ(scale_place(ScaleLayout::patches_16, grid, 4U * 64U + 35U), (ScalePlace{17, 1, 3, false}));
  EXPECT_EQ(scale_place(ScaleLayout::patches_16, grid, 3U * 64U + 8U), (ScalePlace{20, 0, 0, true}));
}

struct LayoutCase {
  ScaleLayout layout;
  std::size_t bytes;
};
constexpr std::array<LayoutCase, 4> layout_cases = {{{ScaleLayout::row_major, 1},
                                                     {ScaleLayout::row_major, 4},
                                                     {ScaleLayout::tiled_128x4, 1},
                                                     {ScaleLayout::patches_16, 4}}};

// Every scale byte has its own offset inside the buffer, the inverse finds it, and all other offsets are padding.
void expect_bijection(ScaleLayout layout, const ScaleGrid& grid) {
  const std::size_t size = scale_buffer_bytes(layout, grid);
  std::vector<bool> used(size, false);
  for (std::size_t row = 0; row < grid.rows; ++row) {
    for (std::size_t col = 0; col < grid.cols; ++col) {
      for (std::size_t byte = 0; byte < grid.bytes; ++byte) {
        const std::size_t offset = scale_offset(layout, grid, row, col, byte);
        ASSERT_LT(offset, size);
        ASSERT_FALSE(used[offset]) << "row " << row << " col " << col << " byte " << byte;
        used[offset] = true;
        ASSERT_EQ(scale_place(layout, grid, offset), (ScalePlace{row, col, byte, false}));
      }
    }
  }
  for (std::size_t offset = 0; offset < size; ++offset) {
    ASSERT_EQ(scale_place(layout, grid, offset).padding, !used[offset]) << "offset " << offset;
  }
}

TEST(ScaleLayout, IsABijectionOverOddSizes) {
  for (const LayoutCase& c : layout_cases) {
    for (const std::size_t rows : {1U, 2U, 15U, 16U, 17U, 31U, 33U, 127U, 128U, 129U, 257U, 300U}) {
      for (const std::size_t cols : {1U, 2U, 3U, 4U, 5U, 7U, 8U, 9U}) {
        SCOPED_TRACE(testing::Message() << name_of(c.layout) << ' ' << rows << 'x' << cols << 'x' << c.bytes);
        expect_bijection(c.layout, {rows, cols, c.bytes});
      }
    }
  }
}

TEST(ScaleLayout, AnEmptyTensorHasAnEmptyBuffer) {
  for (const LayoutCase& c : layout_cases) {
    EXPECT_EQ(scale_buffer_bytes(c.layout, {0, 5, c.bytes}), 0U);
    EXPECT_EQ(scale_buffer_bytes(c.layout, {5, 0, c.bytes}), 0U);
  }
}

}  // namespace
}  // namespace fp4proof
