#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "conformance/explain/number_text.h"
#include "conformance/minimize/atoms.h"
#include "conformance/minimize/minimal_case.h"
#include "conformance/minimize/simpler.h"
#include "formats/element.h"

namespace fp4proof::minimize {

namespace {

using suite::CaseGroup;
using suite::CaseTensor;

/// A tensor as numbers.
struct Array {
  std::string name;
  std::vector<std::uint64_t> shape;
  bool words = false;
  std::vector<std::uint32_t> values;
};

Array array_of(const std::string& name, const CaseTensor& tensor, Bytes bytes) {
  Array array{name, tensor.case_shape, tensor.dtype == TensorDtype::u32, {}};
  if (array.words) {
    array.values = copy_elements<std::uint32_t>(bytes);
  } else {
    array.values.assign(bytes.begin(), bytes.end());
  }
  return array;
}

std::vector<Array> arrays_of(const Minimal& minimal) {
  const CaseGroup& group = minimal.judged.table.groups.front();
  std::vector<Array> arrays;
  std::size_t output = 0;
  for (const CaseTensor& tensor : group.tensors) {
    const std::string name = tensor.expected ? "expected_" + tensor.name : tensor.name;
    arrays.push_back(array_of(name, tensor, tensor.bytes));
    if (!tensor.expected || minimal.judged.actual.empty()) continue;
    arrays.push_back(array_of("actual_" + tensor.name, tensor, minimal.judged.actual[output++]));
  }
  return arrays;
}

std::string number_of(const Array& array, std::uint32_t value) {
  return array.words && value != 0 ? explain::word_text(value) : fmt::format("{}", value);
}

constexpr std::size_t most_listed = 128;
constexpr std::size_t line_width = 110;

/// Items with commas, lines broken.
std::string listed(const std::vector<std::string>& items, std::string_view indent) {
  std::string text;
  std::size_t width = 0;
  for (const std::string& item : items) {
    if (width != 0 && width + item.size() > line_width) {
      text.back() = '\n';
      text += indent;
      width = 0;
    }
    text += item + ", ";
    width += item.size() + 2;
  }
  if (!text.empty()) text.resize(text.size() - 2);
  return text;
}

std::vector<std::string> all_numbers(const Array& array) {
  std::vector<std::string> items;
  for (const std::uint32_t value : array.values) items.push_back(number_of(array, value));
  return items;
}

/// The numbers that are not zero, `form` with index and number.
template <class Form>
std::vector<std::string> nonzero_numbers(const Array& array, Form form) {
  std::vector<std::string> items;
  for (std::size_t i = 0; i < array.values.size(); ++i)
    if (array.values[i] != 0) items.push_back(form(i, number_of(array, array.values[i])));
  return items;
}

std::string python_line(const Array& array) {
  const std::string_view dtype = array.words ? "uint32" : "uint8";
  const std::string shape = fmt::format("({}{})", fmt::join(array.shape, ", "), array.shape.size() == 1 ? "," : "");
  if (array.values.size() <= most_listed) {
    return fmt::format("{} = np.array([{}], np.{}).reshape({})\n", array.name, listed(all_numbers(array), "    "),
                       dtype, shape);
  }
  std::string text = fmt::format("{} = np.zeros({}, np.{})\n", array.name, shape, dtype);
  for (const std::string& item : nonzero_numbers(
           array, [](std::size_t i, const std::string&number) { return fmt::format("[{}] = {}", i, number); })) {
    text += fmt::format("{}.flat{}\n", array.name, item);
  }
  return text;
}

std::string c_line(const Array& array) {
  const std::string_view type = array.words ? "uint32_t" : "uint8_t";
  const std::vector<std::string> items = array.values.size() <= most_listed
                                             ? all_numbers(array)
                                             : nonzero_numbers(array, [](std::size_t i, const std::string& number) {
                                                 return fmt::format("[{}] = {}", i, number);
                                               });
  return fmt::format("static const {} {}[{}] = {{{}}};\n", type, array.name, array.values.size(),
                     items.empty() ? "0" : listed(items, "    "));
}

std::string indented(const std::string& text, std::string_view indent) {
  std::string result;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    result += line.empty() ? "\n" : fmt::format("{}{}\n", indent, line);
    begin = end + 1;
  }
  return result;
}

std::string value_text(const Profile& profile, const Atom& atom, std::uint32_t value) {
  switch (atom.role) {
    case Role::word:
    case Role::tensor_scale: return fmt::format("{} ({})", explain::float_text(value), explain::word_text(value));
    case Role::code:
      return fmt::format("code {} ({})", value, decode_element(profile.element, static_cast<std::uint8_t>(value)));
    case Role::random: return explain::word_text(value);
    case Role::level_bits: return fmt::format("level bits 0x{:06x}", value);
    case Role::scale:
    case Role::e6m2:
    case Role::macro: return fmt::format("{}", value);
  }
  return {};
}

/// What is not as simple as can be: "input[0][3] = 6 (0x40c00000)".
std::string words_of(const Topic& topic, const Minimal& minimal) {
  constexpr std::size_t most_named = 12;
  const Result<CorrectionStack> stack = suite::stack_of(minimal.question.spec);
  const Result<std::vector<Atom>> atoms = atoms_of(topic, minimal.question.spec);
  if (!stack || !atoms) return {};
  const Profile profile = stack->effective(*topic.profile);
  std::vector<std::string> items;
  for (const Atom& atom : *atoms) {
    const std::uint32_t value = value_of(minimal.question, atom);
    if (value == simplest_value(profile, atom.role)) continue;
    items.push_back(
        fmt::format("{}[{}][{}] = {}", atom.tensor, atom.row, atom.place, value_text(profile, atom, value)));
  }
  if (items.empty()) return "everything is zero";
  const std::size_t more = items.size() > most_named ? items.size() - most_named : 0;
  items.resize(items.size() - more);
  return listed(items, "              ") + (more == 0 ? "" : fmt::format(", and {} more", more));
}

/// What a fresh process makes of a case that is shown as it was found.
std::string fresh_text(const Minimal& minimal) {
  return minimal.fails_fresh ? ", and so it fails in a fresh process"
                             : "; in a fresh process, too, it does not fail in this way";
}

std::string ending_text(const MinimalCase& one) {
  switch (one.minimal.ending) {
    case Ending::minimal:
      return fmt::format("{} questions in {} calls; no element can become zero and no number simpler", one.questions,
                         one.calls);
    case Ending::limit: return fmt::format("stopped after {} calls: it may become smaller with --calls", one.calls);
    case Ending::not_reproduced:
      return "NOT REPRODUCED: asked alone, the case does not fail in this way; it may depend on the other cases of a "
             "call, on what was asked before, or on chance. Shown as it was found" +
             fresh_text(one.minimal);
    case Ending::stateful:
      return "NOT REPRODUCED: what the case was cut down to fails after other questions, but not when it is all that a "
             "fresh process is asked; the kernel keeps something from one question to the next, or it is chance. Shown "
             "as it was found" +
             fresh_text(one.minimal);
    case Ending::picked:
      return "picked, NOT shrunk: answers in a file cannot be asked again, so this is the failing case with the fewest "
             "elements";
  }
  return {};
}

verify::Mismatch mismatch_of(const MinimalCase& one) {
  verify::Mismatch mismatch;
  mismatch.operation = one.found.topic.operation;
  mismatch.profile = one.found.topic.profile;
  mismatch.group = group_name(one.minimal.question.spec);
  mismatch.class_name = one.found.class_name;
  mismatch.case_id = one.case_id;
  mismatch.finding = one.minimal.failure.finding;
  return mismatch;
}

std::string heading(const MinimalCase& one) {
  if (one.minimal.failure.fault.empty()) return verify::to_text(mismatch_of(one));
  return fmt::format("{} {} {} class {} case {}\n  FAULT {}\n", suite::name_of(one.found.topic.operation),
                     one.found.topic.profile->name, group_name(one.minimal.question.spec), one.found.class_name,
                     suite::id_text(one.case_id), one.minimal.failure.fault);
}

nlohmann::json json_of(const Array& array) {
  return {
      {"name", array.name}, {"shape", array.shape}, {"dtype", array.words ? "U32" : "U8"}, {"values", array.values}};
}

std::string_view name_of(Ending ending) {
  constexpr auto names = std::to_array<std::string_view>({"minimal", "limit", "not-reproduced", "stateful", "picked"});
  return names[static_cast<std::size_t>(ending)];
}

}  // namespace

