#pragma once
// Cases in memory: groups of cases of one shape, one table for each operation and profile.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/profiles/profile_json.h"
#include "conformance/suite/operation.h"
#include "conformance/vectors/bytes.h"
#include "conformance/vectors/tensor_dtype.h"
#include "formats/result.h"
#include "formats/spec.h"
#include "formats/spec_corrections.h"
#include "reference/portable/geometry.h"

namespace fp4proof::suite {

/// The parameters that the cases of a group share.
/// quantize: the input is rows x columns, cut into blocks along `axis`.
/// dequantize: the output is rows x columns, blocks along the columns, no tail.
/// gemm: C is rows x other_rows, both operands are blocked along k = columns.
/// correct, decompose: as quantize. correct-gemm: as gemm.
struct GroupSpec {
  std::int64_t rows = 1;
  std::int64_t columns = 0;
  int axis = 1;                                 ///< quantize: 1 columns, 0 rows
  portable::Tail tail = portable::Tail::error;  ///< quantize: pad where the axis is no multiple of the block
  std::int64_t other_rows = 0;                  ///< gemm
  std::string accumulator;                      ///< gemm, correct-gemm: name of the accumulation rule
  std::string correction;                       ///< correct, correct-gemm: name of the stack

  bool operator==(const GroupSpec&) const = default;
};

/// The name of a group, for example "1x32", "45x3-axis0-pad", "2x3x64-seq512", "1x128-mbs". Equal specs have equal
/// names.
std::string group_name(const GroupSpec& spec);

/// One tensor of a group: the same shape for every case, the cases one after the other.
struct CaseTensor {
  std::string name;                       ///< "input", "codes", ...
  TensorDtype dtype = TensorDtype::u8;    ///< u8 or u32
  std::vector<std::uint64_t> case_shape;  ///< shape of one case
  bool expected = false;                  ///< an output that is compared, otherwise an input
  std::vector<std::uint8_t> bytes;

  std::size_t case_bytes() const;
  Bytes of_case(std::size_t index) const { return Bytes(bytes).subspan(index * case_bytes(), case_bytes()); }
};

/// Cases of one shape. Row i of every tensor belongs to case i.
struct CaseGroup {
  GroupSpec spec;
  std::vector<std::uint64_t> ids;      ///< case_id of each case
  std::vector<std::uint16_t> classes;  ///< index into case_classes() of each case
  std::vector<CaseTensor> tensors;     ///< inputs, then expected outputs
  std::uint64_t first = 0;             ///< place of the first case where this is a part of a group

  std::size_t size() const { return ids.size(); }
  const CaseTensor* find(std::string_view name) const;
  CaseTensor* find(std::string_view name);
};

/// All cases of one operation under one profile.
struct CaseTable {
  Operation operation = Operation::quantize;
  SharedProfile profile;
  std::vector<CaseGroup> groups;

  std::size_t case_count() const;
};

/// The tensors of a group, still empty.
/// quantize:   input U32 [rows, columns]; random U32 [rows, columns] where the profile rounds stochastically ->
///             codes U8, scales U8 (shapes of portable::Geometry); tensor_scale U32 [] where the profile has one.
/// dequantize: codes, scales, tensor_scale -> values U32 [rows, columns].
/// gemm:       a_codes, a_scales, a_tensor_scale, b_codes, ... -> c U32 [rows, other_rows].
/// correct:    as quantize, and behind each part `macro` U8 [rows, macro blocks] with macro blocks; with a residual its
///             part again, names starting with residual_; last values U32 [rows, columns], block axis last.
/// correct-gemm: the parts of a (a_codes, ..., a_macro, a_residual_codes, ...) and of b, which has no residual -> c.
/// decompose:  as quantize -> terms U32 [rows, columns, 6]: F e_scale, F e_deadzone, F e_grid as binary64, low word
///             first; sums U32 [rows, 16]: the eight sums of portable::ErrorSplit a row, in its order; counts U32
///             [rows, 4]: excluded, in_deadzone, zeroed, inexact. Rows have the block axis last.
/// `usage` error where the shape does not suit the profile.
Result<std::vector<CaseTensor>> group_tensors(Operation operation, const Profile& profile, const GroupSpec& spec);

/// The geometry of one case's quantized tensor, under the effective profile where there is a correction.
Result<portable::Geometry> case_geometry(const Profile& profile, const GroupSpec& spec);

/// The stack of a group; `none` where the group names none. `usage` error for a name that is not known.
Result<CorrectionStack> stack_of(const GroupSpec& spec);

/// The product number of HadamardSigns::fresh in every case.
inline constexpr std::uint32_t case_product = 5;

/// The name of a tensor in files: OPERATION/PROFILE/GROUP/TENSOR, for example "quantize/mxfp4/ocp/1x32/codes".
std::string tensor_name(const CaseTable& table, const GroupSpec& spec, std::string_view tensor);

/// The identity of a case: the first 8 bytes of the SHA-256, big-endian, of the lines "fp4proof-case/1", operation,
/// profile name and group name, each ended by LF, and the bytes of its input tensors in order. It names the question,
/// so it never changes with the answer.
Result<std::uint64_t> case_id(const CaseTable& table, const CaseGroup& group, std::size_t index);

/// An id as 16 hexadecimal digits.
std::string id_text(std::uint64_t id);

}  // namespace fp4proof::suite
