#include "conformance/explain/written_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "conformance/vectors/os_error.h"
#include "formats/float_bits.h"

namespace fp4proof::explain {

namespace {

constexpr std::string_view blanks = " \t\r\n";

std::vector<std::string_view> words_of(std::string_view item) {
  std::vector<std::string_view> words;
  std::size_t begin = item.find_first_not_of(blanks);
  while (begin != std::string_view::npos) {
    const std::size_t end = std::min(item.find_first_of(blanks, begin), item.size());
    words.push_back(item.substr(begin, end - begin));
    begin = item.find_first_not_of(blanks, end);
  }
  return words;
}

/// The words of a text, apart by commas or blanks; nothing where a comma has no word on one of its sides.
std::optional<std::vector<std::string_view>> split(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    const std::vector<std::string_view> item = words_of(text.substr(begin, comma - begin));
    if (item.empty()) return std::nullopt;
    words.insert(words.end(), item.begin(), item.end());
    begin = comma + 1;
  }
  return words;
}

bool starts_hex(std::string_view text) {
  return text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
}

std::optional<std::uint32_t> unsigned_of(std::string_view text, int base) {
  std::uint32_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Error refuse(std::string_view text, std::string_view why) {
  return {ErrorKind::usage, fmt::format("{} {}", quote(text), why)};
}

constexpr std::string_view what_a_value_is =
    "is no number; write decimals (0.1), hexadecimal floats (0x1.8p+2), bits (0x40c00000), inf or nan";

Result<std::uint32_t> unsigned_number(std::string_view text, std::chars_format format) {
  float value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value, format);
  if (problem == std::errc::result_out_of_range) {
    return refuse(text, "does not fit binary32; write inf or 0 if that is meant");
  }
  const bool starts_like_a_number = !text.empty() && text[0] != '-' && text[0] != '+';
  if (problem != std::errc() || end != text.data() + text.size() || !starts_like_a_number) {
    return refuse(text, what_a_value_is);
  }
  return float_bits(value);
}

Result<std::uint32_t> magnitude_of(std::string_view text) {
  if (text == "nan" || text == "NaN") return canonical_nan_bits;
  if (text == "inf" || text == "infinity" || text == "Inf" || text == "Infinity") return float_infinity_bits;
  if (starts_hex(text)) return unsigned_number(text.substr(2), std::chars_format::hex);
  return unsigned_number(text, std::chars_format::general);
}

Result<std::uint32_t> value_of(std::string_view text) {
  const bool is_bits = starts_hex(text) && text.find_first_of("pP.") == std::string_view::npos;
  if (is_bits) {
    const std::optional<std::uint32_t> word = unsigned_of(text.substr(2), 16);
    if (!word) return refuse(text, "is no binary32 word: 0x and one to eight hexadecimal digits");
    return *word;
  }
  const bool negative = text[0] == '-';
  const bool has_sign = negative || text[0] == '+';
  const std::string_view rest = text.substr(has_sign ? 1 : 0);
  if (has_sign && starts_hex(rest) && rest.find_first_of("pP.") == std::string_view::npos) {
    return refuse(text, "has a sign in front of bits; the sign is bit 31 of the word");
  }
  const Result<std::uint32_t> magnitude = magnitude_of(rest);
  if (!magnitude) return refuse(text, magnitude.error().message.substr(quote(rest).size() + 1));
  return *magnitude | (negative ? float_sign_mask : 0U);
}

Result<std::uint32_t> word_of(std::string_view text) {
  const std::optional<std::uint32_t> word = starts_hex(text) ? unsigned_of(text.substr(2), 16) : unsigned_of(text, 10);
  if (!word) return refuse(text, "is no 32-bit word; write decimals or 0x and up to eight hexadecimal digits");
  return *word;
}

template <class Parse>
Result<std::vector<std::uint32_t>> parse_list(std::string_view text, Parse parse) {
  if (text.find_first_not_of(blanks) == std::string_view::npos) {
    return Error{ErrorKind::usage, "the list is empty; write at least one number"};
  }
  const std::optional<std::vector<std::string_view>> parts = split(text);
  if (!parts) return refuse(text, "has an empty item; remove a comma or write the number that is missing");
  std::vector<std::uint32_t> words;
  for (const std::string_view part : *parts) {
    const Result<std::uint32_t> word = parse(part);
    if (!word) return word.error();
    words.push_back(*word);
  }
  return words;
}

}  // namespace

Result<std::vector<std::uint32_t>> parse_values(std::string_view text) { return parse_list(text, value_of); }

Result<std::vector<std::uint32_t>> parse_words(std::string_view text) { return parse_list(text, word_of); }

}  // namespace fp4proof::explain
