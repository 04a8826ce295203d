// Replays of adam and rms_norm.

#include <fmt/format.h>

#include <array>
#include <optional>

#include "conformance/divergence/element_text.h"
#include "conformance/divergence/replay.h"
#include "formats/strict_math.h"
#include "reference/portable/gemm_rounded_sum.h"

namespace fp4proof::training {

namespace {

/// A multiplication and an addition with one rounding.
float fused(float a, float b, float c) { return portable::rounded_sum(double{a} * double{b}, double{c}); }

float multiply_add(bool fuse, float a, float b, float c) { return fuse ? fused(a, b, c) : a * b + c; }

std::vector<std::string> row(const std::string& name, const std::string& rule, float value) {
  return {name, rule, element_text(ElementType::f32, float_bits(value))};
}

float float_at(const CapturedTensor& tensor, std::int64_t index) {
  return float_from_bits(static_cast<std::uint32_t>(tensor.word(tensor.before, index)));
}

bool gives(float value, const OutputElement& element) {
  return float_bits(strict::canonicalise_nan(value)) == element.other;
}

// ---------------------------------------------------------------------------------------------------------------------
// adam
// ---------------------------------------------------------------------------------------------------------------------

/// Which multiplication of T45 is fused with the addition behind it.
enum class FusedAdam : std::uint8_t { none, old_first_moment, gradient, old_second_moment, square };

struct AdamSteps {
  float g = 0, m = 0, v = 0, change = 0, w = 0;

  AdamSteps(const OutputElement& element, const fp4proof_adam_call& c, FusedAdam fuse) {
    const auto input = [&](std::string_view name) { return float_at(*element.answer.find(name), element.index); };
    const float rest1 = 1.0F - c.beta1;
    const float rest2 = 1.0F - c.beta2;
    const float old_m = input("first_moment");
    const float old_v = input("second_moment");
    g = input("gradient") * c.gradient_scale;
    m = fuse == FusedAdam::gradient ? fused(rest1, g, c.beta1 * old_m)
                                    : multiply_add(fuse == FusedAdam::old_first_moment, c.beta1, old_m, rest1 * g);
    v = fuse == FusedAdam::square ? fused(rest2, g * g, c.beta2 * old_v)
                                  : multiply_add(fuse == FusedAdam::old_second_moment, c.beta2, old_v, rest2 * (g * g));
    change = (c.learning_rate * (m / c.correction1)) / (strict::sqrt(v / c.correction2) + c.epsilon);
    w = input("weight") - change;
  }

  float output(std::string_view name) const { return name == "first_moment" ? m : name == "second_moment" ? v : w; }
};

}  // namespace

Replay replay_adam(const OutputElement& element) {
  const auto& call = std::get<fp4proof_adam_call>(element.answer.call);
  Replay replay = replay_inputs(element);
  replay.title = "adam (T45 of docs/rules-training.md)";
  replay.columns = {"name", "rule", "value"};
  for (std::vector<std::string>& input : replay.rows) input.insert(input.begin() + 1, "input");
  const AdamSteps steps(element, call, FusedAdam::none);
  replay.rows.push_back(row("g", "RN(gradient scale)", steps.g));
  replay.rows.push_back(row("m", "RN(RN(b1 m) + RN(RN(1 - b1) g))", steps.m));
  replay.rows.push_back(row("v", "RN(RN(b2 v) + RN(RN(1 - b2) RN(g g)))", steps.v));
  replay.rows.push_back(row("change", "RN(RN(rate RN(m / c1)) / RN(sqrt(RN(v / c2)) + epsilon))", steps.change));
  replay.rows.push_back(row("w", "RN(w - change)", steps.w));
  replay.result = float_bits(strict::canonicalise_nan(steps.output(element.output.name)));
  constexpr std::array<std::pair<FusedAdam, const char*>, 4> fusions = {
      {{FusedAdam::old_first_moment, "b1 m is fused with the addition: it is not rounded"},
       {FusedAdam::gradient, "(1 - b1) g is fused with the addition: it is not rounded"},
       {FusedAdam::old_second_moment, "b2 v is fused with the addition: it is not rounded"},
       {FusedAdam::square, "(1 - b2) g g is fused with the addition: it is not rounded"}}};
  for (const auto& [fusion, what] : fusions) {
    if (gives(AdamSteps(element, call, fusion).output(element.output.name), element)) replay.causes.emplace_back(what);
  }
  return replay;
}

// ---------------------------------------------------------------------------------------------------------------------
// rms_norm
// ---------------------------------------------------------------------------------------------------------------------

namespace {

constexpr std::int64_t every_product = -1;

/// RS of RN(x x) (T2); the products of no element, of element `fuse`, or of every element are fused into the sum.
float sum_of_squares(const std::vector<float>& x, std::optional<std::int64_t> fuse) {
  constexpr std::size_t segment = 4096;
  constexpr std::size_t lane_count = 32;
  float total = 0.0F;
  for (std::size_t first = 0; first < x.size(); first += segment) {
    std::array<float, lane_count> lanes{};
    for (std::size_t i = first; i < std::min(x.size(), first + segment); ++i) {
      const bool fuses = fuse && (*fuse == every_product || *fuse == static_cast<std::int64_t>(i));
      float& lane = lanes[(i - first) % lane_count];
      lane = multiply_add(fuses, x[i], x[i], lane);
    }
    for (std::size_t width = lane_count / 2; width > 0; width /= 2) {
      for (std::size_t lane = 0; lane < width; ++lane) lanes[lane] += lanes[lane + width];
    }
    total = first == 0 ? lanes[0] : total + lanes[0];
  }
  return total;
}

/// T32 for one row, of whose elements `column` is asked for.
struct NormSteps {
  float s = 0, mean = 0, inverse = 0, n = 0, y = 0;