std::string to_text(const MinimalCase& one) {
  const Minimal& minimal = one.minimal;
  std::string text = heading(one);
  text += fmt::format("  found as  case {} ({}), {} elements not zero\n", suite::id_text(one.found.case_id),
                      group_name(one.found.question.spec), minimal.nonzero_before);
  text += fmt::format("  left      {} elements not zero: {}\n", minimal.nonzero, words_of(one.found.topic, minimal));
  text += fmt::format("  how       {}\n", ending_text(one));
  if (!one.story.wrong_step.empty()) text += fmt::format("  first wrong step\n    {}\n", one.story.wrong_step);
  if (!one.story.command.empty()) text += fmt::format("  to paste\n    {}\n", one.story.command);
  if (!one.story.steps.empty()) text += "  the right answer, step by step\n" + indented(one.story.steps, "    ");
  text += "  for Python\n";
  for (const Array& array : arrays_of(minimal)) text += indented(python_line(array), "    ");
  text += "  for C\n";
  for (const Array& array : arrays_of(minimal)) text += indented(c_line(array), "    ");
  return text;
}

nlohmann::json to_json(const MinimalCase& one) {
  const Minimal& minimal = one.minimal;
  const suite::GroupSpec& spec = minimal.question.spec;
  nlohmann::json tensors = nlohmann::json::array();
  for (const Array& array : arrays_of(minimal)) tensors.push_back(json_of(array));
  nlohmann::json json = {{"operation", suite::name_of(one.found.topic.operation)},
                         {"profile", one.found.topic.profile->name},
                         {"class", one.found.class_name},
                         {"case_id", suite::id_text(one.case_id)},
                         {"found",
                          {{"case_id", suite::id_text(one.found.case_id)},
                           {"group", group_name(one.found.question.spec)},
                           {"nonzero", minimal.nonzero_before}}},
                         {"ending", name_of(minimal.ending)},
                         {"fails_fresh", minimal.fails_fresh},
                         {"fault", minimal.failure.fault},
                         {"mismatch", nullptr},
                         {"group", group_name(spec)},
                         {"rows", spec.rows},
                         {"columns", spec.columns},
                         {"other_rows", spec.other_rows},
                         {"axis", spec.axis},
                         {"tail", spec.tail == portable::Tail::pad ? "pad" : "error"},
                         {"accumulator", spec.accumulator},
                         {"correction", spec.correction},
                         {"nonzero", minimal.nonzero},
                         {"tensors", tensors},
                         {"first_wrong_step", one.story.wrong_step},
                         {"explain", one.story.command},
                         {"steps", one.story.steps},
                         {"calls", one.calls},
                         {"questions", one.questions}};
  if (minimal.failure.fault.empty()) json["mismatch"] = verify::to_json(mismatch_of(one));
  return json;
}

}  // namespace fp4proof::minimize
