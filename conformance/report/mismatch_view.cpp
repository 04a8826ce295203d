#include "conformance/report/mismatch_view.h"

#include <fmt/format.h>

#include <cmath>

#include "conformance/profiles/profile_lookup.h"
#include "conformance/suite/case_class.h"
#include "formats/element.h"
#include "formats/hif4.h"

namespace fp4proof::report {

namespace {

/// Splits "s.eeee.mmm" at its dots.
void put_fields(NumberView& view, const std::string& fields) {
  const std::size_t first = fields.find('.');
  const std::size_t second = fields.find('.', first + 1);
  view.sign = fields.substr(0, first);
  view.exponent = fields.substr(first + 1, second - first - 1);
  view.fraction = fields.substr(second + 1);
}

NumberView word_view(std::uint32_t word) {
  NumberView view;
  view.value = verify::hex_float(word);
  view.bits = fmt::format("{:08x}", word);
  put_fields(view, verify::float_fields(word));
  return view;
}

NumberView code_view(const Profile& profile, std::uint32_t code) {
  NumberView view;
  view.value = fmt::format("{}", decode_element(profile.element, static_cast<std::uint8_t>(code)));
  view.bits = fmt::format("code {}", code);
  put_fields(view, verify::code_fields(profile, code));
  return view;
}

NumberView scale_view(const Profile& profile, std::uint32_t scale) {
  NumberView view;
  view.value = verify::scale_text(profile, scale);
  switch (profile.family) {
    case Family::mx:
      view.bits = fmt::format("{:02x}", scale);
      view.exponent = fmt::format("{:08b}", scale & 0xFFU);
      break;
    case Family::hif4:
      view.value = view.value.substr(0, view.value.find(" level "));
      view.bits = fmt::format("{:08x}", scale);
      view.exponent = fmt::format("{:06b}", hif4_e6m2(scale) >> 2);
      view.fraction = fmt::format("{:02b}", hif4_e6m2(scale) & 3);
      view.levels = fmt::format("{:08b} {:016b}", scale >> 8 & 0xFFU, scale >> 16);
      break;
    case Family::nvfp4:
      view.bits = fmt::format("{:02x}", scale);
      view.sign = fmt::format("{}", scale >> 7 & 1U);
      view.exponent = fmt::format("{:04b}", scale >> 3 & 0xFU);
      view.fraction = fmt::format("{:03b}", scale & 7U);
      break;
  }
  return view;
}

NumberView plain_view(std::uint32_t number) {
  NumberView view;
  view.value = fmt::format("{}", number);
  view.bits = fmt::format("{:x}", number);
  return view;
}

bool has_codes(const Json& mismatch) {
  const std::string operation = text_at(mismatch, "operation");
  return operation == "quantize" || (operation == "correct" && text_at(mismatch, "tensor") != "values");
}

}  // namespace

std::vector<NumberView> numbers_of(const Json& mismatch) {
  const Result<SharedProfile> found = named_profile(text_at(mismatch, "profile"));
  const Profile* profile = found ? found->get() : nullptr;
  const bool codes = has_codes(mismatch);
  std::vector<NumberView> views;
  const auto add = [&](const char* member, const char* label, const auto& view_of) {
    const std::optional<std::int64_t> number = integer_at(mismatch, member);
    if (!number) return;
    NumberView view = view_of(static_cast<std::uint32_t>(*number));
    view.label = label;
    views.push_back(std::move(view));
  };
  const auto scale = [&](std::uint32_t word) { return profile ? scale_view(*profile, word) : plain_view(word); };
  const auto answer = [&](std::uint32_t word) {
    if (!codes) return word_view(word);
    return profile ? code_view(*profile, word) : plain_view(word);
  };
  add("input", "input", word_view);
  add("expected_scale", "expected scale", scale);
  add("actual_scale", "actual scale", scale);
  add("expected", "expected", answer);
  add("actual", "actual", answer);
  return views;
}

std::string fields_text(const NumberView& view) {
  std::string text = view.sign;
  for (const std::string& field : {view.exponent, view.fraction}) {
    if (!field.empty()) text += (text.empty() ? "" : ".") + field;
  }
  return view.levels.empty() ? text : text + " levels " + view.levels;
}

std::string place_of(const Json& mismatch) {
  const bool codes = has_codes(mismatch);
  const std::string tensor = text_at(mismatch, "tensor");
  std::string place = tensor.empty() ? tensor : tensor + " ";
  place += fmt::format("row {}", count_at(mismatch, "row"));
  if (codes) place += fmt::format(" block {}", count_at(mismatch, "block"));
  if (const auto element = integer_at(mismatch, "element")) {
    place += fmt::format(" {} {}", codes ? "element" : "column", *element);
  }
  return place;
}

std::string cause_of(const Json& mismatch) {
  std::string text = fmt::format("{} {}", text_at(mismatch, "cause"), text_at(mismatch, "kind"));
  const std::int64_t distance = integer_at(mismatch, "distance").value_or(0);
  if (distance != 0) text += fmt::format(", distance {:+}", distance);
  return text;
}

std::string text_of(const Json& mismatch) {
  if (const std::string told = text_at(mismatch, "text"); !told.empty()) return told;
  std::string text = fmt::format("{} {} {} class {} case {}\n  {} at {}\n", text_at(mismatch, "operation"),
                                 text_at(mismatch, "profile"), text_at(mismatch, "group"), text_at(mismatch, "class"),
                                 text_at(mismatch, "case_id"), cause_of(mismatch), place_of(mismatch));
  for (const NumberView& view : numbers_of(mismatch)) {
    text += fmt::format("  {:14}  {} = {}", view.label, view.value, view.bits);
    if (!view.exponent.empty()) text += " = " + fields_text(view);
    text += "\n";
  }
  return text + fmt::format("  {:14}  {}\n", "likely", text_at(mismatch, "likely"));
}

std::string_view class_purpose(std::string_view class_name) {
  const suite::CaseClass* found = suite::find_class(class_name);
  return found == nullptr ? std::string_view() : found->bug;
}

}  // namespace fp4proof::report
