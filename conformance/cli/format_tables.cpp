#include "conformance/cli/format_tables.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "conformance/cli/table.h"
#include "conformance/profiles/profile_fields.h"
#include "conformance/profiles/profile_json.h"
#include "formats/element.h"
#include "formats/scale_codes.h"
#include "formats/spec_profiles.h"

namespace fp4proof::cli {

namespace {

using nlohmann::json;

struct ScaleRow {
  const char* name;
  const char* family;
  int bits;
  float smallest;
  float largest;
  int nan_code;
  const char* value;
};

const std::vector<ScaleRow>& scale_rows() {
  static const std::vector<ScaleRow> rows = {
      {"e8m0", "mx", 8, decode_e8m0(0), decode_e8m0(e8m0_max), e8m0_nan, "2^(code - 127)"},
      {"e6m2", "hif4", 8, decode_e6m2(0), decode_e6m2(e6m2_max), e6m2_nan,
       "(1 + m/4) * 2^(e - 48), e = code / 4, m = "
       "code mod 4"},
      {"e4m3", "nvfp4", 8, decode_e4m3_scale(1), decode_e4m3_scale(e4m3_scale_max), e4m3_scale_nan,
       "the element e4m3 without sign; code 0 is 0"},
  };
  return rows;
}

/// The block formats that named profiles use: family, element and shape.
std::vector<Profile> block_formats() {
  std::vector<Profile> formats;
  std::set<std::string> seen;
  for (const Profile& profile : profiles()) {
    const std::string key = fmt::format("{} {} {}x{}", name_of(profile.family), name_of(profile.element),
                                        profile.block.rows, profile.block.cols);
    if (seen.insert(key).second) formats.push_back(profile);
  }
  return formats;
}

/// Stored bits an element: its code, and its share of the scale that each row of a block stores.
double bits_per_element(const Profile& profile) {
  const ElementSpec spec = element_spec(profile.element);
  const int code_bits = spec.is_nibble() ? 4 : 8;
  return code_bits + 8.0 * scale_bytes(profile.family) / profile.block.cols;
}

/// The magnitude codes that mean NaN.
std::vector<int> nan_codes(const ElementSpec& spec) {
  std::vector<int> codes;
  for (int code = spec.max_code + 1; spec.nan_code != 0 && code < spec.sign_mask(); ++code) {
    if (code != spec.inf_code) codes.push_back(code);
  }
  return codes;
}

/// The code that is written, and where there are several all of them.
std::string nan_text(const ElementSpec& spec) {
  const std::vector<int> codes = nan_codes(spec);
  if (codes.empty()) return "-";
  if (codes.size() == 1) return fmt::format("0x{:02x}", spec.nan_code);
  return fmt::format("0x{:02x} (0x{:02x}..0x{:02x})", spec.nan_code, codes.front(), codes.back());
}

std::string code_or_dash(int code) { return code == 0 ? "-" : fmt::format("0x{:02x}", code); }

json code_or_null(int code) { return code == 0 ? json(nullptr) : json(code); }

float largest_value(Element element) { return decode_element(element, element_spec(element).max_code); }

float smallest_value(Element element) { return decode_element(element, 1); }

std::string block_text(const Profile& profile) { return fmt::format("{}x{}", profile.block.rows, profile.block.cols); }

template <class Visit>
void for_each_element(Visit visit) {
  for (std::size_t i = 0; i < element_count; ++i) visit(static_cast<Element>(i));
}

}  // namespace

std::string formats_text() {
  Table elements("lr");
  elements.add({"element", "bits", "exponent", "mantissa", "bias", "smallest", "largest", "NaN", "infinity"});
  for_each_element([&](Element element) {
    const ElementSpec spec = element_spec(element);
    elements.add({std::string(spec.name), fmt::format("{}", spec.bits()), fmt::format("{}", spec.exponent_bits),
                  fmt::format("{}", spec.mantissa_bits), fmt::format("{}", spec.bias),
                  fmt::format("{}", smallest_value(element)), fmt::format("{}", largest_value(element)), nan_text(spec),
                  code_or_dash(spec.inf_code)});
  });
  Table scales("llrrrrl");
  scales.add({"scale", "family", "bits", "smallest", "largest", "NaN", "value"});
  for (const ScaleRow& row : scale_rows()) {
    scales.add({row.name, row.family, fmt::format("{}", row.bits), fmt::format("{}", row.smallest),
                fmt::format("{}", row.largest), fmt::format("0x{:02x}", row.nan_code), row.value});
  }
  Table blocks("lllrl");
  blocks.add({"family", "element", "block", "stored bits/element", "first profile"});
  for (const Profile& profile : block_formats()) {
    blocks.add({std::string(name_of(profile.family)), std::string(name_of(profile.element)), block_text(profile),
                fmt::format("{}", bits_per_element(profile)), std::string(profile.name)});
  }
  return elements.text() + "\n" + scales.text() + "\n" + blocks.text();
}

json formats_as_json() {
  json elements = json::array();
  for_each_element([&](Element element) {
    const ElementSpec spec = element_spec(element);
    elements.push_back({{"name", spec.name},
                        {"bits", spec.bits()},
                        {"exponent_bits", spec.exponent_bits},
                        {"mantissa_bits", spec.mantissa_bits},
                        {"bias", spec.bias},
                        {"smallest", smallest_value(element)},
                        {"largest", largest_value(element)},
                        {"nan_code", code_or_null(spec.nan_code)},
                        {"nan_codes", nan_codes(spec)},
                        {"inf_code", code_or_null(spec.inf_code)}});
  });
  json scales = json::array();
  for (const ScaleRow& row : scale_rows()) {
    scales.push_back({{"name", row.name},
                      {"family", row.family},
                      {"bits", row.bits},
                      {"smallest", row.smallest},
                      {"largest", row.largest},
                      {"nan_code", row.nan_code}});
  }
  json blocks = json::array();
  for (const Profile& profile : block_formats()) {
    blocks.push_back({{"family", name_of(profile.family)},
                      {"element", name_of(profile.element)},
                      {"block", block_text(profile)},
                      {"bits_per_element", bits_per_element(profile)}});
  }
  return {{"elements", elements}, {"scales", scales}, {"blocks", blocks}};
}

std::string profile_text(const Profile& profile) {
  const json values = profile_to_json(profile);
  Table table("l");
  table.add({std::string(profile.name), std::string(profile.summary)});
  for_each_field(profile, [&](const char* name, FieldScope scope, const auto&) {
    if (!in_scope(scope, profile.family)) return;
    const json& value = values.at(name);
    table.add({fmt::format("  {}", name), value.is_string() ? value.get<std::string>() : value.dump()});
  });
  return table.text();
}

}  // namespace fp4proof::cli
