#include "tests/gpu/evidence_document.h"

#include <array>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <sstream>

namespace fp4proof::evidence {

namespace {

std::string hex(std::uint64_t digest) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(digest));
  return text.data();
}

std::string text_of(const Digests& digests) {
  std::string text;
  for (const auto& [name, digest] : digests) {
    text += (text.empty() ? "\n    \"" : ",\n    \"") + name + "\": \"" + hex(digest) + "\"";
  }
  return "{" + text + (text.empty() ? "}" : "\n  }");
}

/// The entry of a line `    "NAME": "DIGEST"`, with or without a comma.
bool add_line(const std::string& line, Digests& digests) {
  constexpr std::size_t digits = 16;
  const std::size_t begin = line.find('"') + 1;
  const std::size_t end = line.find("\": \"", begin);
  if (end == std::string::npos || line.size() < end + 4 + digits) return false;
  std::uint64_t digest = 0;
  const char* first = line.data() + end + 4;
  if (std::from_chars(first, first + digits, digest, 16).ptr != first + digits) return false;
  digests[line.substr(begin, end - begin)] = digest;
  return true;
}

}  // namespace

std::string text_of(const Document& document) {
  return "{\n  \"by_ci\": " + text_of(document.by_ci) + ",\n  \"by_hand\": " + text_of(document.by_hand) +
         ",\n  \"format\": \"fp4proof-gpu-digests/1\"\n}\n";
}

Result<Document> read_document(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{ErrorKind::io, path + " cannot be read"};
  std::stringstream text;
  text << file.rdbuf();
  Document document;
  Digests* section = nullptr;
  std::string line;
  while (std::getline(text, line)) {
    if (line.starts_with("  \"by_ci\"")) section = &document.by_ci;
    if (line.starts_with("  \"by_hand\"")) section = &document.by_hand;
    if (!line.starts_with("    \"")) continue;
    if (section == nullptr || !add_line(line, *section)) return Error{ErrorKind::corrupt, path + ": " + line};
  }
  if (text_of(document) != text.str()) return Error{ErrorKind::corrupt, path + " is not as gpu_evidence writes it"};
  return document;
}

}  // namespace fp4proof::evidence
