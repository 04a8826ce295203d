#include "conformance/python/coded_tensor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "conformance/profiles/nearest_name.h"
#include "conformance/python/arguments.h"
#include "conformance/python/python_errors.h"
#include "conformance/vectors/os_error.h"
#include "formats/spec_corrections.h"
#include "reference/portable/dequantize.h"
#include "reference/portable/environment.h"

namespace fp4proof::python {

namespace nb = nanobind;

namespace {

portable::Accumulator accumulator_of(const std::string& name) {
  if (const auto found = portable::find_accumulator(name)) return *found;
  std::vector<std::string> names;
  for (const portable::Accumulator accumulator : portable::accumulators) names.emplace_back(name_of(accumulator));
  raise({ErrorKind::usage, fmt::format("unknown accumulator {}{}; there are {}", quote(name), did_you_mean(name, names),
                                       fmt::join(names, " "))});
}

/// The shape of the input tensor: the block axis back in its place.
std::vector<std::int64_t> input_shape(const portable::Geometry& geometry) {
  std::vector<std::int64_t> shape = geometry.shape;
  if (!shape.empty()) std::rotate(shape.begin() + geometry.axis, shape.end() - 1, shape.end());
  return shape;
}

/// The block axis made the last one.
std::vector<std::int64_t> block_axis_last(std::vector<std::int64_t> shape, int axis) {
  const int rank = static_cast<int>(shape.size());
  if (axis < -rank || axis >= rank) {
    raise({ErrorKind::usage, fmt::format("axis {} is out of range for shape [{}]", axis, fmt::join(shape, ", "))});
  }
  const auto place = shape.begin() + (axis < 0 ? axis + rank : axis);
  std::rotate(place, place + 1, shape.end());
  return shape;
}

CodedTensor quantize(const AnyArray& array, const std::string& dtype, const std::string& profile_text,
                     const std::string& stack_text, int axis, const std::string& tail, std::uint64_t seed,
                     std::uint32_t stream, std::uint32_t step, std::uint32_t product,
                     const std::optional<WordArray>& random) {
  const FloatTensor tensor = float_tensor_of(array, dtype);
  SharedProfile profile = profile_of(profile_text);
  SharedStack stack = stack_of(stack_text);
  portable::CorrectOptions options;
  options.quantize.axis = axis;
  options.quantize.tail = tail_of(tail);
  options.quantize.seed = seed;
  options.quantize.stream = static_cast<Stream>(stream);
  options.quantize.step = step;
  options.product = product;
  if (random) {
    if (shape_of(*random) != tensor.shape) raise({ErrorKind::usage, "random has another shape than the array"});
    options.quantize.random_words = {random->data(), random->size()};
  }
  const auto coded = [&]() -> Result<portable::Corrected> {
    const nb::gil_scoped_release released;
    if (const Result<void> sound = portable::check_environment(); !sound) return sound.error();
    return portable::correct(*profile, *stack, tensor.view, options);
  };
  return {profile, stack, value_or_raise(coded())};
}

std::vector<std::uint8_t> bytes_of_part(const ByteArray& array, const std::vector<std::int64_t>& shape,
                                        std::string_view name) {
  if (shape_of(array) != shape) {
    raise({ErrorKind::usage, fmt::format("{} have shape [{}] where [{}] is needed", name,
                                         fmt::join(shape_of(array), ", "), fmt::join(shape, ", "))});
  }
  return {array.data(), array.data() + array.size()};
}

CodedTensor code(const ByteArray& codes, const ByteArray& scales, float tensor_scale, const std::string& profile_text,
                 const std::vector<std::int64_t>& shape, int axis) {
  SharedProfile profile = profile_of(profile_text);
  const std::vector<std::int64_t> logical = block_axis_last(shape, axis);
  const int from_front = axis < 0 ? axis + static_cast<int>(shape.size()) : axis;
  portable::Quantized quantized;
  quantized.geometry = value_or_raise(portable::geometry_of_quantized(*profile, logical, from_front));
  quantized.codes = bytes_of_part(codes, quantized.geometry.codes_shape(), "codes");
  quantized.scales = bytes_of_part(scales, quantized.geometry.scales_shape(), "scales");
  quantized.tensor_scale = tensor_scale;
  SharedStack none = stack_of("none");
  portable::Corrected tensor{*profile, *none, 0, {std::move(quantized), {}}, std::nullopt};
  return {std::move(profile), std::move(none), std::move(tensor)};
}

nb::ndarray<nb::numpy, float> dequantize(const CodedTensor& coded) {
  const portable::Geometry& geometry = coded.tensor.geometry();
  const auto decoded = [&]() -> Result<std::vector<float>> {
    const nb::gil_scoped_release released;
    if (const Result<void> sound = portable::check_environment(); !sound) return sound.error();
    std::vector<float> rows = portable::dequantize(coded.tensor);
    return geometry.inner == 1 ? std::move(rows) : portable::restore_axis(geometry, rows);
  };
  return array_of(value_or_raise(decoded()), input_shape(geometry));
}

nb::ndarray<nb::numpy, float> gemm(const CodedTensor& a, const CodedTensor& b, const std::string& accumulator_name) {
  const portable::Accumulator accumulator = accumulator_of(accumulator_name);
  const auto product = [&]() -> Result<std::vector<float>> {
    const nb::gil_scoped_release released;
    if (const Result<void> sound = portable::check_environment(); !sound) return sound.error();
    return portable::gemm(a.tensor, b.tensor, accumulator);
  };
  std::vector<float> c = value_or_raise(product());
  return array_of(std::move(c), {a.tensor.geometry().rows, b.tensor.geometry().rows});
}

portable::CodedPart& part_of(CodedTensor& coded, bool residual) {
  if (!residual) return coded.tensor.first;
  if (!coded.tensor.residual) raise({ErrorKind::usage, "the tensor has no residual"});
  return *coded.tensor.residual;
}

using CodeArray = nb::ndarray<nb::numpy, std::uint8_t>;

CodeArray codes(nb::handle_t<CodedTensor> self, bool residual) {
  portable::Quantized& part = part_of(nb::cast<CodedTensor&>(self), residual).quantized;
  return array_over(part.codes.data(), part.geometry.codes_shape(), self);
}

CodeArray scales(nb::handle_t<CodedTensor> self, bool residual) {
  portable::Quantized& part = part_of(nb::cast<CodedTensor&>(self), residual).quantized;
  return array_over(part.scales.data(), part.geometry.scales_shape(), self);
}

std::optional<CodeArray> macro(nb::handle_t<CodedTensor> self, bool residual) {
  auto& coded = nb::cast<CodedTensor&>(self);
  portable::CodedPart& part = part_of(coded, residual);
  if (!coded.tensor.stack.macro.is_on()) return std::nullopt;
  const portable::Geometry& geometry = part.quantized.geometry;
  std::vector<std::int64_t> shape = geometry.shape;
  shape.back() = portable::macro_blocks_per_row(coded.tensor.stack.macro, geometry.columns);
  return array_over(part.macro.data(), shape, self);
}

}  // namespace

void add_coded_tensor(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<CodedTensor>(module, "CodedTensor", "Codes and scales of a tensor, in the memory of the reference.")
      .def("codes", codes, "residual"_a = false)
      .def("scales", scales, "residual"_a = false)
      .def("macro", macro, "residual"_a = false)
      .def(
          "tensor_scale",
          [](CodedTensor& coded, bool residual) { return part_of(coded, residual).quantized.tensor_scale; },
          "residual"_a = false)
      .def_prop_ro("has_residual", [](const CodedTensor& coded) { return coded.tensor.residual.has_value(); })
      .def_prop_ro("profile", [](const CodedTensor& coded) { return std::string(coded.profile->name); })
      .def_prop_ro("correction", [](const CodedTensor& coded) { return std::string(coded.stack->name); })
      .def_prop_ro("is_nibble",
                   [](const CodedTensor& coded) { return element_spec(coded.tensor.profile.element).is_nibble(); })
      .def_prop_ro("shape", [](const CodedTensor& coded) { return input_shape(coded.tensor.geometry()); })
      .def_prop_ro("axis", [](const CodedTensor& coded) { return coded.tensor.geometry().axis; });
  module.def("quantize", quantize, "array"_a, "dtype"_a, "profile"_a, "correction"_a, "axis"_a, "tail"_a, "seed"_a,
             "stream"_a, "step"_a, "product"_a, "random"_a.none());
  module.def("code", code, "codes"_a, "scales"_a, "tensor_scale"_a, "profile"_a, "shape"_a, "axis"_a);
  module.def("dequantize", dequantize, "coded"_a);
  module.def("gemm", gemm, "a"_a, "b"_a, "accumulator"_a);
}

}  // namespace fp4proof::python
