#include "conformance/cli/quantized_lint.h"

#include <fmt/format.h>

#include <cstdint>
#include <set>
#include <string>

#include "conformance/cli/quantized_rows.h"
#include "conformance/vectors/os_error.h"

namespace fp4proof::cli {

namespace {

/// The codes and scales of some rows in canonical packing.
struct Rows {
  const Profile& profile;
  const portable::Geometry& geometry;
  QuantizedRows::Canonical canonical;
  ElementSpec spec;

  int code(std::int64_t row, std::int64_t column) const {
    const std::uint8_t* bytes = canonical.codes.data() + row * geometry.code_bytes_per_row;
    return spec.is_nibble() ? (bytes[column / 2] >> (4 * (column & 1))) & 0xF : bytes[column];
  }

  bool is_nan_block(std::int64_t row, std::int64_t block) const {
    const std::uint8_t nan = profile.family == Family::nvfp4 ? e4m3_scale_nan : e8m0_nan;
    const std::uint8_t* scales = canonical.scales.data() + row * geometry.scale_bytes_per_row;
    return scales[block * scale_bytes(profile.family)] == nan;
  }

  /// What is wrong with one code; empty when nothing is.
  const char* problem(std::int64_t row, std::int64_t column) const {
    const int value = code(row, column);
    if ((value >> spec.bits()) != 0) return "has bits above its width";
    if (value == 0) return nullptr;
    const int magnitude = value & (spec.sign_mask() - 1);
    if (column >= geometry.columns) return "lies in the padding and is not zero";
    if (is_nan_block(row, column / profile.block.cols)) return "stands under a NaN scale and is not zero";
    if (magnitude > spec.max_code) return "is no finite number, which quantize never writes";
    return nullptr;
  }
};

/// The first group of four with more than two codes other than +0 in a 2:4 residual, in words.
std::string mask_problem(const QuantizedRows& tensor) {
  const portable::Geometry& geometry = tensor.geometry();
  const ElementSpec spec = element_spec(tensor.profile().element);
  QuantizedRows::Buffers buffers;
  for (std::int64_t begin = 0; geometry.columns != 0 && begin < geometry.rows;) {
    const RowRange range = next_chunk(tensor.profile(), geometry, begin);
    const Rows rows{tensor.profile(), geometry, tensor.read(range, buffers), spec};
    for (std::int64_t row = 0; row < range.count(); ++row) {
      for (std::int64_t column = 0; column < geometry.padded_columns; column += 4) {
        int kept = 0;
        for (std::int64_t i = column; i < column + 4; ++i) kept += rows.code(row, i) != 0 ? 1 : 0;
        if (kept > 2) {
          return fmt::format("elements {} to {} of row {} hold {} codes other than +0, a 2:4 residual keeps two",
                             column, column + 3, range.begin + row, kept);
        }
      }
    }
    begin = range.end;
  }
  return {};
}

/// The first bad code of a tensor, in words.
std::string code_problem(const QuantizedRows& tensor) {
  const portable::Geometry& geometry = tensor.geometry();
  QuantizedRows::Buffers buffers;
  for (std::int64_t begin = 0; geometry.columns != 0 && begin < geometry.rows;) {
    const RowRange range = next_chunk(tensor.profile(), geometry, begin);
    const Rows rows{tensor.profile(), geometry, tensor.read(range, buffers), element_spec(tensor.profile().element)};
    for (std::int64_t row = 0; row < range.count(); ++row) {
      for (std::int64_t column = 0; column < geometry.padded_columns; ++column) {
        if (const char* problem = rows.problem(row, column); problem != nullptr) {
          return fmt::format("the code 0x{:x} of row {}, element {} {}", rows.code(row, column), range.begin + row,
                             column, problem);
        }
      }
    }
    begin = range.end;
  }
  return {};
}

void lint_residual(const QuantizedFile& description, const TensorRecord& record, const SafetensorsFile& file,
                   const std::string& name, CheckList& checks) {
  const std::string what = fmt::format("{}: residual of tensor {}", name, quote(record.name));
  const Result<QuantizedRows> rows = QuantizedRows::open(description, record, file, name, TensorPart::residual);
  checks.add(what + ": form", rows ? std::string() : rows.error().message);
  if (!rows) return;
  checks.add(what + ": codes", code_problem(*rows));
  const bool is_two_four = description.corrections->stack->residual.mask == ResidualMask::two_four;
  if (is_two_four) checks.add(what + ": two of four", mask_problem(*rows));
}

/// The first tensor that stands for no quantized one, in words.
std::string stray_tensor_problem(const SafetensorsFile& file, const std::set<std::string>& known) {
  for (const TensorEntry& entry : file.tensors()) {
    if (known.contains(entry.spec.name)) continue;
    return fmt::format("tensor {} belongs to no tensor that the metadata names; remove it", quote(entry.spec.name));
  }
  return {};
}

}  // namespace

void lint_quantized(const SafetensorsFile& file, const std::string& name, CheckList& checks) {
  const Result<QuantizedFile> description = read_quantized_file(file, name);
  checks.add(name + ": metadata", description ? std::string() : description.error().message);
  if (!description) return;
  std::set<std::string> known;
  bool all_there = true;
  for (const TensorRecord& record : description->tensors) {
    const std::string what = fmt::format("{}: tensor {}", name, quote(record.name));
    const Result<QuantizedRows> rows = QuantizedRows::open(*description, record, file, name);
    checks.add(what + ": shapes", rows ? std::string() : rows.error().message);
    if (!rows) {
      all_there = false;
      continue;
    }
    checks.add(what + ": codes", code_problem(*rows));
    for (const TensorSpec& spec : quantized_specs(*description, record.name, rows->geometry())) known.insert(spec.name);
    known.insert(dequantized_name(record.name));
    if (description->has_residual()) lint_residual(*description, record, file, name, checks);
  }
  if (all_there) checks.add(name + ": no other tensors", stray_tensor_problem(file, known));
}

}  // namespace fp4proof::cli
