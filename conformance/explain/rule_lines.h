#pragma once
// Lines of a rule, a label and a text: the form in which the correction is told. Internal to the explanation.

#include <string>
#include <string_view>
#include <vector>

#include "conformance/explain/explanation.h"
#include "conformance/explain/ink_table.h"

namespace fp4proof::explain {

class RuleLines {
 public:
  RuleLines() : table_({{""}, {""}, {""}}) {}

  void line(std::string_view rule, const std::string& label, const std::string& text, Ink ink = Ink::plain) {
    table_.add({{std::string(rule), Ink::faint}, {label}, {text, ink}});
  }
  void steps(const std::vector<Step>& steps) {
    for (const Step& step : steps) line(step.rule, step.label, step.text);
  }
  std::string text(std::size_t indent, bool colour) const { return table_.text(indent, colour); }

 private:
  InkTable table_;
};

}  // namespace fp4proof::explain
