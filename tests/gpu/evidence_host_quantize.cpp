#include <algorithm>
#include <cmath>

#include "formats/scale_layout.h"
#include "reference/portable/decompose.h"
#include "reference/portable/dequantize.h"
#include "tests/gpu/evidence_host.h"
#include "tests/gpu/evidence_host_parts.h"
#include "tests/gpu/sweeps.h"

namespace fp4proof::evidence {

namespace {

constexpr std::int64_t chunk_elements = std::int64_t{1} << 24;
constexpr std::int64_t tallest_block = 64;

std::int64_t rows_of_chunk(const MatrixShape& shape) {
  return std::max<std::int64_t>(chunk_elements / std::max<std::int64_t>(shape.columns, 1) / tallest_block, 1) *
         tallest_block;
}

std::uint32_t finite_magnitude(const Input& input, std::uint64_t index) {
  const std::uint32_t word = input_word(input.dtype, input.spread, input.seed, index);
  const std::uint32_t wide = input.dtype == DType::f32    ? word
                             : input.dtype == DType::bf16 ? word << 16
                                                          : float_bits(fp16_to_float(static_cast<std::uint16_t>(word)));
  return is_finite_bits(wide) ? wide & float_magnitude_mask : 0;
}

/// The tensor scale of a matrix that does not fit in memory: that of its largest finite magnitude.
float tensor_scale_of(const Profile& profile, const Input& input, std::int64_t batch) {
  if (!profile.tensor_scale) return 1.0F;
  const std::int64_t count = input.shape.rows * input.shape.columns;
  std::uint32_t largest = 0;
#pragma omp parallel for schedule(static) reduction(max : largest)
  for (std::int64_t i = 0; i < count; ++i) {
    largest = std::max(largest, finite_magnitude(input, static_cast<std::uint64_t>(batch * count + i)));
  }
  constexpr std::int64_t shape[] = {1};
  return portable::tensor_scale_of(profile,
                                   {portable::DType::f32, shape, reinterpret_cast<const std::byte*>(&largest)});
}

/// Scales of one matrix in their layout, filled row after row.
class ScaleBuffer {
 public:
  explicit ScaleBuffer(const gpu::CodedShape& coded)
      : coded_(coded), bytes_(static_cast<std::size_t>(coded.scale_bytes_per_matrix()), scale_padding) {}

  void put(std::int64_t line, std::int64_t block, std::span<const std::uint8_t> scales) {
    const ScaleGrid grid = coded_.scale_grid();
    for (std::size_t i = 0; i < scales.size(); ++i) {
      const std::size_t column = static_cast<std::size_t>(block) + i / grid.bytes;
      bytes_[scale_offset(coded_.layout, grid, static_cast<std::size_t>(line), column, i % grid.bytes)] = scales[i];
    }
  }
  std::span<const std::uint8_t> bytes() const { return bytes_; }

 private:
  const gpu::CodedShape& coded_;
  std::vector<std::uint8_t> bytes_;
};

Output moved(Output output, int by) { return static_cast<Output>(static_cast<int>(output) + by); }

/// One matrix, a chunk of rows at a time.
std::uint64_t digest_matrix(const QuantizeEntry& entry, const Input& input, std::int64_t batch, int outputs_from) {
  const Profile& profile = *entry.profile;
  const gpu::CodedShape coded = gpu::coded_shape(profile, input.shape, entry.layout);
  const float tensor_scale = tensor_scale_of(profile, input, batch);
  const std::int64_t bytes_per_line = coded.code_bytes_per_line();
  ScaleBuffer scales(coded);
  std::uint64_t sum = 0;
  for (std::int64_t row = 0; row < input.shape.rows; row += rows_of_chunk(input.shape)) {
    HostMatrix chunk(profile, input, batch, row, std::min(rows_of_chunk(input.shape), input.shape.rows - row));
    chunk.options.three_quarters = entry.three_quarters;
    const portable::Geometry geometry =
        sound(portable::cut_into_blocks(profile, chunk.shape, chunk.options.axis, chunk.options.tail));
    std::vector<std::uint8_t> codes(static_cast<std::size_t>(geometry.code_bytes()));
    std::vector<std::uint8_t> chunk_scales(static_cast<std::size_t>(geometry.scale_bytes()));
    sound(portable::quantize_rows(profile, chunk.view, geometry, chunk.options, tensor_scale, 0, geometry.rows, codes,
                                  chunk_scales));
    const bool across = input.shape.axis == 0;
    const std::int64_t first_line = across ? 0 : row;
    const std::int64_t first_block = across ? row / coded.block : 0;
    const std::int64_t first_byte = first_block * coded.block / (coded.nibbles ? 2 : 1);
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (std::int64_t line = 0; line < geometry.rows; ++line) {
      const auto part_of_line = [&](const std::vector<std::uint8_t>& of, std::int64_t bytes) {
        return std::span(of).subspan(static_cast<std::size_t>(line * bytes), static_cast<std::size_t>(bytes));
      };
      const std::int64_t position = (batch * coded.lines + first_line + line) * bytes_per_line + first_byte;
      sum += digest_of(moved(Output::codes, outputs_from), position, part_of_line(codes, geometry.code_bytes_per_row));
      scales.put(first_line + line, first_block, part_of_line(chunk_scales, geometry.scale_bytes_per_row));
    }
  }
  sum += digest_of(moved(Output::scales, outputs_from), batch * coded.scale_bytes_per_matrix(), scales.bytes());
  if (!profile.tensor_scale) return sum;
  return sum + digest_of(moved(Output::tensor_scales, outputs_from), batch * std::int64_t{sizeof(float)},
                         bytes_of(std::vector{tensor_scale}));
}

std::uint64_t digest_input(const QuantizeEntry& entry, const Input& input, int outputs_from) {
  std::uint64_t sum = 0;
  for (std::int64_t b = 0; b < input.shape.batch; ++b) sum += digest_matrix(entry, input, b, outputs_from);
  return sum;
}

/// binary16, ties to even, of what is not NaN. Scaling to an integer of units in the last place is exact.
std::uint16_t half_of(float value) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000U : 0U;
  const double magnitude = std::fabs(double{value});
  if (magnitude >= 65520.0) return static_cast<std::uint16_t>(sign | 0x7C00U);
  int exponent = -14;
  while (magnitude >= std::ldexp(2.0, exponent)) ++exponent;
  const auto units = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
  // A subnormal number has fewer than 1024 units of the exponent -14; a carry moves into the exponent by itself.
  return static_cast<std::uint16_t>(sign | (static_cast<std::uint32_t>(exponent + 14) * 1024U + units));
}

void append(DType dtype, float value, std::vector<std::uint8_t>& bytes) {
  const bool is_nan = std::isnan(value);
  const std::uint32_t word = dtype == DType::f32    ? (is_nan ? canonical_nan_bits : float_bits(value))
                             : dtype == DType::bf16 ? (is_nan ? 0x7FC0U : float_to_bf16(value))
                                                    : (is_nan ? 0x7E00U : half_of(value));
  for (int i = 0; i < gpu::bytes_of(dtype); ++i) bytes.push_back(static_cast<std::uint8_t>(word >> (8 * i)));
}

}  // namespace

