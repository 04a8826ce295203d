#pragma once
// What the tensors of a group of cases hold, told so that a reader of another tool can use them.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/suite/case_group.h"
#include "conformance/vectors/tensor_dtype.h"
#include "formats/result.h"
#include "formats/spec.h"
#include "reference/portable/geometry.h"

namespace fp4proof::exports {

enum class Role : std::uint8_t { identity, input, expected };

std::string_view name_of(Role role);

/// How blocks lie in a column.
enum class BlockAxis : std::uint8_t {
  none,   ///< the column is not cut into blocks
  last,   ///< blocks run along the last axis, as in codes
  input,  ///< the column has the shape of the input: blocks run along the axis that the group names
};

/// One column of a group: a tensor whose first dimension is the case.
struct Column {
  std::string name;  ///< of the tensor in the set, or case_id, class
  Role role = Role::input;
  std::string content;               ///< a sentence
  std::string dtype;                 ///< logical type of an element: "e2m1", "e8m0", "f32", "u64", ...
  int bits = 0;                      ///< of an element that mean something
  int slot_bits = 0;                 ///< of the place that an element takes: 4, 8, 16, 32 or 64
  std::vector<std::uint64_t> shape;  ///< of one case, in elements
  BlockAxis blocks = BlockAxis::none;

  TensorDtype stored_dtype = TensorDtype::u8;  ///< in the set
  std::vector<std::uint64_t> stored_shape;     ///< of one case in the set
  TensorDtype native_dtype = TensorDtype::u8;  ///< the dtype of safetensors that says what the bytes are
  std::vector<std::uint64_t> native_shape;     ///< of one case under that dtype
  Bytes bytes;                                 ///< of all cases, as in the set; owned by the group

  std::uint64_t case_elements() const;
};

/// A group with its columns: case_id, class, then the tensors in the order of the set. It borrows from the table.
struct GroupColumns {
  suite::Operation operation = suite::Operation::quantize;
  const Profile* profile = nullptr;  ///< under which the cases are kept
  Profile effective;                 ///< with the tiles of the group's corrections
  const suite::CaseGroup* group = nullptr;
  portable::Geometry input_geometry;  ///< of one case; of operand a where the operation is a product
  std::vector<Column> columns;

  std::size_t cases() const { return group->size(); }
};

/// The columns of a group of `table`. `internal` error for a tensor that has no description.
Result<GroupColumns> columns_of(const suite::CaseTable& table, const suite::CaseGroup& group);

}  // namespace fp4proof::exports
