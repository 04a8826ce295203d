#include "conformance/python/study_functions.h"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "conformance/explain/block_source.h"
#include "conformance/explain/correction_context.h"
#include "conformance/explain/correction_json.h"
#include "conformance/explain/correction_story.h"
#include "conformance/explain/correction_text.h"
#include "conformance/explain/decomposition_show.h"
#include "conformance/explain/explain.h"
#include "conformance/explain/explanation_json.h"
#include "conformance/explain/explanation_text.h"
#include "conformance/explain/written_values.h"
#include "conformance/python/arguments.h"
#include "conformance/python/coded_tensor.h"
#include "conformance/python/python_errors.h"
#include "formats/spec_corrections.h"
#include "reference/portable/decompose.h"
#include "reference/portable/dequantize.h"
#include "reference/portable/environment.h"
#include "reference/portable/error_split_sums.h"

namespace fp4proof::python {

namespace nb = nanobind;

namespace {

using portable::ErrorSplit;

nb::dict dict_of(const ErrorSplit& split, int factor) {
  nb::dict result;
  const auto put = [&](const char* name, auto value) { result[name] = value; };
  put("elements", split.elements);
  put("excluded", split.excluded);
  put("compared", split.compared());
  put("in_deadzone", split.in_deadzone);
  put("zeroed", split.zeroed);
  put("inexact", split.inexact);
  put("relative_error", split.relative_error());
  put("scale_share", split.scale_share());
  put("deadzone_share", split.deadzone_share());
  put("grid_share", split.grid_share());
  put("floor_share", split.floor_share());
  put("scale_grid_cosine", split.scale_grid_cosine());
  put("gain", split.gain());
  put("deadzone_fraction", split.deadzone_fraction());
  put("zeroed_fraction", split.zeroed_fraction());
  nb::dict sums;
  for (const auto& [name, member] : portable::error_split_sums) sums[name] = split.*member;
  result["sums"] = sums;
  result["factor"] = factor;
  return result;
}

nb::dict decompose(const AnyArray& array, const std::string& dtype, const std::string& profile_text,
                   const std::string& stack_text, int axis, const std::string& tail, std::uint64_t seed,
                   std::uint32_t product) {
  const FloatTensor tensor = float_tensor_of(array, dtype);
  const SharedProfile profile = profile_of(profile_text);
  const SharedStack stack = stack_of(stack_text);
  portable::CorrectOptions options{{axis, tail_of(tail), seed}, product};
  const auto split = [&]() -> Result<ErrorSplit> {
    const nb::gil_scoped_release released;
    if (const Result<void> sound = portable::check_environment(); !sound) return sound.error();
    const Result<portable::Corrected> coded = portable::correct(*profile, *stack, tensor.view, options);
    if (!coded) return coded.error();
    const std::vector<float> values = portable::dequantize(*coded);
    return portable::decompose(*profile, tensor.view, options.quantize, values);
  };
  return dict_of(value_or_raise(split()), portable::decomposition_factor(*profile));
}

/// How an explanation is wanted.
struct Wish {
  SharedProfile profile;
  SharedStack stack;
  explain::Randomness randomness;
  std::optional<float> tensor_scale;
  explain::TextOptions text;
  std::uint32_t product = 0;

