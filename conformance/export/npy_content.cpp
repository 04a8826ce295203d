#include <fmt/format.h>
#include <fmt/ranges.h>

#include "conformance/export/array_files.h"

namespace fp4proof::exports {

namespace {

/// Bytes of an array element that holds a word.
std::size_t element_bytes(const Words& words) { return words.width() <= 8 ? 1 : words.width() / 8; }

}  // namespace

std::string npy_dtype(const Words& words) {
  const std::size_t bytes = element_bytes(words);
  return fmt::format("{}u{}", bytes == 1 ? '|' : '<', bytes);
}

std::string npy_content(std::size_t cases, const Words& words) {
  std::string dictionary = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({},{}), }}",
                                       npy_dtype(words), cases, fmt::join(words.shape, ","));
  // Magic, version and length take 10 bytes; the data start at a multiple of 64, behind a line feed.
  dictionary.append((64 - (10 + dictionary.size() + 1) % 64) % 64, ' ');
  dictionary += '\n';
  std::string content("\x93NUMPY\x01\x00", 8);
  content += static_cast<char>(dictionary.size() & 0xFFU);
  content += static_cast<char>(dictionary.size() >> 8);
  content += dictionary;
  for (std::uint64_t number : words.numbers) {
    for (std::size_t i = 0; i < element_bytes(words); ++i, number >>= 8) content += static_cast<char>(number & 0xFFU);
  }
  return content;
}

}  // namespace fp4proof::exports
