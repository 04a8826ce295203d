#include <fmt/format.h>

#include <array>

#include "conformance/divergence/element_text.h"
#include "conformance/divergence/replay.h"
#include "conformance/divergence/sum_orders.h"
#include "conformance/verify/mismatch.h"
#include "conformance/verify/quantized_view.h"
#include "formats/spec_corrections.h"
#include "formats/spec_profiles.h"
#include "formats/strict_math.h"
#include "reference/exact/extended.h"
#include "reference/portable/correct.h"
#include "reference/portable/gemm_operand.h"
#include "reference/portable/macro_block.h"

namespace fp4proof::training {

namespace {

constexpr std::int64_t chunk_elements = 512;

std::string float_text(float value) { return element_text(ElementType::f32, float_bits(value)); }

// ---------------------------------------------------------------------------------------------------------------------
// Operands
// ---------------------------------------------------------------------------------------------------------------------

/// A part of an operand, from the bytes of a call.
portable::CodedPart part_of(const CapturedCall& call, const std::string& prefix, const portable::Geometry& geometry) {
  portable::CodedPart part;
  part.quantized.geometry = geometry;
  part.quantized.codes = call.find(prefix + "codes")->before;
  part.quantized.scales = call.find(prefix + "scales")->before;
  if (const CapturedTensor* const macro = call.find(prefix + "macro")) part.macro = macro->before;
  if (const CapturedTensor* const scale = call.find(prefix + "tensor_scale")) {
    part.quantized.tensor_scale = float_from_bits(static_cast<std::uint32_t>(scale->word(scale->before, 0)));
  }
  return part;
}

portable::Corrected operand_of(const CapturedCall& call, const fp4proof_operand& operand, const std::string& side,
                               std::int64_t k) {
  const CorrectionStack& stack = *find_correction_stack(operand.stack);
  portable::Corrected corrected{stack.effective(*find_profile(operand.profile)), stack, 0, {}, std::nullopt};
  const std::array<std::int64_t, 2> shape = {operand.lines, k};
  const auto geometry = portable::geometry_of_quantized(corrected.profile, shape, 1);
  corrected.first = part_of(call, side + ".first.", *geometry);
  if (stack.residual.is_on()) corrected.residual = part_of(call, side + ".residual.", *geometry);
  return corrected;
}

std::string operand_text(const fp4proof_operand& operand) {
  const std::string_view stack = operand.stack;
  return stack == "none" ? operand.profile : fmt::format("{} with {}", operand.profile, stack);
}

/// One line of one part of an operand.
class Line {
 public:
  Line(const portable::Corrected& operand, const portable::CodedPart& part, std::int64_t line)
      : operand_(&operand),
        part_(&part),
        line_(line),
        reader_(operand.profile, part.quantized),
        view_(operand.profile, part.quantized.geometry, part.quantized.codes, part.quantized.scales),
        weights_(portable::macro_weights(operand, part)) {}

  std::int64_t blocks() const { return reader_.blocks(); }
  int length() const { return reader_.length(); }
  const portable::OperandReader& reader() const { return reader_; }
  float tensor_scale() const { return reader_.tensor_scale(); }
  bool three_quarters() const { return operand_->stack.three_quarters; }
  std::int64_t macro_size() const { return operand_->stack.macro.size; }

  exact::Extended value(const std::array<double, portable::max_block_length>& block, int i) const {
    return exact::Extended::of_float(float_bits(static_cast<float>(block[static_cast<std::size_t>(i)])));
  }
  std::array<double, portable::max_block_length> block(std::int64_t b) const {
    std::array<double, portable::max_block_length> values{};
    reader_.read_block(line_, b, values.data());
    return values;
  }
  exact::Extended scale(std::int64_t b) const {
    return exact::Extended::of_float(float_bits(static_cast<float>(reader_.scale(line_, b))));
  }
  std::string scale_text(std::int64_t b) const { return verify::scale_text(operand_->profile, view_.scale(line_, b)); }
  std::string codes_text(std::int64_t b) const {
    const bool nibbles = element_spec(operand_->profile.element).is_nibble();
    std::string text;
    for (std::int64_t i = b * length(); i < (b + 1) * length(); ++i) {
      text += fmt::format("{:0{}x}", view_.code(line_, i), nibbles ? 1 : 2);
    }
    return text;
  }
  /// The weight g of the macro block that holds block b (C19).
  float weight(std::int64_t b) const {
    if (weights_.empty()) return 1.0F;
    const std::int64_t per_row =
        portable::macro_blocks_per_row(operand_->stack.macro, part_->quantized.geometry.columns);
    return weights_[static_cast<std::size_t>(line_ * per_row + b * length() / macro_size())];
  }

