#include "conformance/suite/case_group.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "conformance/vectors/os_error.h"
#include "conformance/vectors/sha256.h"
#include "reference/portable/correct.h"

namespace fp4proof::suite {

namespace {

std::vector<std::uint64_t> unsigned_shape(const std::vector<std::int64_t>& shape) {
  return {shape.begin(), shape.end()};
}

CaseTensor tensor_of(std::string name, TensorDtype dtype, std::vector<std::uint64_t> shape, bool expected) {
  return {std::move(name), dtype, std::move(shape), expected, {}};
}

/// Codes, scales and tensor scale of a quantized matrix, their names starting with `prefix`.
void add_quantized(const Profile& profile, const portable::Geometry& geometry, const std::string& prefix, bool expected,
                   std::vector<CaseTensor>& tensors) {
  tensors.push_back(tensor_of(prefix + "codes", TensorDtype::u8, unsigned_shape(geometry.codes_shape()), expected));
  tensors.push_back(tensor_of(prefix + "scales", TensorDtype::u8, unsigned_shape(geometry.scales_shape()), expected));
  if (profile.tensor_scale) tensors.push_back(tensor_of(prefix + "tensor_scale", TensorDtype::u32, {}, expected));
}

std::vector<std::uint64_t> matrix(std::int64_t rows, std::int64_t columns) {
  return {static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns)};
}

/// What one operand of a product, or the answer to a correct case, consists of.
struct PartsSpec {
  Profile profile;
  CorrectionStack stack;
  portable::Geometry geometry;
};

/// The coded parts of a corrected tensor.
void add_parts(const PartsSpec& parts, const std::string& prefix, bool expected, std::vector<CaseTensor>& tensors) {
  const auto add = [&](const std::string& part) {
    add_quantized(parts.profile, parts.geometry, part, expected, tensors);
    if (!parts.stack.macro.is_on()) return;
    const std::int64_t macros = portable::macro_blocks_per_row(parts.stack.macro, parts.geometry.columns);
    tensors.push_back(tensor_of(part + "macro", TensorDtype::u8, matrix(parts.geometry.rows, macros), expected));
  };
  add(prefix);
  if (parts.stack.residual.is_on()) add(prefix + "residual_");
}

Result<std::vector<CaseTensor>> product_tensors(const Profile& profile, const GroupSpec& spec) {
  const Result<CorrectionStack> stack = stack_of(spec);
  if (!stack) return stack.error();
  std::vector<CaseTensor> tensors;
  const auto add = [&](const std::string& prefix, std::int64_t rows, const CorrectionStack& of_operand) {
    const std::int64_t shape[] = {rows, spec.columns};
    const Profile effective = of_operand.effective(profile);
    const auto geometry = portable::cut_into_blocks(effective, shape, -1, portable::Tail::error);
    if (!geometry) return Result<void>(geometry.error());
    add_parts({effective, of_operand, *geometry}, prefix, false, tensors);
    return Result<void>();
  };
  if (const Result<void> added = add("a_", spec.rows, *stack); !added) return added.error();
  if (const Result<void> added = add("b_", spec.other_rows, stack->without_residual()); !added) return added.error();
  tensors.push_back(tensor_of("c", TensorDtype::u32, matrix(spec.rows, spec.other_rows), true));
  return tensors;
}

/// What decompose tells about each element and row.
void add_decomposition(const portable::Geometry& geometry, std::vector<CaseTensor>& tensors) {
  const auto rows = static_cast<std::uint64_t>(geometry.rows);
  const auto columns = static_cast<std::uint64_t>(geometry.columns);
  tensors.push_back(tensor_of("terms", TensorDtype::u32, {rows, columns, 6}, true));
  tensors.push_back(tensor_of("sums", TensorDtype::u32, {rows, 16}, true));
  tensors.push_back(tensor_of("counts", TensorDtype::u32, {rows, 4}, true));
}

}  // namespace

std::string group_name(const GroupSpec& spec) {
  const std::string correction = spec.correction.empty() ? "" : "-" + spec.correction;
  if (!spec.accumulator.empty()) {
    return fmt::format("{}x{}x{}-{}{}", spec.rows, spec.other_rows, spec.columns, spec.accumulator, correction);
  }
  return fmt::format("{}x{}{}{}{}", spec.rows, spec.columns, spec.axis == 0 ? "-axis0" : "",
                     spec.tail == portable::Tail::pad ? "-pad" : "", correction);
}

