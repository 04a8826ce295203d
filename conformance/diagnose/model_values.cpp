#include "conformance/diagnose/model_values.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "formats/block_codec.h"
#include "formats/packing.h"
#include "reference/portable/accumulator.h"

namespace fp4proof::diagnose {

namespace {

using suite::CaseGroup;
using suite::CaseTensor;

/// The codes and scales of one matrix of one case.
struct Coded {
  const Profile& profile;
  const DecodeModel& decode;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  Bytes codes;
  Bytes scales;
  double tensor_scale = 1.0;

  std::int64_t blocks() const { return columns / profile.block.cols; }
};

double mx_scale(const DecodeModel& decode, std::uint8_t code) {
  using enum ScaleReading;
  const bool zero_reads_zero = decode.scale == zero_is_zero || decode.scale == both;
  const bool nan_reads_infinity =
      decode.scale == nan_is_infinity || decode.scale == both || decode.scale == nan_in_number;
  if (decode.scale == raw) return code;
  if (code == 0 && zero_reads_zero) return 0.0;
  if (code == e8m0_nan && nan_reads_infinity) return HUGE_VAL;
  if (code == e8m0_bias + 7 && decode.scale == nan_in_number) return std::nan("");
  if (code == e8m0_max && decode.scale == inverse_flushed) return HUGE_VAL;
  if (code == e8m0_nan && decode.scale != nan_is_number) return std::nan("");
  return std::ldexp(1.0, int{code} - e8m0_bias + decode.scale_shift);
}

double hif4_scale(const DecodeModel& decode, std::uint8_t code) {
  if (decode.scale == ScaleReading::raw) return code;
  if (code == e6m2_nan && decode.scale != ScaleReading::nan_is_number) return std::nan("");
  const int quarters = decode.scale == ScaleReading::exponent_only ? 4 : 4 + (code & 3);
  return std::ldexp(quarters, (code >> 2) - e6m2_bias - 2 + decode.scale_shift);
}

double nvfp4_scale(const DecodeModel& decode, std::uint8_t code) {
  const int exponent = (code >> 3) & 0xF;
  const int fraction = code & 7;
  if (decode.scale == ScaleReading::raw) return code;
  if ((code & 0x7F) == e4m3_scale_nan && decode.scale != ScaleReading::nan_is_number) return std::nan("");
  if (decode.scale == ScaleReading::exponent_only) return std::ldexp(1.0, exponent - 7 + decode.scale_shift);
  if (exponent == 0) {
    const bool is_flushed = decode.scale == ScaleReading::subnormal_flushed;
    return is_flushed ? 0.0 : std::ldexp(fraction, -9 + decode.scale_shift);
  }
  return std::ldexp(8 + fraction, exponent - 10 + decode.scale_shift);
}

int levels_at(LevelReading reading, std::uint32_t word, int column) {
  switch (reading) {
    case LevelReading::as_stated: return hif4_level2(word, column) + hif4_level3(word, column);
    case LevelReading::none: return 0;
    case LevelReading::level2_only: return hif4_level2(word, column);
    case LevelReading::level3_only: return hif4_level3(word, column);
    case LevelReading::strided:
      return static_cast<int>((word >> (8 + column % 8)) & 1U) + static_cast<int>((word >> (16 + column % 16)) & 1U);
  }
  return 0;
}

/// The scale word that the model takes for a block.
std::uint32_t scale_word(const Coded& coded, std::int64_t row, std::int64_t block) {
  const std::int64_t place = (row * coded.blocks() + block) / coded.decode.blocks_a_scale;
  if (coded.profile.family != Family::hif4) return coded.scales[static_cast<std::size_t>(place)];
  return load_le32(&coded.scales[static_cast<std::size_t>(4 * place)]);
}

double block_scale(const Coded& coded, std::uint32_t word) {
  const auto code = static_cast<std::uint8_t>(word);
  switch (coded.profile.family) {
    case Family::mx: return mx_scale(coded.decode, code);
    case Family::hif4: return hif4_scale(coded.decode, code);
    case Family::nvfp4: return nvfp4_scale(coded.decode, code);
  }
  return 1.0;
}

std::uint8_t code_at(const Coded& coded, std::int64_t row, std::int64_t column) {
  if (!element_spec(coded.profile.element).is_nibble()) {
    return coded.codes[static_cast<std::size_t>(row * coded.columns + column)];
  }
  const std::uint8_t byte = coded.codes[static_cast<std::size_t>((row * coded.columns + column) / 2)];
  return static_cast<std::uint8_t>((byte >> (4 * (column & 1))) & 0xF);
}

/// An element with its level bits, without the scale of its block; exact.
double element_at(const Coded& coded, std::int64_t row, std::int64_t column, std::uint32_t word) {
  const Element element = coded.decode.grid.value_or(coded.profile.element);
  const double value = decode_element(element, code_at(coded, row, column));
  if (coded.profile.family != Family::hif4) return value;
  return std::ldexp(value, levels_at(coded.decode.levels, word, static_cast<int>(column % coded.profile.block.cols)));
}

float rounded_value(ValueRounding rounding, double element, double scale, double tensor_scale) {
  const auto once = static_cast<float>(element * scale * tensor_scale);
  switch (rounding) {
    case ValueRounding::once: return once;
    case ValueRounding::bf16: return round_to_bf16(once);
    case ValueRounding::binary16: return round_to_binary16(once);
    case ValueRounding::flushed: return flushed(once);
    case ValueRounding::scales_first: return static_cast<float>(element) * static_cast<float>(scale * tensor_scale);
  }
  return once;
}

float value_at(const Coded& coded, std::int64_t row, std::int64_t column) {
  const std::uint32_t word = scale_word(coded, row, column / coded.profile.block.cols);
  return rounded_value(coded.decode.rounding, element_at(coded, row, column, word), block_scale(coded, word),
                       coded.tensor_scale);
}

Coded coded_of_case(const KernelModel& model, const CaseGroup& cases, std::size_t index, const std::string& prefix,
                    std::int64_t rows) {
  Coded coded{model.profile,
              model.decode,
              rows,
              cases.spec.columns,
              cases.find(prefix + "codes")->of_case(index),
              cases.find(prefix + "scales")->of_case(index),
              1.0};
  const CaseTensor* tensor_scale = cases.find(prefix + "tensor_scale");
  if (tensor_scale != nullptr && !model.decode.without_tensor_scale) {
    coded.tensor_scale = double{copy_elements<float>(tensor_scale->of_case(index)).front()};
  }
  return coded;
}

void put_value(CaseTensor& tensor, std::size_t index, std::size_t place, float value) {
  const std::uint32_t word = std::isnan(value) ? canonical_nan_bits : float_bits(value);
  std::memcpy(tensor.bytes.data() + index * tensor.case_bytes() + 4 * place, &word, 4);
}

bool fits(const Coded& coded) { return coded.columns % coded.profile.block.cols == 0; }

// ---------------------------------------------------------------------------------------------------------------------
// Products
// ---------------------------------------------------------------------------------------------------------------------

double rounded_product(ProductRounding rounding, double value) {
  switch (rounding) {
    case ProductRounding::binary32: return static_cast<float>(value);
    case ProductRounding::none: return value;
    case ProductRounding::bf16: return round_to_bf16(static_cast<float>(value));
    case ProductRounding::binary16: return round_to_binary16(static_cast<float>(value));
  }
  return value;
}

double added(SumRounding rounding, double sum, double term) {
  const double exact = sum + term;
  switch (rounding) {
    case SumRounding::binary32: return static_cast<float>(exact);
    case SumRounding::flushed: return flushed(static_cast<float>(exact));
    case SumRounding::bf16: return round_to_bf16(static_cast<float>(exact));
    case SumRounding::binary16: return round_to_binary16(static_cast<float>(exact));
    case SumRounding::binary64: return exact;
  }
  return exact;
}

/// A matrix of one case, read once.
struct Operand {
  std::int64_t rows = 0;
  std::int64_t length = 0;       ///< of a block
  std::vector<double> elements;  ///< [rows, columns], without the scales of blocks
  std::vector<double> scales;    ///< [rows, blocks]
  std::vector<double> values;    ///< [rows, columns], rounded as the model does; only where elements are added
  double tensor_scale = 1.0;