 private:
  const portable::Corrected* operand_;
  const portable::CodedPart* part_;
  std::int64_t line_;
  portable::OperandReader reader_;
  verify::QuantizedView view_;
  std::vector<float> weights_;
};

// ---------------------------------------------------------------------------------------------------------------------
// G(a, b) of one element
// ---------------------------------------------------------------------------------------------------------------------

/// The product of one block (GM7).
float block_product(const Line& a, const Line& b, std::int64_t block) {
  const auto x = a.block(block);
  const auto y = b.block(block);
  exact::Extended dot;
  for (int i = 0; i < a.length(); ++i) dot = dot + a.value(x, i) * b.value(y, i);
  return float_from_bits((dot * a.scale(block) * b.scale(block)).to_float());
}

/// A product of two parts: rows of the table, and the sum with what follows it.
class PartProduct {
 public:
  PartProduct(const Line& a, const Line& b) : a_(&a), b_(&b) {
    for (std::int64_t i = 0; i < a.blocks(); ++i) products_.push_back(block_product(a, b, i));
    macro_ = std::max(a.macro_size(), b.macro_size());
    sum_.term_name = macro_ == 0 ? "block" : "slice";
    sum_.chunk = static_cast<std::size_t>(chunk_elements / (macro_ == 0 ? a.length() : macro_));
    if (macro_ == 0) {
      sum_.terms.assign(products_.begin(), products_.end());
    } else {
      add_slices();
    }
  }

  const LongSum& sum() const { return sum_; }

  /// GM13 and C29: what the sum becomes.
  float finished(float total) const {
    float result = total * a_->tensor_scale() * b_->tensor_scale();
    const int divisions = int{a_->three_quarters()} + int{b_->three_quarters()};
    if (divisions != 0) result = strict::divide(result, divisions == 1 ? 0.75F : 0.5625F);
    return strict::canonicalise_nan(result);
  }

  void tell(Replay& replay, const std::string& label) const {
    const std::vector<float> sums = macro_ == 0 ? sum_.partial_sums() : inside_;
    for (std::int64_t i = 0; i < a_->blocks(); ++i) {
      const auto place = static_cast<std::size_t>(i);
      replay.rows.push_back({label, fmt::format("{}", i), a_->scale_text(i), b_->scale_text(i), a_->codes_text(i),
                             b_->codes_text(i), float_text(products_[place]), float_text(sums[place])});
    }
    for (std::size_t i = 0; macro_ != 0 && i < sum_.terms.size(); ++i) {
      replay.notes.push_back(fmt::format("{}: slice {} of {} elements times its weight is {}", label, i, macro_,
                                         float_text(static_cast<float>(sum_.terms[i]))));
    }
    const std::string chunked =
        sum_.terms.size() > sum_.chunk ? fmt::format(", a new sum every {} {}s", sum_.chunk, sum_.term_name) : "";
    replay.notes.push_back(fmt::format("{}: total{} {}, stored {}", label, chunked, float_text(sum_.total()),
                                       float_text(finished(sum_.total()))));
  }

 private:
  /// C41: slices of macro blocks, each with a sum of its own.
  void add_slices() {
    float part = 0.0F;
    for (std::int64_t i = 0; i < a_->blocks(); ++i) {
      part += products_[static_cast<std::size_t>(i)];
      inside_.push_back(part);
      const std::int64_t end = (i + 1) * a_->length();
      if (end % macro_ != 0 && i + 1 != a_->blocks()) continue;
      sum_.terms.push_back(double{part * (a_->weight(i) * b_->weight(i))});
      part = 0.0F;
    }
  }

