#include "conformance/python/arguments.h"

#include <fmt/format.h>

#include "conformance/corrections/stack_lookup.h"
#include "conformance/profiles/profile_lookup.h"
#include "conformance/python/python_errors.h"
#include "conformance/vectors/os_error.h"
#include "conformance/vectors/strict_json.h"

namespace fp4proof::python {

namespace {

constexpr std::size_t deepest_json = 8;

bool is_json(const std::string& text) { return !text.empty() && text.front() == '{'; }

nlohmann::json parsed(const std::string& text, std::string_view label) {
  return value_or_raise(parse_strict_json(text, label, deepest_json));
}

portable::DType dtype_of(const std::string& name) {
  if (name == "float32") return portable::DType::f32;
  if (name == "float16") return portable::DType::f16;
  if (name == "bfloat16") return portable::DType::bf16;
  raise({ErrorKind::usage, fmt::format("numbers are float32, float16 or bfloat16, not {}", name)});
}

}  // namespace

SharedProfile profile_of(const std::string& text) {
  return value_or_raise(is_json(text) ? profile_from_json(parsed(text, "profile"), "profile")
                                      : find_profile_or_file(text));
}

SharedStack stack_of(const std::string& text) {
  return value_or_raise(is_json(text) ? stack_from_json(parsed(text, "correction"), "correction")
                                      : find_stack_or_file(text));
}

portable::Tail tail_of(const std::string& name) {
  if (name == "error") return portable::Tail::error;
  if (name == "pad") return portable::Tail::pad;
  raise({ErrorKind::usage, fmt::format("tail is \"error\" or \"pad\", not {}", quote(name))});
}

FloatTensor float_tensor_of(const AnyArray& array, const std::string& dtype) {
  FloatTensor tensor{shape_of(array), {}};
  tensor.view.dtype = dtype_of(dtype);
  if (array.itemsize() != static_cast<std::size_t>(portable::bytes_of(tensor.view.dtype))) {
    raise({ErrorKind::usage, fmt::format("elements of {} bytes are no {}", array.itemsize(), dtype)});
  }
  tensor.view.shape = tensor.shape;
  tensor.view.data = static_cast<const std::byte*>(array.data());
  return tensor;
}

}  // namespace fp4proof::python
