#include "conformance/export/column.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "conformance/vectors/os_error.h"

namespace fp4proof::exports {

using suite::CaseGroup;
using suite::CaseTable;
using suite::CaseTensor;

namespace {

std::uint64_t product(const std::vector<std::uint64_t>& shape) {
  std::uint64_t count = 1;
  for (const std::uint64_t extent : shape) count *= extent;
  return count;
}

/// A tensor of 32-bit words, one an element.
void describe_words(Column& column, std::string dtype, TensorDtype native, std::string content) {
  column.dtype = std::move(dtype);
  column.bits = column.slot_bits = 32;
  column.shape = column.native_shape = column.stored_shape;
  column.native_dtype = native;
  column.content = std::move(content);
}

/// A tensor of binary64 numbers, stored as two words each, the low one first.
void describe_doubles(Column& column, std::string content) {
  column.dtype = "f64";
  column.bits = column.slot_bits = 64;
  column.shape = column.stored_shape;
  column.shape.back() /= 2;
  column.native_shape = column.shape;
  column.native_dtype = TensorDtype::f64;
  column.content = std::move(content);
}

void describe_bytes(Column& column, std::string dtype, int bits, TensorDtype native, std::string content) {
  column.dtype = std::move(dtype);
  column.bits = bits;
  column.slot_bits = 8;
  column.shape = column.native_shape = column.stored_shape;
  column.native_dtype = native;
  column.content = std::move(content);
}

/// U8 where the format has no such dtype, or leaves the order of its bits open (6-bit elements).
TensorDtype native_element(Element element) {
  switch (element) {
    case Element::e2m1: return TensorDtype::f4;
    case Element::e4m3: return TensorDtype::f8_e4m3;
    case Element::e5m2: return TensorDtype::f8_e5m2;
    default: return TensorDtype::u8;
  }
}

void describe_codes(Column& column, const Profile& profile) {
  const ElementSpec element = element_spec(profile.element);
  describe_bytes(column, element.name, element.bits(), native_element(profile.element), "element codes");
  column.blocks = BlockAxis::last;
  if (!element.is_nibble()) return;
  column.slot_bits = 4;
  column.shape.back() *= 2;
  if (column.native_dtype == TensorDtype::f4) column.native_shape = column.shape;
}

void describe_scales(Column& column, const Profile& profile) {
  switch (profile.family) {
    case Family::mx: return describe_bytes(column, "e8m0", 8, TensorDtype::f8_e8m0, "block scales");
    case Family::nvfp4: return describe_bytes(column, "e4m3", 8, TensorDtype::f8_e4m3, "block scales");
    case Family::hif4:
      describe_bytes(column, "hif4-scale-word", 32, TensorDtype::u8,
                     "scale words: E6M2 in bits 7:0, level-2 bit k at 8 + k, level-3 bit k at 16 + k");
      column.slot_bits = 32;
      column.shape.pop_back();
  }
}

/// The name without the operand and the part that it belongs to.
std::string_view base_name(std::string_view name) {
  for (const std::string_view prefix : {"a_", "b_", "residual_"}) {
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  }
  return name;
}

bool describe(Column& column, const Profile& profile, suite::Operation operation) {
  const std::string_view name = base_name(column.name);
  if (name == "codes") {
    describe_codes(column, profile);
  } else if (name == "scales") {
    describe_scales(column, profile);
  } else if (name == "macro") {
    describe_bytes(column, "u8", 8, TensorDtype::u8, "factor bytes of macro blocks");
  } else if (name == "tensor_scale") {
    describe_words(column, "f32", TensorDtype::f32, "the scale of the tensor");
  } else if (name == "input") {
    describe_words(column, "f32", TensorDtype::f32, "what is quantized");
    column.blocks = BlockAxis::input;
  } else if (name == "random") {
    describe_words(column, "u32", TensorDtype::u32, "random words, each at the place of its element");
    column.blocks = BlockAxis::input;
  } else if (name == "values") {
    describe_words(column, "f32", TensorDtype::f32, "what codes and scales stand for");
    column.blocks = BlockAxis::last;
  } else if (name == "c" && suite::is_product(operation)) {
    describe_words(column, "f32", TensorDtype::f32, "the product: c[m][n] = sum over k of a[m][k] * b[n][k]");
  } else if (name == "terms") {
    describe_doubles(column, "scale, deadzone and grid term of the error of each element");
  } else if (name == "sums") {
    describe_doubles(column, "eight sums a row");
  } else if (name == "counts") {
    describe_words(column, "u32", TensorDtype::u32, "excluded, in the deadzone, zeroed, inexact elements a row");
  } else {
    return false;
  }
  return true;
}

template <class Integer>
Column identity_column(std::string name, std::string content, TensorDtype dtype, const std::vector<Integer>& data) {
  Column column;
  column.name = std::move(name);
  column.role = Role::identity;
  column.content = std::move(content);
  column.dtype = fmt::format("u{}", 8 * sizeof(Integer));
  column.bits = column.slot_bits = 8 * int{sizeof(Integer)};
  column.stored_dtype = column.native_dtype = dtype;
  column.bytes = bytes_of(data);
  return column;
}

Column tensor_column(const CaseTensor& tensor) {
  Column column;
  column.name = tensor.name;
  if (tensor.expected) column.role = Role::expected;
  column.stored_dtype = tensor.dtype;
  column.stored_shape = tensor.case_shape;
  column.bytes = tensor.bytes;
  return column;
}

}  // namespace

std::string_view name_of(Role role) {
  constexpr std::array<std::string_view, 3> names = {"identity", "input", "expected"};
  return names[static_cast<std::size_t>(role)];
}

std::uint64_t Column::case_elements() const { return product(shape); }

Result<GroupColumns> columns_of(const CaseTable& table, const CaseGroup& group) {
  const Result<CorrectionStack> stack = suite::stack_of(group.spec);
  if (!stack) return stack.error();
  GroupColumns result;
  result.operation = table.operation;
  result.profile = table.profile.get();
  result.effective = stack->effective(*table.profile);
  result.group = &group;
  const Result<portable::Geometry> geometry = suite::case_geometry(*table.profile, group.spec);
  if (!geometry) return geometry.error();
  result.input_geometry = *geometry;
  result.columns.push_back(identity_column("case_id", "identity of the case", TensorDtype::u64, group.ids));
  result.columns.push_back(identity_column("class", "index into the list of classes", TensorDtype::u16, group.classes));
  for (const CaseTensor& tensor : group.tensors) {
    Column column = tensor_column(tensor);
    if (!describe(column, result.effective, table.operation)) {
      return Error{ErrorKind::internal, fmt::format("export: no description of tensor {}", quote(tensor.name))};
    }
    result.columns.push_back(std::move(column));
  }
  return result;
}

}  // namespace fp4proof::exports