  std::size_t columns() const { return elements.size() / static_cast<std::size_t>(rows); }
  std::size_t blocks() const { return scales.size() / static_cast<std::size_t>(rows); }
};

Operand operand_of(const Coded& coded, bool with_values) {
  Operand operand;
  operand.rows = coded.rows;
  operand.length = coded.profile.block.cols;
  operand.tensor_scale = coded.tensor_scale;
  for (std::int64_t row = 0; row < coded.rows; ++row) {
    for (std::int64_t block = 0; block < coded.blocks(); ++block) {
      const std::uint32_t word = scale_word(coded, row, block);
      const double scale = block_scale(coded, word);
      operand.scales.push_back(scale);
      for (std::int64_t k = block * operand.length; k < (block + 1) * operand.length; ++k) {
        const double element = element_at(coded, row, k, word);
        operand.elements.push_back(element);
        if (with_values) operand.values.push_back(rounded_value(coded.decode.rounding, element, scale, 1.0));
      }
    }
  }
  return operand;
}

/// A sum of products that are multiples of one small unit, such as those of elements: exact in two parts.
class ExactDot {
 public:
  /// zero: -0 keeps a sum of -0 alone as it is.
  explicit ExactDot(double zero) : plain_(zero) {}

  void add(double product) {
    const double sum = high_ + product;
    const double added = sum - high_;
    low_ += (high_ - (sum - added)) + (product - added);
    high_ = sum;
    plain_ += product;
  }

