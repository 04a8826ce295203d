#include "tests/exhaustive/corrections_comparison.h"

#include <utility>

#include "formats/float_bits.h"
#include "reference/exact/block.h"
#include "reference/portable/accumulator.h"

namespace fp4proof::exhaustive {

namespace {

using Bytes = std::vector<std::uint8_t>;
using Words = std::vector<std::uint32_t>;

// --- Input -----------------------------------------------------------------------------------------------------------

/// The place in the input tensor of element `col` of flattened row `row`.
std::size_t place_of(const CorrectionTrial& trial, std::int64_t row, std::int64_t col) {
  if (!trial.strided) return static_cast<std::size_t>(row * trial.cols + col);
  const std::int64_t matrix = row / trial.rows;
  return static_cast<std::size_t>((matrix * trial.cols + col) * trial.rows + row % trial.rows);
}

/// The tensor as its bytes lie in memory.
std::vector<std::byte> tensor_bytes(const CorrectionTrial& trial, const Words& words) {
  const std::size_t width = trial.bf16 ? 2 : 4;
  std::vector<std::byte> bytes(words.size() * width);
  for (std::int64_t row = 0; row < trial.batch * trial.rows; ++row) {
    for (std::int64_t col = 0; col < trial.cols; ++col) {
      const std::uint32_t word = words[static_cast<std::size_t>(row * trial.cols + col)];
      for (std::size_t i = 0; i < width; ++i)
        bytes[place_of(trial, row, col) * width + i] = static_cast<std::byte>(word >> (8 * (i + 4 - width)));
    }
  }
  return bytes;
}

Words random_words_of(const CorrectionTrial& trial, const portable::QuantizeOptions& options) {
  Words words;
  if (trial.stack.effective(trial.profile).rounding != Rounding::stochastic) return words;
  for (std::int64_t row = 0; row < trial.batch * trial.rows; ++row)
    for (std::int64_t col = 0; col < trial.cols; ++col)
      words.push_back(random_word(options.seed, options.stream, options.step, place_of(trial, row, col)));
  return words;
}

// --- Comparison of a coded part --------------------------------------------------------------------------------------

/// The oracle's rows in the canonical packing of the tensor road.
struct Canonical {
  Bytes codes;
  Bytes scales;
};

Canonical canonical(const Profile& profile, const exact::CodedPart& part) {
  Profile row_profile = profile;
  row_profile.block.rows = 1;
  row_profile.micro_order = MicroOrder::lsb_first;
  const bool nibble = element_spec(profile.element).is_nibble();
  Canonical result;
  for (const auto& row : part.operand.rows) {
    for (const exact::EncodedBlock& block : row) {
      if (profile.family == Family::hif4) {
        const Bytes four = exact::hif4_scale_bytes(row_profile, block);
        result.scales.insert(result.scales.end(), four.begin(), four.end());
      } else {
        result.scales.push_back(block.scale);
      }
      for (std::size_t i = 0; i < block.codes.size(); i += nibble ? 2 : 1)
        result.codes.push_back(nibble ? static_cast<std::uint8_t>(block.codes[i] | block.codes[i + 1] << 4)
                                      : block.codes[i]);
    }
  }
  return result;
}

template <class T>
std::string difference_of(const std::vector<T>& ours, const std::vector<T>& oracle, const std::string& what) {
  if (ours.size() != oracle.size())
    return what + ": " + std::to_string(ours.size()) + " against " + std::to_string(oracle.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    if (ours[i] == oracle[i]) continue;
    return what + " " + std::to_string(i) + ": portable " + std::to_string(ours[i]) + ", oracle " +
           std::to_string(oracle[i]);
  }
  return "";
}

std::string first_of(std::initializer_list<std::string> differences) {
  for (const std::string& difference : differences)
    if (!difference.empty()) return difference;
  return "";
}

std::string compare_parts(const Profile& profile, const portable::CodedPart& ours, const exact::CodedPart& oracle,
                          const std::string& what) {
  const Canonical wanted = canonical(profile, oracle);
  const Words scale = {float_bits(ours.quantized.tensor_scale)};
  return first_of({difference_of(scale, Words{oracle.operand.tensor_scale}, what + " tensor scale"),
                   difference_of(ours.macro, oracle.macro, what + " macro byte"),
                   difference_of(ours.quantized.scales, wanted.scales, what + " scale byte"),
                   difference_of(ours.quantized.codes, wanted.codes, what + " code byte")});
}

Words words_of(const std::vector<float>& values) {
  Words words;
  for (const float value : values) words.push_back(float_bits(value));
  return words;
}

std::string compare_packed(const CorrectedPair& pair, const portable::TensorView& view,
                           const portable::CorrectOptions& options) {
  const ResidualSpec& spec = pair.exact.stack.residual;
  const bool packs =
      spec.is_on() && spec.mask == ResidualMask::two_four && element_spec(pair.exact.profile.element).is_nibble();
  const auto ours = portable::pack_residual(pair.portable, view, options);
  if (ours.ok() != packs) return packs ? "pack_residual refuses" : "pack_residual does not refuse";
  if (!packs) return "";
  const exact::PackedResidual oracle = exact::pack_residual(pair.exact);
  const auto unpacked = portable::unpack_residual(pair.portable.geometry(), *ours);
  if (!unpacked) return "unpack_residual: " + unpacked.error().message;
  return first_of({difference_of(ours->codes, oracle.codes, "packed code"),
                   difference_of(ours->places, oracle.places, "packed places"),
                   difference_of(*unpacked, pair.portable.residual->quantized.codes, "unpacked code byte")});
}

exact::Accumulator oracle_accumulator(portable::Accumulator accumulator) {
  using portable::Accumulator;
  switch (accumulator) {
    case Accumulator::seq512: return exact::Accumulator::seq512;
    case Accumulator::seq: return exact::Accumulator::seq;
    case Accumulator::exact: return exact::Accumulator::exact;
    case Accumulator::tc_hopper_fp16: return exact::Accumulator::tc_hopper_fp16;
    case Accumulator::tc_hopper_fp8: return exact::Accumulator::tc_hopper_fp8;
    case Accumulator::tc_blackwell_mxf8f6f4: return exact::Accumulator::tc_blackwell_mxf8f6f4;
    case Accumulator::tc_blackwell_mxf4: return exact::Accumulator::tc_blackwell_mxf4;
  }
  return exact::Accumulator::seq512;
}

}  // namespace

CorrectionOutcome compare_correction(const CorrectionTrial& trial) {
  const Words words = random_matrix(trial);
  const std::vector<std::byte> bytes = tensor_bytes(trial, words);
  std::vector<std::int64_t> shape = {trial.batch, trial.rows, trial.cols};
  if (trial.strided) std::swap(shape[1], shape[2]);
  if (trial.batch == 1) shape.erase(shape.begin());
  const portable::TensorView view{trial.bf16 ? portable::DType::bf16 : portable::DType::f32, shape, bytes.data()};
  portable::CorrectOptions options;
  options.quantize.axis = trial.strided ? -2 : -1;
  options.quantize.tail = portable::Tail::pad;
  options.quantize.seed = trial.seed;
  options.quantize.step = trial.product;
  options.product = trial.product;
  const auto rows = static_cast<std::size_t>(trial.rows);
  const exact::MatrixShape oracle_shape = {static_cast<std::size_t>(trial.batch) * rows,
                                           static_cast<std::size_t>(trial.cols), rows};
  const Words random = random_words_of(trial, options.quantize);

  auto ours = portable::correct(trial.profile, trial.stack, view, options);
  auto oracle = exact::correct(trial.profile, trial.stack, {oracle_shape, words, random}, trial.product);
  if (ours.ok() != oracle.ok())
    return {{},
            ours.ok() ? "only the oracle refuses: " + oracle.error().message
                      : "only the portable road refuses: " + ours.error().message};
  if (!ours.ok())
    return {{},
            ours.error().kind == oracle.error().kind
                ? ""
                : "kinds of error: " + ours.error().message + ", " + oracle.error().message};
  CorrectedPair pair{*std::move(ours), *std::move(oracle)};
  std::string difference = compare_parts(pair.exact.profile, pair.portable.first, pair.exact.first, "first");
  if (difference.empty() && pair.portable.residual.has_value() != pair.exact.residual.has_value())
    difference = "only one road has a residual";
  if (difference.empty() && pair.exact.residual)
    difference = compare_parts(pair.exact.profile, *pair.portable.residual, *pair.exact.residual, "residual");
  if (difference.empty())
    difference = difference_of(words_of(portable::dequantize(pair.portable)), exact::decode(pair.exact), "value");
  if (difference.empty()) difference = compare_packed(pair, view, options);
  return {std::move(pair), std::move(difference)};
}

std::string compare_products(const CorrectedPair& a, const CorrectedPair& b, TrialDraw& draw, int& products) {
  const bool swapped = draw.one_in(2);
  const CorrectedPair& left = swapped ? b : a;
  const CorrectedPair& right = swapped ? a : b;
  for (const portable::Accumulator accumulator : portable::accumulators) {
    if (!draw.one_in(3)) continue;
    const std::string name = std::string(name_of(accumulator)) + (swapped ? ", swapped" : "");
    const auto ours = portable::gemm(left.portable, right.portable, accumulator);
    const auto oracle = exact::gemm(left.exact, right.exact, oracle_accumulator(accumulator));
    if (ours.ok() != oracle.ok())
      return name + (ours.ok() ? ": only the oracle refuses: " + oracle.error().message
                               : ": only the portable road refuses: " + ours.error().message);
    if (!ours.ok()) continue;
    ++products;
    std::string difference = difference_of(words_of(*ours), *oracle, name);
    if (!difference.empty()) return difference;
  }
  return "";
}

TrialOutcome compare_trial(const CorrectionTrial& trial, TrialDraw& draw) {
  const CorrectionOutcome outcome = compare_correction(trial);
  if (!outcome.difference.empty()) return {false, 0, outcome.difference + "\n  " + describe(trial)};
  if (!outcome.pair) return {true, 0, ""};
  if (trial.batch != 1) return {};
  const CorrectionTrial partner = random_partner(trial, 2, draw);
  const CorrectionOutcome other = compare_correction(partner);
  if (!other.difference.empty()) return {false, 0, other.difference + "\n  " + describe(partner)};
  if (!other.pair) return {};
  TrialOutcome result;
  result.difference = compare_products(*outcome.pair, *other.pair, draw, result.products);
  if (!result.difference.empty()) result.difference += "\n  " + describe(trial) + "\n  " + describe(partner);
  return result;
}

}  // namespace fp4proof::exhaustive
