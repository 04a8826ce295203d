// Products of corrected matrices: rules C29 and C40 to C42.

#include <algorithm>
#include <bit>

#include "reference/exact/correction.h"
#include "reference/exact/correction_arithmetic.h"
#include "reference/exact/extended.h"
#include "reference/exact/float_word.h"
#include "reference/exact/gemm_operand.h"

namespace fp4proof::exact {
namespace {

using Words = std::vector<std::uint32_t>;

constexpr std::size_t chunk_elements = 512;

/// One part of an operand with what its product needs to know.
struct Factor {
  const CorrectedMatrix& matrix;
  const CodedPart& part;

  bool has_macro() const { return matrix.stack.macro.is_on(); }
  std::size_t length() const { return matrix.profile.block.cols; }
  /// g of C19 in macro block `slice` of a row.
  std::uint32_t weight(std::size_t row, std::size_t slice) const {
    if (!has_macro()) return float_one;
    const std::size_t per_row = macro_blocks(matrix.stack.macro, matrix.shape.cols);
    return macro_weight(matrix.stack.macro.form, part.macro[row * per_row + slice]);
  }
};

/// A row of A and a row of B, cut into slices of the macro size.
class SlicedDot {
 public:
  SlicedDot(const DecodedRow& a, const DecodedRow& b, std::size_t blocks_per_slice, Words weights)
      : a_(a), b_(b), blocks_per_slice_(blocks_per_slice), weights_(std::move(weights)) {}

  std::uint32_t rounded(std::size_t slices_per_chunk) const {
    std::uint32_t total = 0;
    for (std::size_t first = 0; first < weights_.size(); first += slices_per_chunk) {
      std::uint32_t acc = 0;
      for (std::size_t s = first; s < std::min(first + slices_per_chunk, weights_.size()); ++s)
        acc = add_floats(acc, multiply_floats(rounded_part(s), weights_[s]));
      total = first == 0 ? acc : add_floats(total, acc);
    }
    return total;
  }

  std::uint32_t exact() const {
    Extended sum;
    for (std::size_t s = 0; s < weights_.size(); ++s) sum = sum + exact_part(s) * Extended::of_float(weights_[s]);
    return sum.to_float();
  }

  std::size_t slices() const { return weights_.size(); }

 private:
  std::size_t begin(std::size_t slice) const { return slice * blocks_per_slice_; }
  std::size_t end(std::size_t slice) const { return std::min(begin(slice) + blocks_per_slice_, a_.size()); }

  std::uint32_t rounded_part(std::size_t slice) const {
    std::uint32_t part = 0;
    for (std::size_t i = begin(slice); i < end(slice); ++i) part = add_floats(part, block_dot(a_[i], b_[i]).to_float());
    return part;
  }
  Extended exact_part(std::size_t slice) const {
    Extended part;
    for (std::size_t i = begin(slice); i < end(slice); ++i) part = part + block_dot(a_[i], b_[i]);
    return part;
  }

  const DecodedRow& a_;
  const DecodedRow& b_;
  std::size_t blocks_per_slice_;
  Words weights_;  ///< RN(g_a g_b) of every slice
};

std::uint32_t sum_of(const SlicedDot& dot, std::size_t slice, Accumulator accumulator) {
  switch (accumulator) {
    case Accumulator::seq512: return dot.rounded(chunk_elements / slice);
    case Accumulator::seq: return dot.rounded(std::max<std::size_t>(dot.slices(), 1));
    default: return dot.exact();
  }
}

Words macro_product(const Factor& a, const Factor& b, Accumulator accumulator) {
  const std::size_t slice = a.has_macro() ? a.matrix.stack.macro.size : b.matrix.stack.macro.size;
  const std::size_t slices = (a.matrix.shape.cols + slice - 1) / slice;
  const std::vector<DecodedRow> rows_a = decode_operand(a.part.operand);
  const std::vector<DecodedRow> rows_b = decode_operand(b.part.operand);
  Words c;
  for (std::size_t m = 0; m < rows_a.size(); ++m) {
    for (std::size_t n = 0; n < rows_b.size(); ++n) {
      Words weights;
      for (std::size_t s = 0; s < slices; ++s) weights.push_back(multiply_floats(a.weight(m, s), b.weight(n, s)));
      const SlicedDot dot(rows_a[m], rows_b[n], slice / a.length(), std::move(weights));
      c.push_back(sum_of(dot, slice, accumulator));
    }
  }
  return c;
}

/// G of C40.
Result<Words> part_product(const Factor& a, const Factor& b, Accumulator accumulator) {
  Words c;
  if (a.has_macro() || b.has_macro()) {
    c = macro_product(a, b, accumulator);
  } else {
    Result<Words> plain = gemm(a.part.operand, b.part.operand, accumulator);
    if (!plain) return plain.error();
    c = *std::move(plain);
  }
  Rational divisor(1);
  for (const Factor* factor : {&a, &b})
    if (factor->matrix.stack.three_quarters) divisor = divisor * Rational(3).scaled(-2);
  if (divisor == Rational(1)) return c;
  for (std::uint32_t& word : c) word = divide_float(word, divisor);
  return c;
}

bool rounds_slices(Accumulator accumulator) {
  return accumulator == Accumulator::seq512 || accumulator == Accumulator::seq || accumulator == Accumulator::exact;
}

Error refusal(const char* reason) { return {ErrorKind::usage, std::string("gemm: ") + reason}; }

Result<void> check_factors(const CorrectedMatrix& a, const CorrectedMatrix& b, Accumulator accumulator) {
  if (a.shape.cols != b.shape.cols) return refusal("the operands differ in k");
  if (a.profile.block.cols != b.profile.block.cols) return refusal("the operands have blocks of different length");
  if (a.residual && b.residual) return refusal("both operands have a residual");
  const HadamardSpec& hadamard = a.stack.hadamard;
  const bool any_hadamard = hadamard.is_on() || b.stack.hadamard.is_on();
  const bool renewed = hadamard.signs == HadamardSigns::fresh && a.product != b.product;
  const bool unequal = any_hadamard && (hadamard != b.stack.hadamard || renewed);
  if (unequal) return refusal("the operands have unequal Hadamard transforms");
  const MacroSpec& macro_a = a.stack.macro;
  const MacroSpec& macro_b = b.stack.macro;
  if (!macro_a.is_on() && !macro_b.is_on()) return {};
  if (macro_a.is_on() && macro_b.is_on() && macro_a.size != macro_b.size) return refusal("unequal macro blocks");
  if (!rounds_slices(accumulator)) return refusal("tensor-core models take no macro blocks");
  return {};
}

}  // namespace

Result<Words> gemm(const CorrectedMatrix& a, const CorrectedMatrix& b, Accumulator accumulator) {
  if (Result<void> checked = check_factors(a, b, accumulator); !checked) return checked.error();
  Result<Words> y = part_product({a, a.first}, {b, b.first}, accumulator);
  if (!y || (!a.residual && !b.residual)) return y;
  const Result<Words> second = a.residual ? part_product({a, *a.residual}, {b, b.first}, accumulator)
                                          : part_product({a, a.first}, {b, *b.residual}, accumulator);
  if (!second) return second.error();
  const float alpha = a.residual ? a.stack.residual.alpha : b.stack.residual.alpha;
  for (std::size_t i = 0; i < y->size(); ++i)
    (*y)[i] = add_floats((*y)[i], multiply_floats(std::bit_cast<std::uint32_t>(alpha), (*second)[i]));
  return y;
}

}  // namespace fp4proof::exact
