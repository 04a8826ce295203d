#include "conformance/export/names.h"

#include <fmt/format.h>

#include <algorithm>

namespace fp4proof::exports {

namespace {

bool is_letter_or_digit(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string file_safe(std::string_view name) {
  std::string safe(name);
  std::ranges::replace_if(
      safe, [](char c) { return !is_letter_or_digit(c) && c != '-' && c != '+' && c != '_'; }, '.');
  return safe;
}

}  // namespace

std::string title_of(const GroupColumns& group) {
  return fmt::format("{} {} {}", suite::name_of(group.operation), group.profile->name,
                     suite::group_name(group.group->spec));
}

std::string folder_name(const suite::CaseTable& table) {
  return fmt::format("{}.{}", suite::name_of(table.operation), file_safe(table.profile->name));
}

std::string file_stem(const suite::CaseGroup& group) { return file_safe(suite::group_name(group.spec)); }

std::string identifier_of(const GroupColumns& group) {
  std::string identifier = "fp4proof_";
  for (const char c : title_of(group)) {
    if (c == '+') {
      identifier += "_plus_";
    } else {
      identifier += is_letter_or_digit(c) ? c : '_';
    }
  }
  return identifier;
}

}  // namespace fp4proof::exports
