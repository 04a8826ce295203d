#include "conformance/training_report/series_style.h"

#include <fmt/format.h>

#include <array>

#include "conformance/report/page_text.h"

namespace fp4proof::training_report {

namespace {

constexpr int colours = 6;
constexpr std::array<const char*, 4> dash_kinds = {"", "7 3", "2 2.5", "9 3 2 3"};

const char* dashes_of(int place) {
  return place < 0 ? "" : dash_kinds[static_cast<std::size_t>(place / colours) % dash_kinds.size()];
}

/// Class names start with a letter; the place of bf16 is -1.
std::string number_of(int place) { return std::to_string(place + 1); }

}  // namespace

SeriesStyles::SeriesStyles(std::span<const RunGroup> groups) {
  for (const RunGroup& group : groups) places_[group.name] = group.name == "bf16" ? -1 : 0;
  int next = 0;
  for (auto& [name, place] : places_) {
    if (place == 0) place = next++;
  }
}

std::string SeriesStyles::style_class(const RunGroup& group) const {
  return "curve s" + number_of(places_.at(group.name));
}

std::string SeriesStyles::dashes(const RunGroup& group) const { return dashes_of(places_.at(group.name)); }

std::string SeriesStyles::swatch(const RunGroup& group) const { return swatch(places_.at(group.name)); }

std::string SeriesStyles::swatch(int place) const {
  const std::string dashes = dashes_of(place);
  return fmt::format(
      "<svg class=\"swatch s{}\" width=\"30\" height=\"10\" viewBox=\"0 0 30 10\" aria-hidden=\"true\"><path d=\"M1 "
      "5h28\"{}/></svg>",
      number_of(place), dashes.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", dashes));
}

std::string SeriesStyles::legend() const {
  std::string html = "<nav class=\"legend\">";
  for (const auto& [name, place] : places_) {
    html +=
        fmt::format("<label class=\"k{0}\"><input type=\"checkbox\" id=\"t{0}\" checked=\"checked\"/>{1}{2}</label>\n",
                    number_of(place), swatch(place), report::shown(name, 60));
  }
  return html + "</nav>\n";
}

std::string SeriesStyles::css() const {
  std::string css;
  for (const auto& [name, place] : places_) {
    css += fmt::format(
        ".s{0}{{color:var(--{1})}}\nmain:has(#t{0}:not(:checked)) .curve.s{0}{{display:none}}\n"
        "main:has(.k{0}:hover) .curve:not(.s{0}),.chart:has(.s{0}:hover) .curve:not(.s{0}){{opacity:.13}}\n",
        number_of(place), place < 0 ? std::string("ink") : fmt::format("hue{}", place % colours));
  }
  return css;
}

}  // namespace fp4proof::training_report
