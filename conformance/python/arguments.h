#pragma once
// What Python hands over, in the terms of the project.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/corrections/stack_json.h"
#include "conformance/profiles/profile_json.h"
#include "reference/portable/geometry.h"
#include "reference/portable/tensor.h"

namespace fp4proof::python {

using AnyArray = nanobind::ndarray<nanobind::ro, nanobind::c_contig, nanobind::device::cpu>;
using ByteArray = nanobind::ndarray<const std::uint8_t, nanobind::ro, nanobind::c_contig, nanobind::device::cpu>;
using WordArray = nanobind::ndarray<const std::uint32_t, nanobind::ro, nanobind::c_contig, nanobind::device::cpu>;

/// A profile from its name, the path of a file, or JSON text, which starts with a brace.
SharedProfile profile_of(const std::string& text);

/// A stack of corrections likewise.
SharedStack stack_of(const std::string& text);

/// "error" or "pad".
portable::Tail tail_of(const std::string& name);

/// A tensor of numbers that the array keeps alive.
struct FloatTensor {
  std::vector<std::int64_t> shape;
  portable::TensorView view;
};

/// `dtype` says what the elements are: "float32", "float16" or "bfloat16" (held as uint16).
FloatTensor float_tensor_of(const AnyArray& array, const std::string& dtype);

template <class Array>
std::vector<std::int64_t> shape_of(const Array& array) {
  std::vector<std::int64_t> shape;
  for (std::size_t i = 0; i < array.ndim(); ++i) shape.push_back(static_cast<std::int64_t>(array.shape(i)));
  return shape;
}

/// A NumPy array of `shape` over memory that `owner` keeps alive.
template <class T>
nanobind::ndarray<nanobind::numpy, T> array_over(T* data, const std::vector<std::int64_t>& shape,
                                                 nanobind::handle owner) {
  const std::vector<std::size_t> extents(shape.begin(), shape.end());
  return nanobind::ndarray<nanobind::numpy, T>(data, extents.size(), extents.data(), owner);
}

/// A NumPy array that takes the numbers over, without a copy.
template <class T>
nanobind::ndarray<nanobind::numpy, T> array_of(std::vector<T> numbers, const std::vector<std::int64_t>& shape) {
  auto* kept = new std::vector<T>(std::move(numbers));
  const nanobind::capsule owner(kept, [](void* held) noexcept { delete static_cast<std::vector<T>*>(held); });
  return array_over(kept->data(), shape, owner);
}

}  // namespace fp4proof::python
