#pragma once
// How the groups of a page are told apart: six colours in four kinds of line, bf16 in the colour of the text. A group
// looks the same in every chart, whatever its preset.

#include <map>
#include <span>
#include <string>

#include "conformance/training_report/run_groups.h"

namespace fp4proof::training_report {

class SeriesStyles {
 public:
  explicit SeriesStyles(std::span<const RunGroup> groups);

  /// The class of what is drawn of a group: its colour, and what the legend hides.
  std::string style_class(const RunGroup& group) const;
  /// As stroke-dasharray; empty: a whole line.
  std::string dashes(const RunGroup& group) const;

  /// A piece of the line, as an SVG element.
  std::string swatch(const RunGroup& group) const;
  /// A box to tick for each name: it hides and shows the curves, and lifts them out under the pointer. Without a
  /// script.
  std::string legend() const;
  /// The rules of these classes.
  std::string css() const;

 private:
  std::string swatch(int place) const;

  std::map<std::string, int> places_;  ///< by name; -1 for bf16
};

}  // namespace fp4proof::training_report