  /// Rounded to odd: what is rounded again afterwards is rounded once.
  double value() const {
    if (!std::isfinite(plain_) || (plain_ == 0.0 && std::signbit(plain_))) return plain_;
    const double sum = high_ + low_;
    const double error = low_ - (sum - high_);
    const bool even = (bits_as<std::uint64_t>(sum) & 1U) == 0;
    return error == 0.0 || !even ? sum : std::nextafter(sum, error > 0.0 ? HUGE_VAL : -HUGE_VAL);
  }

 private:
  double high_ = 0;
  double low_ = 0;
  double plain_;  ///< keeps NaN, infinity and -0 as they are
};

/// What a sum starts from. -0 changes no number.
double start_of(const SumModel& sum) { return sum.from_first ? -0.0 : 0.0; }

/// What is added for one element of C, in k order: products of blocks, or of elements.
std::vector<double> terms_of(const SumModel& sum, const Operand& a, const Operand& b, std::size_t m, std::size_t n) {
  std::vector<double> terms;
  const std::size_t columns = a.columns();
  if (sum.order == SumOrder::elements) {
    for (std::size_t k = 0; k < columns; ++k) {
      const double product = a.values[m * columns + k] * b.values[n * columns + k];
      terms.push_back(sum.product == ProductRounding::binary32 ? product : rounded_product(sum.product, product));
    }
    return terms;
  }
  const auto length = static_cast<std::size_t>(a.length);
  for (std::size_t block = 0; block < a.blocks(); ++block) {
    ExactDot dot(start_of(sum));
    for (std::size_t k = block * length; k < (block + 1) * length; ++k)
      dot.add(a.elements[m * columns + k] * b.elements[n * columns + k]);
    const double scales = a.scales[m * a.blocks() + block] * b.scales[n * b.blocks() + block];
    terms.push_back(rounded_product(sum.product, dot.value() * scales));
  }
  return terms;
}

double pairwise(SumRounding rounding, std::span<const double> terms) {
  if (terms.size() == 1) return terms.front();
  const std::size_t half = (terms.size() + 1) / 2;
  return added(rounding, pairwise(rounding, terms.first(half)), pairwise(rounding, terms.subspan(half)));
}

double in_order(const SumModel& model, std::span<const double> terms) {
  double sum = start_of(model);
  for (const double term : terms) sum = added(model.sum, sum, term);
  return sum;
}

/// The terms in chunks, the sum of the first one copied.
double chunked(const SumModel& sum, std::span<const double> terms, std::size_t chunk) {
  double total = 0;
  for (std::size_t begin = 0; begin < terms.size(); begin += chunk) {
    const auto part = terms.subspan(begin, std::min(chunk, terms.size() - begin));
    const double of_part = sum.order == SumOrder::pairwise ? pairwise(sum.sum, part) : in_order(sum, part);
    total = begin == 0 ? of_part : added(sum.sum, total, of_part);
  }
  return total;
}

double exact_sum(const SumModel& model, std::span<const double> terms) {
  auto sum = static_cast<long double>(start_of(model));
  for (const double term : terms) sum += static_cast<long double>(term);
  return static_cast<double>(sum);
}

struct SumRule {
  SumModel model;
  bool exact = false;
  std::size_t chunk = 0;  ///< terms in one chunk
};

/// How the model adds under the accumulator of the question; nothing for an accumulator that it does not know.
std::optional<SumRule> rule_of(const KernelModel& model, std::string_view accumulator) {
  SumRule rule{model.sum, accumulator == "exact", 0};
  if (!rule.exact && accumulator != "seq512" && accumulator != "seq") return std::nullopt;
  const int asked = accumulator == "seq512" ? static_cast<int>(portable::chunk_elements) : 0;
  const int elements = model.sum.chunk.value_or(asked);
  const int length = model.sum.order == SumOrder::elements ? 1 : int{model.profile.block.cols};
  rule.chunk = elements == 0 ? std::size_t{1} << 30 : static_cast<std::size_t>(std::max(1, elements / length));
  if (rule.exact) rule.model.product = ProductRounding::none;
  return rule;
}

float element_of_product(const SumRule& rule, const Operand& a, const Operand& b, std::size_t m, std::size_t n) {
  std::vector<double> terms = terms_of(rule.model, a, b, m, n);
  if (rule.model.order == SumOrder::reversed) std::ranges::reverse(terms);
  const double sum = rule.exact ? exact_sum(rule.model, terms) : chunked(rule.model, terms, rule.chunk);
  const auto with_a = static_cast<float>(double{static_cast<float>(sum)} * a.tensor_scale);
  return static_cast<float>(double{with_a} * b.tensor_scale);
}

}  // namespace

float round_to_binary16(float value) {
  if (!std::isfinite(value) || value == 0.0F) return value;
  int exponent = 0;
  std::frexp(value, &exponent);
  const int step = std::max(exponent - 11, -24);
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(double{value}, -step)), step);
  if (std::fabs(rounded) >= 65520.0) return std::copysign(HUGE_VALF, value);
  return std::copysign(static_cast<float>(rounded), value);
}