  const Line* a_;
  const Line* b_;
  std::vector<float> products_;
  std::vector<float> inside_;  ///< sums inside slices
  std::int64_t macro_ = 0;
  LongSum sum_;
};

Replay replay_coded(const OutputElement& element, const fp4proof_multiply_call& call) {
  const auto place = coordinates_of(element.output.shape, element.index);
  const portable::Corrected a = operand_of(element.answer, call.a, "a", call.k);
  const portable::Corrected b = operand_of(element.answer, call.b, "b", call.k);
  Replay replay;
  replay.title = fmt::format("{} times {}, blocks of {} in the order seq512 (docs/rules-gemm.md)", operand_text(call.a),
                             operand_text(call.b), a.profile.block.cols);
  replay.columns = {"parts", "block", "scale a", "scale b", "codes a", "codes b", "product", "sum"};
  const Line line_a(a, a.first, place[0]);
  const Line line_b(b, b.first, place[1]);
  const PartProduct first(line_a, line_b);
  first.tell(replay, "a b");
  float added = 0.0F;
  const bool has_residual = a.residual || b.residual;
  if (has_residual) {
    const Line residual = a.residual ? Line(a, *a.residual, place[0]) : Line(b, *b.residual, place[1]);
    const PartProduct second = a.residual ? PartProduct(residual, line_b) : PartProduct(line_a, residual);
    second.tell(replay, a.residual ? "residual of a, b" : "a, residual of b");
    const float alpha = a.residual ? a.stack.residual.alpha : b.stack.residual.alpha;
    added = alpha * second.finished(second.sum().total());
    replay.notes.push_back(
        fmt::format("times {} and added: {}", alpha, float_text(first.finished(first.sum().total()) + added)));
  }
  const auto finish = [&](float total) {
    const float product = first.finished(total);
    return float_bits(strict::canonicalise_nan(has_residual ? product + added : product));
  };
  replay.result = finish(first.sum().total());
  replay.causes = orders_that_give(first.sum(), finish, static_cast<std::uint32_t>(element.other));
  return replay;
}

// ---------------------------------------------------------------------------------------------------------------------
// bfloat16
// ---------------------------------------------------------------------------------------------------------------------

Replay replay_bf16(const OutputElement& element, const fp4proof_multiply_bf16_call& call) {
  const auto place = coordinates_of(element.output.shape, element.index);
  const CapturedTensor& a = *element.answer.find("a");
  const CapturedTensor& b = *element.answer.find("b");
  LongSum sum{{}, chunk_elements, "product"};
  Replay replay;
  replay.title = "bfloat16 times bfloat16, element by element in the order seq512 (docs/rules-gemm.md)";
  replay.columns = {"k", "a", "b", "sum"};
  for (std::int64_t k = 0; k < call.k; ++k) {
    const std::uint64_t x = a.word(a.before, place[0] * call.k + k);
    const std::uint64_t y = b.word(b.before, place[1] * call.k + k);
    sum.terms.push_back(double{bf16_to_float(static_cast<std::uint16_t>(x))} *
                        double{bf16_to_float(static_cast<std::uint16_t>(y))});
    replay.rows.push_back({fmt::format("{}", k), element_text(a.type, x), element_text(b.type, y)});
  }
  const std::vector<float> sums = sum.partial_sums();
  for (std::size_t k = 0; k < sums.size(); ++k) replay.rows[k].push_back(float_text(sums[k]));
  replay.notes.push_back(fmt::format("total {}", float_text(sum.total())));
  const auto finish = [](float total) { return float_bits(strict::canonicalise_nan(total)); };
  replay.result = finish(sum.total());
  replay.causes = orders_that_give(sum, finish, static_cast<std::uint32_t>(element.other));
  return replay;
}

}  // namespace

Replay replay_product(const OutputElement& element) {
  if (const auto* const coded = std::get_if<fp4proof_multiply_call>(&element.answer.call)) {
    return replay_coded(element, *coded);
  }
  return replay_bf16(element, std::get<fp4proof_multiply_bf16_call>(element.answer.call));
}

}  // namespace fp4proof::training
