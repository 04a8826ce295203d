#include "reference/exact/gemm.h"

#include <algorithm>
#include <string>

#include "reference/exact/block_parts.h"
#include "reference/exact/float_word.h"
#include "reference/exact/gemm_operand.h"
#include "reference/exact/tensor_core.h"

namespace fp4proof::exact {
namespace {

constexpr std::size_t chunk_elements = 512;

std::size_t block_length(const Operand& operand) { return operand.profile.block.cols; }

/// Adds chunk sums in order, the first one copied.
class ChunkedSum {
 public:
  explicit ChunkedSum(std::size_t steps_per_chunk) : steps_per_chunk_(steps_per_chunk) {}

  void add(std::uint32_t product) { fold(add_floats(accumulator_, product)); }
  void multiply_add(const Extended& a, const Extended& b) {
    fold((Extended::of_float(accumulator_) + a * b).to_float());
  }

  std::uint32_t total() {
    if (step_ != 0) close_chunk();
    return total_;
  }

 private:
  void fold(std::uint32_t sum) {
    accumulator_ = sum;
    if (++step_ == steps_per_chunk_) close_chunk();
  }
  void close_chunk() {
    total_ = first_chunk_ ? accumulator_ : add_floats(total_, accumulator_);
    first_chunk_ = false;
    accumulator_ = 0;
    step_ = 0;
  }

  std::size_t steps_per_chunk_;  ///< 0: never
  std::size_t step_ = 0;
  std::uint32_t accumulator_ = 0;
  std::uint32_t total_ = 0;
  bool first_chunk_ = true;
};

std::uint32_t sequential_sum(const DecodedRow& a, const DecodedRow& b, std::size_t blocks_per_chunk) {
  ChunkedSum sum(blocks_per_chunk);
  for (std::size_t i = 0; i < a.size(); ++i) sum.add(block_dot(a[i], b[i]).to_float());
  return sum.total();
}

std::uint32_t exact_sum(const DecodedRow& a, const DecodedRow& b) {
  Extended sum;
  for (std::size_t i = 0; i < a.size(); ++i) sum = sum + block_dot(a[i], b[i]);
  return sum.to_float();
}

/// Infinities and NaN among the values follow IEEE; nothing where all is finite.
std::optional<std::uint32_t> special_sum(const DecodedBlock& a, const DecodedBlock& b, std::uint32_t accumulator) {
  const Extended sum = block_dot(a, b) + Extended::of_float(accumulator);
  if (sum.is_finite()) return std::nullopt;
  return sum.to_float();
}

/// The dot of the scale-free values by instructions of `width` elements that chain their accumulator from +0.
std::uint32_t hopper_dot(const TensorCore& core, std::size_t width, const DecodedBlock& a, const DecodedBlock& b) {
  std::uint32_t accumulator = 0;
  for (std::size_t first = 0; first < a.values.size(); first += width) {
    std::vector<Term> terms;
    for (std::size_t i = first; i < std::min(first + width, a.values.size()); ++i)
      terms.push_back(product_of(term_of(a.values[i].value(), a.hopper_min_exponent(core)),
                                 term_of(b.values[i].value(), b.hopper_min_exponent(core))));
    accumulator = tensor_core_add(core, accumulator, std::move(terms));
  }
  return accumulator;
}

std::uint32_t hopper_sum(const TensorCore& core, std::size_t width, const DecodedRow& a, const DecodedRow& b,
                         std::size_t blocks_per_chunk) {
  ChunkedSum sum(blocks_per_chunk);
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (const auto special = special_sum(a[i], b[i], 0)) {
      sum.add(*special);
      continue;
    }
    const Extended dot = Extended::of_float(hopper_dot(core, width, a[i], b[i]));
    sum.add((dot * a[i].scale * b[i].scale).to_float());
  }
  return sum.total();
}

constexpr int e8m0_min_exponent = -127;
constexpr int e4m3_min_exponent = -6;

Term scale_term(const DecodedBlock& block) {
  const bool is_e4m3 = block.family == Family::nvfp4;
  return term_of(block.scale.value(), is_e4m3 ? e4m3_min_exponent : e8m0_min_exponent);
}

std::vector<Term> mxf8f6f4_terms(const DecodedBlock& a, const DecodedBlock& b) {
  const int scale_exponent = scale_term(a).exponent + scale_term(b).exponent;
  std::vector<Term> terms;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    Term term = product_of(term_of(a.values[i].value(), a.native_min_exponent()),
                           term_of(b.values[i].value(), b.native_min_exponent()));
    term.exponent += scale_exponent;
    terms.push_back(std::move(term));
  }
  return terms;
}

/// Exact dots of 16 elements, each with its block's scales: their significands multiply it, their exponents go with it.
std::vector<Term> mxf4_terms(const DecodedBlock& a, const DecodedBlock& b) {
  constexpr std::size_t group = 16;
  const Term scales = product_of(scale_term(a), scale_term(b));
  std::vector<Term> terms;
  for (std::size_t first = 0; first < a.values.size(); first += group) {
    Extended dot;
    for (std::size_t i = first; i < first + group; ++i) dot = dot + a.values[i] * b.values[i];
    terms.push_back({dot.value() * scales.significand, scales.exponent});
  }
  return terms;
}