std::size_t CaseTensor::case_bytes() const {
  std::size_t count = dtype == TensorDtype::u32 ? 4 : 1;
  for (const std::uint64_t extent : case_shape) count *= extent;
  return count;
}

const CaseTensor* CaseGroup::find(std::string_view name) const {
  const auto found = std::ranges::find(tensors, name, &CaseTensor::name);
  return found == tensors.end() ? nullptr : &*found;
}

CaseTensor* CaseGroup::find(std::string_view name) { return const_cast<CaseTensor*>(std::as_const(*this).find(name)); }

std::size_t CaseTable::case_count() const {
  std::size_t count = 0;
  for (const CaseGroup& group : groups) count += group.size();
  return count;
}

Result<CorrectionStack> stack_of(const GroupSpec& spec) {
  const CorrectionStack* stack = find_correction_stack(spec.correction.empty() ? "none" : spec.correction);
  if (stack == nullptr) {
    return Error{ErrorKind::usage, fmt::format("unknown stack of corrections {}", quote(spec.correction))};
  }
  return *stack;
}

Result<portable::Geometry> case_geometry(const Profile& profile, const GroupSpec& spec) {
  const Result<CorrectionStack> stack = stack_of(spec);
  if (!stack) return stack.error();
  const std::int64_t shape[] = {spec.rows, spec.columns};
  return portable::cut_into_blocks(stack->effective(profile), shape, spec.axis, spec.tail);
}

Result<std::vector<CaseTensor>> group_tensors(Operation operation, const Profile& profile, const GroupSpec& spec) {
  if (is_product(operation)) return product_tensors(profile, spec);
  const Result<CorrectionStack> stack = stack_of(spec);
  if (!stack) return stack.error();
  const Result<portable::Geometry> geometry = case_geometry(profile, spec);
  if (!geometry) return geometry.error();
  const PartsSpec parts = {stack->effective(profile), *stack, *geometry};
  const auto words = matrix(spec.rows, spec.columns);
  std::vector<CaseTensor> tensors;
  if (operation == Operation::dequantize) {
    add_parts(parts, "", false, tensors);
    tensors.push_back(tensor_of("values", TensorDtype::u32, words, true));
    return tensors;
  }
  tensors.push_back(tensor_of("input", TensorDtype::u32, words, false));
  if (parts.profile.rounding == Rounding::stochastic) {
    tensors.push_back(tensor_of("random", TensorDtype::u32, words, false));
  }
  if (operation == Operation::decompose) {
    add_decomposition(*geometry, tensors);
    return tensors;
  }
  add_parts(parts, "", true, tensors);
  if (operation == Operation::correct) {
    tensors.push_back(tensor_of("values", TensorDtype::u32, matrix(geometry->rows, geometry->columns), true));
  }
  return tensors;
}

std::string tensor_name(const CaseTable& table, const GroupSpec& spec, std::string_view tensor) {
  return fmt::format("{}/{}/{}/{}", name_of(table.operation), table.profile->name, group_name(spec), tensor);
}

Result<std::uint64_t> case_id(const CaseTable& table, const CaseGroup& group, std::size_t index) {
  const std::string head = fmt::format("fp4proof-case/1\n{}\n{}\n{}\n", name_of(table.operation), table.profile->name,
                                       group_name(group.spec));
  std::vector<std::uint8_t> question(head.begin(), head.end());
  for (const CaseTensor& tensor : group.tensors) {
    if (tensor.expected) continue;
    const Bytes bytes = tensor.of_case(index);
    question.insert(question.end(), bytes.begin(), bytes.end());
  }
  const Result<Sha256Digest> digest = sha256(question);
  if (!digest) return digest.error();
  std::uint64_t id = 0;
  for (std::size_t i = 0; i < 8; ++i) id = id << 8 | (*digest)[i];
  return id;
}

std::string id_text(std::uint64_t id) { return fmt::format("{:016x}", id); }

}  // namespace fp4proof::suite
