// Code tables, random numbers, digests, packing.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <vector>

#include "conformance/cli/selftest_checks.h"
#include "conformance/vectors/sha256.h"
#include "formats/element.h"
#include "formats/packing.h"
#include "formats/philox.h"
#include "formats/scale_codes.h"
#include "formats/scale_layout.h"
#include "reference/exact/element.h"
#include "reference/exact/float_word.h"
#include "reference/exact/scale.h"

namespace fp4proof::cli {

namespace {

/// The smallest word in [0, infinity) that reaches `code`, by bisection; nothing where none does.
std::optional<std::uint32_t> first_word_of(Element element, Rounding rounding, std::uint8_t code) {
  std::uint32_t low = 0;
  std::uint32_t high = float_infinity_bits;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (encode_element(element, rounding, float_from_bits(middle)) >= code) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low == float_infinity_bits ? std::nullopt : std::optional(low);
}

std::string decode_problem(Element element) {
  const ElementSpec spec = element_spec(element);
  for (int code = 0; code < (1 << spec.bits()); ++code) {
    const auto byte = static_cast<std::uint8_t>(code);
    const std::uint32_t word = float_bits(decode_element(element, byte));
    const exact::CodeKind kind = exact::kind_of_code(element, byte);
    const bool negative = exact::code_is_negative(element, byte);
    bool right = false;
    switch (kind) {
      case exact::CodeKind::nan: right = word == canonical_nan_bits; break;
      case exact::CodeKind::infinity: right = word == ((negative ? float_sign_mask : 0U) | float_infinity_bits); break;
      case exact::CodeKind::finite:
        right = ((word & float_sign_mask) != 0) == negative &&
                exact::float_value(word) == exact::value_of_code(element, byte);
        break;
    }
    if (!right) return fmt::format("code 0x{:02x} decodes to 0x{:08x}", code, word);
  }
  return {};
}

std::string threshold_problem(Element element) {
  for (const Rounding rounding : {Rounding::rne, Rounding::rna, Rounding::rtz, Rounding::ties_down}) {
    for (int code = 1; code <= element_spec(element).max_code; ++code) {
      const auto byte = static_cast<std::uint8_t>(code);
      if (first_word_of(element, rounding, byte) != exact::threshold_word(element, rounding, byte)) {
        return fmt::format("the threshold of code 0x{:02x} under {} differs", code, name_of(rounding));
      }
    }
  }
  return {};
}

/// Compares a scale decoder with the oracle on all codes up to `largest`, and expects NaN at `nan`.
std::string scale_problem(const std::function<float(std::uint8_t)>& decode,
                          const std::function<exact::Rational(std::uint8_t)>& value, int largest, std::uint8_t nan) {
  for (int code = 0; code <= largest; ++code) {
    const float decoded = decode(static_cast<std::uint8_t>(code));
    if (exact::float_value(float_bits(decoded)) != value(static_cast<std::uint8_t>(code))) {
      return fmt::format("code 0x{:02x} decodes to {}", code, decoded);
    }
  }
  return is_nan_bits(float_bits(decode(nan))) ? std::string() : fmt::format("code 0x{:02x} is not NaN", nan);
}

std::string nibble_problem(NibbleOrder order) {
  constexpr std::size_t size = 32;
  std::array<std::uint8_t, size> codes{};
  std::array<std::uint8_t, size> back{};
  std::array<std::uint8_t, size / 2> bytes{};
  for (std::size_t i = 0; i < size; ++i) codes[i] = static_cast<std::uint8_t>((7 * i + 3) % 16);
  pack_nibbles(order, codes.data(), size, bytes.data());
  unpack_nibbles(order, bytes.data(), size, back.data());
  return codes == back ? std::string() : fmt::format("nibble order {} loses codes", name_of(order));
}

std::string layout_problem(ScaleLayout layout) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{4}}) {
    if (!scale_layout_fits(layout, bytes)) continue;
    const ScaleGrid grid{130, 5, bytes};
    std::vector<bool> used(scale_buffer_bytes(layout, grid));
    for (std::size_t row = 0; row < grid.rows; ++row) {
      for (std::size_t col = 0; col < grid.cols; ++col) {
        for (std::size_t byte = 0; byte < bytes; ++byte) {
          const std::size_t offset = scale_offset(layout, grid, row, col, byte);
          const bool back =
              offset < used.size() && scale_place(layout, grid, offset) == ScalePlace{row, col, byte, false};
          if (!back || used[offset]) return fmt::format("scale layout {} is no bijection", name_of(layout));
          used[offset] = true;
        }
      }
    }
  }
  return {};
}

/// One published answer of Philox4x32-10 (Random123, kat_vectors).
struct PhiloxAnswer {
  PhiloxCounter counter;
  PhiloxKey key;
  std::array<std::uint32_t, 4> words;
};

}  // namespace

std::string element_problem(Element element) {
  std::string problem = decode_problem(element);
  return problem.empty() ? threshold_problem(element) : problem;
}

std::string e8m0_problem() { return scale_problem(decode_e8m0, exact::e8m0_value, e8m0_max, e8m0_nan); }
std::string e6m2_problem() { return scale_problem(decode_e6m2, exact::e6m2_value, e6m2_max, e6m2_nan); }
std::string e4m3_problem() {
  return scale_problem(decode_e4m3_scale, exact::e4m3_value, e4m3_scale_max, e4m3_scale_nan);
}

std::string philox_problem() {
  constexpr std::uint32_t ones = 0xFFFFFFFFU;
  static constexpr std::array<PhiloxAnswer, 3> answers = {{
      {{{0, 0, 0, 0}}, {{0, 0}}, {0x6627E8D5U, 0xE169C58DU, 0xBC57AC4CU, 0x9B00DBD8U}},
      {{{ones, ones, ones, ones}}, {{ones, ones}}, {0x408F276DU, 0x41C83B0EU, 0xA20BC7C6U, 0x6D5451FDU}},
      {{{0x243F6A88U, 0x85A308D3U, 0x13198A2EU, 0x03707344U}},
       {{0xA4093822U, 0x299F31D0U}},
       {0xD16CFE09U, 0x94FDCCEBU, 0x5001E420U, 0x24126EA1U}},
  }};
  for (const PhiloxAnswer& answer : answers) {
    const PhiloxBlock block = philox_block(answer.counter, answer.key);
    if (!std::equal(answer.words.begin(), answer.words.end(), block.word)) {
      return fmt::format("the block that starts with 0x{:08x} starts with 0x{:08x}", answer.words[0], block.word[0]);
    }
  }
  return {};
}

std::string sha256_problem() {
  const Result<Sha256Digest> digest = sha256(bytes_of(std::string("abc")));
  if (!digest) return digest.error().message;
  const std::string hex = to_hex(*digest);
  return hex == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" ? "" : "got " + hex;
}

std::string packing_problem() {
  for (const NibbleOrder order : {NibbleOrder::even_low, NibbleOrder::even_high, NibbleOrder::split}) {
    if (std::string problem = nibble_problem(order); !problem.empty()) return problem;
  }
  for (const ScaleLayout layout : {ScaleLayout::row_major, ScaleLayout::tiled_128x4, ScaleLayout::patches_16}) {
    if (std::string problem = layout_problem(layout); !problem.empty()) return problem;
  }
  return {};
}

}  // namespace fp4proof::cli