std::uint32_t blackwell_sum(const TensorCore& core, std::size_t width, const DecodedRow& a, const DecodedRow& b) {
  const bool is_mxf4 = width == 64;
  std::uint32_t accumulator = 0;
  const std::size_t blocks = width / a.front().values.size();
  for (std::size_t first = 0; first < a.size(); first += blocks) {
    std::vector<Term> terms;
    Extended special = Extended::of_float(accumulator);
    for (std::size_t i = first; i < std::min(first + blocks, a.size()); ++i) {
      special = special + block_dot(a[i], b[i]);
      if (!special.is_finite()) continue;
      for (Term& term : is_mxf4 ? mxf4_terms(a[i], b[i]) : mxf8f6f4_terms(a[i], b[i])) terms.push_back(std::move(term));
    }
    accumulator = special.is_finite() ? tensor_core_add(core, accumulator, std::move(terms)) : special.to_float();
  }
  return accumulator;
}

std::uint32_t sum_of(const DecodedRow& a, const DecodedRow& b, std::size_t length, Accumulator accumulator) {
  const std::size_t chunk = chunk_elements / length;
  switch (accumulator) {
    case Accumulator::seq512: return sequential_sum(a, b, chunk);
    case Accumulator::seq: return sequential_sum(a, b, 0);
    case Accumulator::exact: return exact_sum(a, b);
    case Accumulator::tc_hopper_fp16: return hopper_sum(hopper_fp16, 16, a, b, chunk);
    case Accumulator::tc_hopper_fp8: return hopper_sum(hopper_fp8, 32, a, b, chunk);
    case Accumulator::tc_blackwell_mxf8f6f4: return blackwell_sum(blackwell_mxf8f6f4, 32, a, b);
    case Accumulator::tc_blackwell_mxf4: return blackwell_sum(blackwell_mxf4, 64, a, b);
  }
  return 0;
}

Error refusal(std::string message) { return {ErrorKind::usage, std::move(message)}; }

bool is_mx_of_32(const Operand& operand) { return operand.profile.family == Family::mx && block_length(operand) == 32; }

bool is_e2m1_of_16_or_32(const Operand& operand) {
  const std::size_t length = block_length(operand);
  return operand.profile.family != Family::hif4 && operand.profile.element == Element::e2m1 &&
         (length == 16 || length == 32);
}

bool takes(Accumulator accumulator, const Operand& operand) {
  switch (accumulator) {
    case Accumulator::tc_blackwell_mxf8f6f4: return is_mx_of_32(operand);
    case Accumulator::tc_blackwell_mxf4: return is_e2m1_of_16_or_32(operand);
    case Accumulator::tc_hopper_fp16:
    case Accumulator::tc_hopper_fp8:
    case Accumulator::seq512:
    case Accumulator::seq:
    case Accumulator::exact: return true;
  }
  return false;
}

Result<void> check_operands(const Operand& a, const Operand& b, Accumulator accumulator) {
  if (block_length(a) != block_length(b)) return refusal("gemm: the operands have blocks of different length");
  const std::size_t blocks = a.rows.empty() ? 0 : a.rows.front().size();
  for (const Operand* operand : {&a, &b}) {
    if (!takes(accumulator, *operand)) return refusal("gemm: this accumulator does not take the operand's format");
    for (const auto& row : operand->rows)
      if (row.size() != blocks) return refusal("gemm: the operands have different numbers of blocks along k");
  }
  if (blocks == 0) return refusal("gemm: an operand is empty");
  return {};
}

Extended bf16_value(std::uint16_t word) { return Extended::of_float(std::uint32_t{word} << 16); }

std::uint32_t bf16_dot(std::span<const std::uint16_t> a, std::span<const std::uint16_t> b, std::size_t chunk) {
  ChunkedSum sum(chunk);
  for (std::size_t i = 0; i < a.size(); ++i) sum.multiply_add(bf16_value(a[i]), bf16_value(b[i]));
  return sum.total();
}

}  // namespace

std::uint32_t block_product(const Profile& profile_a, const EncodedBlock& a, const Profile& profile_b,
                            const EncodedBlock& b) {
  return block_dot(decode_operand_block(profile_a, a), decode_operand_block(profile_b, b)).to_float();
}

Result<std::vector<std::uint32_t>> gemm(const Operand& a, const Operand& b, Accumulator accumulator) {
  if (Result<void> checked = check_operands(a, b, accumulator); !checked) return checked.error();
  const std::vector<DecodedRow> rows_a = decode_operand(a);
  const std::vector<DecodedRow> rows_b = decode_operand(b);
  std::vector<std::uint32_t> c;
  for (const DecodedRow& row_a : rows_a) {
    for (const DecodedRow& row_b : rows_b) {
      const std::uint32_t sum = sum_of(row_a, row_b, block_length(a), accumulator);
      c.push_back(multiply_floats(multiply_floats(sum, a.tensor_scale), b.tensor_scale));
    }
  }
  return c;
}

std::vector<std::uint32_t> bf16_gemm(std::span<const std::uint16_t> a, std::span<const std::uint16_t> b, std::size_t m,
                                     std::size_t n, std::size_t k, std::size_t chunk) {
  std::vector<std::uint32_t> c;
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j) c.push_back(bf16_dot(a.subspan(i * k, k), b.subspan(j * k, k), chunk));
  return c;
}

}  // namespace fp4proof::exact
