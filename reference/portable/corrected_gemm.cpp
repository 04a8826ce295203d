// The product of corrected matrices: rules C13, C19, C29 and C40 to C42.

#include <string>

#include "formats/strict_math.h"
#include "reference/portable/correct.h"
#include "reference/portable/gemm_check.h"
#include "reference/portable/gemm_weighted.h"
#include "reference/portable/macro_block.h"

namespace fp4proof::portable {

namespace {

// --- Refusals --------------------------------------------------------------------------------------------------------

Error usage(std::string message) { return {ErrorKind::usage, "gemm: " + std::move(message)}; }
Error corrupt(std::string message) { return {ErrorKind::corrupt, "gemm: " + std::move(message)}; }

std::string quoted(const CorrectionStack& stack) { return "stack '" + std::string(stack.name) + "'"; }

std::string who(const char* name, const Corrected& operand) {
  return std::string("operand ") + name + " (" + std::string(operand.profile.name) + ", " + quoted(operand.stack) + ")";
}

Result<void> check_macro_bytes(const std::string& who, const Corrected& operand, const CodedPart& part) {
  const Geometry& g = part.quantized.geometry;
  const std::int64_t expected = g.rows * macro_blocks_per_row(operand.stack.macro, g.columns);
  if (part.macro.size() == static_cast<std::size_t>(expected)) return {};
  return corrupt(who + " of shape " + text_of_shape(g.shape) + " needs " + std::to_string(expected) +
                 " macro bytes, but has " + std::to_string(part.macro.size()) + "; correct it again");
}

/// What an operand promises beside what check_parts() asks.
Result<void> check_operand(const char* name, const Corrected& operand) {
  const MacroSpec& macro = operand.stack.macro;
  const bool is_macro_size = macro.size == 32 || macro.size == 64 || macro.size == 128;
  if (macro.is_on() && (!is_macro_size || macro.size % operand.profile.block.cols != 0)) {
    return usage(who(name, operand) + " has macro blocks of " + std::to_string(macro.size) +
                 " elements over blocks of " + std::to_string(operand.profile.block.cols) +
                 "; macro blocks have 32, 64 or 128 elements and hold whole blocks");
  }
  if (operand.residual.has_value() != operand.stack.residual.is_on()) {
    return corrupt(who(name, operand) +
                   (operand.residual ? " holds a residual that its stack does not name"
                                     : " lacks the residual that its stack names") +
                   "; correct it again");
  }
  if (const auto checked = check_macro_bytes(who(name, operand), operand, operand.first); !checked) return checked;
  if (!operand.residual) return {};
  const std::vector<std::int64_t>& shape = operand.geometry().shape;
  const std::vector<std::int64_t>& residual_shape = operand.residual->quantized.geometry.shape;
  if (residual_shape != shape) {
    return corrupt(who(name, operand) + " of shape " + text_of_shape(shape) + " has a residual of shape " +
                   text_of_shape(residual_shape) + "; correct it again");
  }
  return check_macro_bytes(who(name, operand), operand, *operand.residual);
}

/// Every part of A against the first part of B, and the first part of A against every part of B.
Result<void> check_parts(const Corrected& a, const Corrected& b, Accumulator accumulator) {
  const auto check = [&](const CodedPart& part_a, const CodedPart& part_b, const char* where) -> Result<void> {
    const auto checked = check_gemm(a.profile, part_a.quantized, b.profile, part_b.quantized, accumulator);
    if (checked) return checked;
    return Error{checked.error().kind, checked.error().message + where};
  };
  if (const auto checked = check(a.first, b.first, ""); !checked) return checked;
  if (a.residual) {
    if (const auto checked = check(*a.residual, b.first, " (residual of A)"); !checked) return checked;
  }
  if (b.residual) return check(a.first, *b.residual, " (residual of B)");
  return {};
}

/// Whether both operands went through the same transform (C13).
bool same_transform(const Corrected& a, const Corrected& b) {
  const HadamardSpec& spec = a.stack.hadamard;
  if (!spec.is_on() && !b.stack.hadamard.is_on()) return true;
  return spec == b.stack.hadamard && (spec.signs != HadamardSigns::fresh || a.product == b.product);
}

std::string text_of_transform(const Corrected& operand) {
  const HadamardSpec& spec = operand.stack.hadamard;
  if (!spec.is_on()) return "none";
  return "size " + std::to_string(spec.size) + ", signs " + std::string(name_of(spec.signs)) + ", seed " +
         std::to_string(spec.seed) + ", product " + std::to_string(operand.product);
}

Result<void> check_pair(const Corrected& a, const Corrected& b, Accumulator accumulator) {
  if (a.residual && b.residual) {
    return usage("A (" + quoted(a.stack) + ") and B (" + quoted(b.stack) +
                 ") both have a residual; at most one operand may: correct the other one without");
  }
  if (!same_transform(a, b)) {
    return usage("the Hadamard transforms differ: " + text_of_transform(a) + " on A, " + text_of_transform(b) +
                 " on B; they cancel in the product only where size, signs, seed and product number are the same");
  }
  const MacroSpec& x = a.stack.macro;
  const MacroSpec& y = b.stack.macro;
  if (x.is_on() && y.is_on() && x.size != y.size) {
    return usage("A has macro blocks of " + std::to_string(x.size) + " elements, B of " + std::to_string(y.size) +
                 "; a slice of K has one length: correct both with the same macro size, or one without");
  }
  const bool takes_slices =
      accumulator == Accumulator::seq512 || accumulator == Accumulator::seq || accumulator == Accumulator::exact;
  if ((x.is_on() || y.is_on()) && !takes_slices) {
    return usage("accumulator " + std::string(name_of(accumulator)) +
                 " has no place for the factors of macro blocks, which multiply sums over slices of K; choose one of "
                 "seq512, seq and exact, or stacks without macro blocks");
  }
  return {};
}

// --- Products --------------------------------------------------------------------------------------------------------

/// Both operands of G: one part of each.
struct Factors {
  const Corrected& a;
  const CodedPart& part_a;
  const Corrected& b;
  const CodedPart& part_b;
};

/// A division by 0.75 for each operand under three-quarters, with one rounding (C29).
void undo_three_quarters(const Factors& factors, std::vector<float>& c) {
  const int count = int{factors.a.stack.three_quarters} + int{factors.b.stack.three_quarters};
  if (count == 0) return;
  const float divisor = count == 1 ? 0.75F : 0.5625F;
  for (float& value : c) value = strict::divide(value, divisor);
}

/// G of C40.
Result<std::vector<float>> product(const Factors& factors, Accumulator accumulator) {
  const auto& [a, part_a, b, part_b] = factors;
  const std::vector<float> weights_a = macro_weights(a, part_a);
  const std::vector<float> weights_b = macro_weights(b, part_b);
  const SliceWeights weights = {a.stack.macro.is_on() ? a.stack.macro.size : b.stack.macro.size, weights_a, weights_b};
  auto c = weighted_gemm(a.profile, part_a.quantized, b.profile, part_b.quantized, weights, accumulator);
  if (c) undo_three_quarters(factors, *c);
  return c;
}

}  // namespace

Result<std::vector<float>> gemm(const Corrected& a, const Corrected& b, Accumulator accumulator) {
  if (const auto checked = check_parts(a, b, accumulator); !checked) return checked.error();
  if (const auto checked = check_operand("A", a); !checked) return checked.error();
  if (const auto checked = check_operand("B", b); !checked) return checked.error();
  if (const auto checked = check_pair(a, b, accumulator); !checked) return checked.error();
  auto c = product({a, a.first, b, b.first}, accumulator);
  if (!c || (!a.residual && !b.residual)) return c;
  const auto second = a.residual ? product({a, *a.residual, b, b.first}, accumulator)
                                 : product({a, a.first, b, *b.residual}, accumulator);
  if (!second) return second;
  const float alpha = a.residual ? a.stack.residual.alpha : b.stack.residual.alpha;
  for (std::size_t i = 0; i < c->size(); ++i) (*c)[i] = strict::canonicalise_nan((*c)[i] + alpha * (*second)[i]);
  return c;
}

}  // namespace fp4proof::portable