  NormSteps(const OutputElement& element, std::int64_t columns, std::optional<std::int64_t> fuse) {
    constexpr float epsilon = 1e-5F;
    const bool is_inverse = element.output.name == "inverse";
    const std::int64_t row = is_inverse ? element.index : element.index / columns;
    const std::int64_t column = is_inverse ? 0 : element.index % columns;
    std::vector<float> x;
    for (std::int64_t i = 0; i < columns; ++i) x.push_back(float_at(*element.answer.find("x"), row * columns + i));
    s = sum_of_squares(x, fuse);
    mean = s / static_cast<float>(columns);
    inverse = strict::rsqrt(mean + epsilon);
    n = x[static_cast<std::size_t>(column)] * inverse;
    y = n * float_at(*element.answer.find("weight"), column);
    if (const CapturedTensor* const gain = element.answer.find("gain")) y *= float_at(*gain, column);
  }

  float output(std::string_view name) const { return name == "inverse" ? inverse : y; }
};

}  // namespace

Replay replay_rms_norm(const OutputElement& element) {
  const std::int64_t columns = std::get<fp4proof_rms_norm_call>(element.answer.call).columns;
  Replay replay = replay_inputs(element);
  replay.title = "rms_norm (T32 of docs/rules-training.md)";
  replay.columns = {"name", "rule", "value"};
  for (std::vector<std::string>& input : replay.rows) input.insert(input.begin() + 1, "input");
  const NormSteps steps(element, columns, std::nullopt);
  replay.rows.push_back(row("s", "RS(RN(x x))", steps.s));
  replay.rows.push_back(row("mean", "RN(s / columns)", steps.mean));
  replay.rows.push_back(row("inverse", "rsqrt(RN(mean + 1e-5))", steps.inverse));
  if (element.output.name != "inverse") {
    replay.rows.push_back(row("n", "RN(x inverse)", steps.n));
    replay.rows.push_back(row("y", "RN(n w), times the gain", steps.y));
  }
  replay.result = float_bits(strict::canonicalise_nan(steps.output(element.output.name)));
  const auto with = [&](std::int64_t fuse) {
    return gives(NormSteps(element, columns, fuse).output(element.output.name), element);
  };
  if (with(every_product)) replay.causes.emplace_back("every square is fused into the sum: none is rounded");
  for (std::int64_t i = 0; i < columns; ++i) {
    if (with(i))
      replay.causes.push_back(fmt::format("the square of column {} is fused into the sum: it is not rounded", i));
  }
  return replay;
}

}  // namespace fp4proof::training
