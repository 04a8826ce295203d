#include <fmt/format.h>

#include <array>

#include "conformance/diagnose/hypothesis_rows.h"
#include "conformance/diagnose/steps.h"
#include "formats/spec_corrections.h"

namespace fp4proof::diagnose {

namespace {

void append_stacks(std::vector<Hypothesis>& rows) {
  const auto stacks = correction_stacks();
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    const std::string name(stacks[i].name);
    const std::string text = name == "none" ? "no correction" : fmt::format("corrections {}", name);
    rows.push_back({"corrections", name, text, corrects | multiplies_corrected, every_family, cost_of_change,
                    [](KernelModel& model, int index) {
                      model.correct.stack = correction_stacks()[static_cast<std::size_t>(index)].name;
                    },
                    static_cast<int>(i)});
  }
}

/// Changes one field of whatever stack the question has.
template <void (*Set)(CorrectionStack&, int)>
void append_stack_change(std::vector<Hypothesis>& rows, std::string_view dimension, std::string_view value,
                         std::string_view text, int parameter) {
  rows.push_back({std::string(dimension), std::string(value), std::string(text), corrects, every_family, cost_of_change,
                  [](KernelModel& model, int chosen) {
                    model.correct.change = Set;
                    model.correct.parameter = chosen;
                  },
                  parameter});
}

void set_alpha_halves(CorrectionStack& stack, int halves) { stack.residual.alpha = static_cast<float>(halves) / 2; }
void set_mask(CorrectionStack& stack, int mask) { stack.residual.mask = static_cast<ResidualMask>(mask); }
void set_measure(CorrectionStack& stack, int measure) { stack.residual.measure = static_cast<TileMeasure>(measure); }
void set_signs(CorrectionStack& stack, int signs) { stack.hadamard.signs = static_cast<HadamardSigns>(signs); }
void set_form(CorrectionStack& stack, int form) { stack.macro.form = static_cast<MacroForm>(form); }
void drop_hadamard(CorrectionStack& stack, int) { stack.hadamard = {}; }
void drop_macro(CorrectionStack& stack, int) { stack.macro = {}; }
void drop_residual(CorrectionStack& stack, int) { stack.residual = {}; }
void drop_three_quarters(CorrectionStack& stack, int) { stack.three_quarters = false; }
void drop_stochastic(CorrectionStack& stack, int) { stack.stochastic = false; }

void append_stack_changes(std::vector<Hypothesis>& rows) {
  append_stack_change<set_alpha_halves>(rows, "residual", "alpha-0.5", "a residual of weight 0.5", 1);
  append_stack_change<set_alpha_halves>(rows, "residual", "alpha-1", "a residual of weight 1", 2);
  append_stack_change<drop_residual>(rows, "residual", "off", "no residual", 0);
  for (const ResidualMask mask : {ResidualMask::dense, ResidualMask::two_four, ResidualMask::top_channels,
                                  ResidualMask::top_tiles, ResidualMask::tiles_above}) {
    append_stack_change<set_mask>(rows, "residual-mask", name_of(mask), fmt::format("residual mask {}", name_of(mask)),
                                  number(mask));
  }
  for (const TileMeasure measure : {TileMeasure::input_max, TileMeasure::residual_l2}) {
    append_stack_change<set_measure>(rows, "residual-mask", fmt::format("measure-{}", name_of(measure)),
                                     fmt::format("tiles ranked by {}", name_of(measure)), number(measure));
  }
  for (const HadamardSigns signs : {HadamardSigns::none, HadamardSigns::fixed, HadamardSigns::fresh}) {
    append_stack_change<set_signs>(rows, "hadamard", fmt::format("signs-{}", name_of(signs)),
                                   fmt::format("Hadamard signs: {}", name_of(signs)), number(signs));
  }
  append_stack_change<drop_hadamard>(rows, "hadamard", "off", "no Hadamard transform", 0);
  for (const MacroForm form : {MacroForm::multiply, MacroForm::divide}) {
    append_stack_change<set_form>(rows, "macro", name_of(form),
                                  fmt::format("macro factors in the form {}", name_of(form)), number(form));
  }
  append_stack_change<drop_macro>(rows, "macro", "off", "no macro factors", 0);
  append_stack_change<drop_three_quarters>(rows, "three-quarters", "off", "elements not taken by three quarters", 0);
  append_stack_change<drop_stochastic>(rows, "correction-rounding", "nearest",
                                       "rounding to nearest where the corrections say stochastic", 0);
}

void append_part_faults(std::vector<Hypothesis>& rows) {
  rows.push_back({"macro", "rounded", "macro factors rounded to eight bits, not truncated", corrects, every_family,
                  cost_of_change, [](KernelModel& model, int) { model.correct.macro = MacroFault::rounded; }});
  rows.push_back({"macro", "unused", "macro factors stored and not used", corrects, every_family, cost_of_change,
                  [](KernelModel& model, int) { model.correct.macro = MacroFault::unused; }});
  for (const int shift : {-1, 1}) {
    rows.push_back({"macro", fmt::format("bytes{:+}", shift),
                    fmt::format("macro factor bytes stored off by {:+}", shift), corrects, every_family, cost_of_change,
                    [](KernelModel& model, int value) {
                      model.outputs.push_back({add_to_macro, value});
                    },
                    shift});
  }
  rows.push_back({"residual-mask", "ties-last", "ties of the 2:4 mask to the higher column", corrects, every_family,
                  cost_of_change, [](KernelModel& model, int) { model.correct.mask = MaskFault::ties_last; }});
  rows.push_back({"residual-mask", "by-input", "the 2:4 mask by the input, not the residual", corrects, every_family,
                  cost_of_change, [](KernelModel& model, int) { model.correct.mask = MaskFault::by_input; }});
}

void append_decomposition(std::vector<Hypothesis>& rows) {
  struct Row {
    TermChange change;
    std::string_view value;
    std::string_view text;
  };
  constexpr auto changes = std::to_array<Row>({
      {TermChange::negated, "negated", "terms of x - Q in place of Q - x"},
      {TermChange::binary32, "binary32", "terms rounded to binary32"},
      {TermChange::without_factor, "without-factor", "terms without the factor F"},
  });
  for (const Row& row : changes) {
    rows.push_back({"terms", std::string(row.value), std::string(row.text), decomposes, every_family, cost_of_change,
                    [](KernelModel& model, int change) {
                      model.outputs.push_back({change_terms, change});
                    },
                    number(row.change)});
  }
  rows.push_back({"accumulation", "in-order", "sums of a row added one element after the other", decomposes,
                  every_family, cost_of_change, [](KernelModel& model, int) {
                    model.outputs.push_back({add_terms_in_order, 0});
                  }});
}

}  // namespace

void append_correction_rows(std::vector<Hypothesis>& rows) {
  append_stacks(rows);
  append_stack_changes(rows);
  append_part_faults(rows);
  append_decomposition(rows);
}

}  // namespace fp4proof::diagnose
