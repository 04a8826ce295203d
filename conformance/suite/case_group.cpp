#include "conformance/suite/case_group.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "conformance/vectors/sha256.h"

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

GroupSpec operand_spec(const GroupSpec& spec, std::int64_t rows) {
  GroupSpec operand;
  operand.rows = rows;
  operand.columns = spec.columns;
  return operand;
}

}  // namespace

std::string group_name(const GroupSpec& spec) {
  if (!spec.accumulator.empty()) {
    return fmt::format("{}x{}x{}-{}", spec.rows, spec.other_rows, spec.columns, spec.accumulator);
  }
  return fmt::format("{}x{}{}{}", spec.rows, spec.columns, spec.axis == 0 ? "-axis0" : "",
                     spec.tail == portable::Tail::pad ? "-pad" : "");
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

Result<portable::Geometry> case_geometry(const Profile& profile, const GroupSpec& spec) {
  const std::int64_t shape[] = {spec.rows, spec.columns};
  return portable::cut_into_blocks(profile, shape, spec.axis, spec.tail);
}

Result<std::vector<CaseTensor>> group_tensors(Operation operation, const Profile& profile, const GroupSpec& spec) {
  std::vector<CaseTensor> tensors;
  if (operation == Operation::gemm) {
    for (const auto& [prefix, rows] : {std::pair{"a_", spec.rows}, std::pair{"b_", spec.other_rows}}) {
      const Result<portable::Geometry> geometry = case_geometry(profile, operand_spec(spec, rows));
      if (!geometry) return geometry.error();
      add_quantized(profile, *geometry, prefix, false, tensors);
    }
    tensors.push_back(tensor_of("c", TensorDtype::u32, matrix(spec.rows, spec.other_rows), true));
    return tensors;
  }
  const Result<portable::Geometry> geometry = case_geometry(profile, spec);
  if (!geometry) return geometry.error();
  const auto words = matrix(spec.rows, spec.columns);
  if (operation == Operation::dequantize) {
    add_quantized(profile, *geometry, "", false, tensors);
    tensors.push_back(tensor_of("values", TensorDtype::u32, words, true));
    return tensors;
  }
  tensors.push_back(tensor_of("input", TensorDtype::u32, words, false));
  if (profile.rounding == Rounding::stochastic) {
    tensors.push_back(tensor_of("random", TensorDtype::u32, words, false));
  }
  add_quantized(profile, *geometry, "", true, tensors);
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