  bool is_plain() const {
    CorrectionStack parts = *stack;
    parts.name = parts.summary = {};
    return parts == CorrectionStack{};
  }
};

Wish wish_of(const nb::dict& options) {
  Wish wish;
  wish.profile = profile_of(nb::cast<std::string>(options["profile"]));
  wish.stack = stack_of(nb::cast<std::string>(options["correction"]));
  wish.randomness.words = nb::cast<std::optional<std::vector<std::uint32_t>>>(options["random"]);
  wish.randomness.seed = nb::cast<std::uint64_t>(options["seed"]);
  wish.tensor_scale = nb::cast<std::optional<float>>(options["tensor_scale"]);
  wish.text.element = nb::cast<std::optional<int>>(options["element"]);
  wish.text.all = nb::cast<bool>(options["all"]);
  wish.product = nb::cast<std::uint32_t>(options["product"]);
  const int size = wish.stack->effective(*wish.profile).block.size();
  if (wish.text.element && (*wish.text.element < 0 || *wish.text.element >= size)) {
    raise({ErrorKind::usage, fmt::format("element {} is not one of the {} elements of the block (0..{})",
                                         *wish.text.element, size, size - 1)});
  }
  return wish;
}

/// The text and the JSON.
using Story = std::pair<std::string, std::string>;

std::string one_line(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Story plain_story(const Wish& wish, Result<explain::BlockQuestion> question) {
  const explain::Explanation explanation =
      value_or_raise(explain::explain_block(*wish.profile, value_or_raise(std::move(question))));
  std::string text = explain::explanation_text(explanation, wish.text);
  nlohmann::json value = explain::explanation_json(explanation);
  value["decomposition"] = nullptr;
  if (!explanation.elements.empty()) {
    const explain::PlainBlock plain(explanation);
    const auto decomposition = value_or_raise(explain::decompose_block(plain.question()));
    value["decomposition"] = explain::decomposition_json(decomposition);
    text += explain::decomposition_text(decomposition, wish.text);
  }
  return {std::move(text), one_line(value)};
}

Story corrected_story(const Wish& wish, Result<explain::CorrectionContext> context) {
  const explain::CorrectionStory story = value_or_raise(
      explain::explain_correction(*wish.profile, *wish.stack, value_or_raise(std::move(context)), wish.product));
  return {explain::correction_text(story, wish.text), one_line(explain::correction_json(story))};
}

Story explain_words(const Wish& wish, const std::vector<std::uint32_t>& words, std::int64_t block) {
  if (wish.is_plain()) {
    return plain_story(wish, explain::block_of_values(*wish.profile, words, wish.randomness, wish.tensor_scale));
  }
  if (wish.tensor_scale) raise({ErrorKind::usage, "tensor_scale goes without a correction, which has its own"});
  return corrected_story(wish, explain::context_of_values(*wish.profile, *wish.stack, words, wish.randomness, block));
}

Story explain_written(const std::string& values, const nb::dict& options) {
  return explain_words(wish_of(options), value_or_raise(explain::parse_values(values)), 0);
}

Story explain_values(const WordArray& words, const nb::dict& options) {
  return explain_words(wish_of(options), {words.data(), words.data() + words.size()}, 0);
}

Story explain_tensor(const AnyArray& array, const std::string& dtype, int axis, const std::string& tail,
                     std::int64_t block, const nb::dict& options) {
  const Wish wish = wish_of(options);
  if (wish.tensor_scale) raise({ErrorKind::usage, "tensor_scale goes without block: a tensor has its own"});
  const FloatTensor tensor = float_tensor_of(array, dtype);
  const explain::BlockAddress address{axis, tail_of(tail), block};
  if (wish.is_plain()) {
    return plain_story(wish, explain::block_of_tensor(*wish.profile, tensor.view, address, wish.randomness));
  }
  return corrected_story(wish,
                         explain::context_of_tensor(*wish.profile, *wish.stack, tensor.view, address, wish.randomness));
}

}  // namespace

void add_study_functions(nb::module_& module) {
  using namespace nb::literals;
  module.def("decompose", decompose, "array"_a, "dtype"_a, "profile"_a, "correction"_a, "axis"_a, "tail"_a, "seed"_a,
             "product"_a);
  module.def("explain_written", explain_written, "values"_a, "options"_a);
  module.def("explain_values", explain_values, "words"_a, "options"_a);
  module.def("explain_tensor", explain_tensor, "array"_a, "dtype"_a, "axis"_a, "tail"_a, "block"_a, "options"_a);
}

}  // namespace fp4proof::python