float flushed(float value) { return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0F, value) : value; }

bool decode_cases(const KernelModel& model, CaseGroup& cases) {
  CaseTensor& values = *cases.find("values");
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Coded coded = coded_of_case(model, cases, i, "", cases.spec.rows);
    if (!fits(coded)) return false;
    for (std::int64_t row = 0; row < coded.rows; ++row) {
      for (std::int64_t column = 0; column < coded.columns; ++column) {
        put_value(values, i, static_cast<std::size_t>(row * coded.columns + column), value_at(coded, row, column));
      }
    }
  }
  return true;
}

bool multiply_cases(const KernelModel& model, CaseGroup& cases) {
  if (!cases.spec.correction.empty()) return false;
  const std::optional<SumRule> rule = rule_of(model, cases.spec.accumulator);
  if (!rule) return false;
  CaseTensor& c = *cases.find("c");
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Coded coded_a = coded_of_case(model, cases, i, "a_", cases.spec.rows);
    const Coded coded_b = coded_of_case(model, cases, i, "b_", cases.spec.other_rows);
    if (!fits(coded_a)) return false;
    const bool with_values = model.sum.order == SumOrder::elements;
    const Operand a = operand_of(coded_a, with_values);
    const Operand b = operand_of(coded_b, with_values);
    const auto width = static_cast<std::size_t>(b.rows);
    for (std::size_t m = 0; m < static_cast<std::size_t>(a.rows); ++m)
      for (std::size_t n = 0; n < width; ++n) put_value(c, i, m * width + n, element_of_product(*rule, a, b, m, n));
  }
  return true;
}

}  // namespace fp4proof::diagnose