std::uint64_t host_digest(const QuantizeEntry& entry) {
  if (!entry.both_axes) return digest_input(entry, entry.input, 0);
  Input along_columns = entry.input;
  Input along_rows = entry.input;
  along_columns.shape.axis = 1;
  along_rows.shape.axis = 0;
  return digest_input(entry, along_columns, 0) + digest_input(entry, along_rows, static_cast<int>(Output::second));
}

std::uint64_t host_digest(const DequantizeEntry& entry) {
  const Profile& profile = *entry.profile;
  portable::Quantized quantized = made_operand(profile, entry.scales, 0, entry.lines, entry.length, entry.seed);
  const std::vector<float> values = portable::dequantize(profile, quantized);
  std::vector<std::uint8_t> bytes;
  for (const float value : values) append(entry.dtype, value, bytes);
  return digest_of(Output::values, 0, bytes);
}

std::uint64_t host_digest(const DecomposeEntry& entry) {
  const Profile& profile = *entry.profile;
  std::uint64_t sum = 0;
  for (std::int64_t b = 0; b < entry.input.shape.batch; ++b) {
    const HostMatrix matrix(profile, entry.input, b, 0, entry.input.shape.rows);
    const portable::Geometry geometry =
        sound(portable::cut_into_blocks(profile, matrix.shape, matrix.options.axis, matrix.options.tail));
    std::vector<portable::ErrorSplit> rows(static_cast<std::size_t>(geometry.rows));
    std::vector<portable::ErrorTerms> elements(
        entry.with_terms ? static_cast<std::size_t>(geometry.rows * geometry.columns) : 0);
    sound(portable::decompose_rows(profile, matrix.view, geometry, matrix.options,
                                   portable::tensor_scale_of(profile, matrix.view), 0, geometry.rows, {},
                                   {rows, {}, elements}));
    std::vector<double> terms;
    for (const portable::ErrorTerms& e : elements) terms.insert(terms.end(), {e.scale, e.deadzone, e.grid});
    std::vector<double> sums;
    std::vector<std::uint32_t> counts;
    for (const portable::ErrorSplit& row : rows) {
      sums.insert(sums.end(), {row.value, row.quantized_value, row.error, row.scale, row.deadzone, row.grid,
                               row.scale_grid, row.scale_deadzone});
      for (const std::int64_t count : {row.excluded, row.in_deadzone, row.zeroed, row.inexact}) {
        counts.push_back(static_cast<std::uint32_t>(count));
      }
    }
    const auto at = [&](Output output, std::span<const std::uint8_t> bytes) {
      return digest_of(output, b * static_cast<std::int64_t>(bytes.size()), bytes);
    };
    sum += at(Output::terms, bytes_of(terms)) + at(Output::sums, bytes_of(sums)) + at(Output::counts, bytes_of(counts));
  }
  return sum;
}

std::uint64_t host_digest(const SweepEntry& entry) { return sweeps::cpu_digest(entry.index); }

}  // namespace fp4proof::evidence
