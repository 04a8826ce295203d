// The reference with one planted fault, for `fp4proof compare-training`. The variable FP4PROOF_FAULT names the fault;
// a line about each place where it was planted is added to the file that FP4PROOF_FAULT_LOG names:
//
//     {"operator": "adam", "tensor": "weight", "index": 1234, "right": 1065353216, "wrong": 1065353224, "term": 0}
//
// `term` is the first of two terms of a sum that are swapped.
// Faults depend on what calls are asked, so a step that is made again meets the same fault. They stand where their bits
// reach a weight: what the next quantization hides is no difference between runs.
//
// Some names are misconduct in place of a fault: no-device, no-name, no-operator, fails, exits, crashes, rounds-up.

#include <algorithm>
#include <array>
#include <cfenv>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "conformance/training/reference_training.h"

namespace {

using fp4proof::training::reference_training;

constexpr std::uint32_t faulty_step = 3;
constexpr std::int64_t square_weight = 64 * 64;
constexpr std::int64_t training_rows = 64 * 9;  // sequences of the preset `tiny` times their positions

std::string_view fault() {
  const char* const name = std::getenv("FP4PROOF_FAULT");
  return name == nullptr ? "" : name;
}

/// The step of reinforcement that calls with random words have named last; 0 during the warm start.
std::uint32_t step = 0;
/// Whether the fault of this step is planted already.
bool planted = false;

void at_step(std::uint32_t now) {
  if (now != step) planted = false;
  step = now;
}

/// True once a step, in the faulty one.
bool plant_now(std::string_view name) {
  if (fault() != name || step != faulty_step || planted) return false;
  planted = true;
  return true;
}

std::uint32_t word_of(float value) {
  std::uint32_t word = 0;
  std::memcpy(&word, &value, sizeof word);
  return word;
}

float float_of(std::uint32_t word) {
  float value = 0;
  std::memcpy(&value, &word, sizeof value);
  return value;
}

void log(const char* name, const char* tensor, std::int64_t index, std::uint32_t right, std::uint32_t wrong,
         std::size_t term = 0) {
  const char* const path = std::getenv("FP4PROOF_FAULT_LOG");
  std::FILE* const file = path == nullptr ? nullptr : std::fopen(path, "a");
  if (file == nullptr) return;
  std::fprintf(
      file,
      "{\"operator\": \"%s\", \"tensor\": \"%s\", \"index\": %lld, \"right\": %u, \"wrong\": %u, \"term\": %zu}\n",
      name, tensor, static_cast<long long>(index), right, wrong, term);
  std::fclose(file);
}

void replace(const char* name, const char* tensor, float* values, std::int64_t index, float wrong,
             std::size_t term = 0) {
  log(name, tensor, index, word_of(values[index]), word_of(wrong), term);
  values[index] = wrong;
}

/// RN(a b + c) with one rounding.
float fused(float a, float b, float c) { return std::fma(a, b, c); }

// --- quantize --------------------------------------------------------------------------------------------------------

fp4proof_status quantize(const fp4proof_quantize_call* call) {
  if (fault() == "fails") return FP4PROOF_FAILED;
  if (fault() == "exits") std::exit(0);
  if (fault() == "crashes") std::raise(SIGSEGV);
  if (fault() == "rounds-up") std::fesetround(FE_UPWARD);
  at_step(call->random.step);
  const fp4proof_status status = reference_training()->quantize(call);
  if (plant_now("wrong-nibble")) {
    constexpr std::size_t index = 100;
    std::uint8_t& pair = call->first.codes[index / 2];
    log("quantize", "first.codes", index, pair & 0xFU, (pair ^ 1U) & 0xFU);
    pair ^= 1U;
  }
  if (plant_now("scale-off-by-one")) {
    constexpr std::size_t index = 5;
    std::uint8_t& scale = call->first.scales[index];
    log("quantize", "first.scales", index, scale, scale + 1U);
    ++scale;
  }
  return status;
}

// --- multiply --------------------------------------------------------------------------------------------------------

float e4m3(unsigned code) {
  const int field = static_cast<int>(code >> 3U & 0xFU);
  const auto mantissa = static_cast<float>(code & 7U);
  const float magnitude = field == 0 ? std::ldexp(mantissa, -9) : std::ldexp(8 + mantissa, field - 10);
  return (code & 0x80U) != 0 ? -magnitude : magnitude;
}

/// The products of the blocks of one element of a product of mxfp8-e4m3 operands. Those of mxfp4 have so few bits that
/// their sums are exact here, in any order.
std::vector<float> block_products(const fp4proof_multiply_call& call, std::int64_t row, std::int64_t column) {
  constexpr std::int64_t block = 32;
  const std::int64_t blocks = (call.k + block - 1) / block;
  std::vector<float> products;
  for (std::int64_t b = 0; b < blocks; ++b) {
    const std::uint8_t* const x = call.a.first.codes + (row * blocks + b) * block;
    const std::uint8_t* const y = call.b.first.codes + (column * blocks + b) * block;
    double dot = 0;
    for (int i = 0; i < block; ++i) dot += double{e4m3(x[i])} * double{e4m3(y[i])};
    const int exponent = call.a.first.scales[row * blocks + b] + call.b.first.scales[column * blocks + b] - 254;
    products.push_back(static_cast<float>(std::ldexp(dot, exponent)));
  }
  return products;
}

/// seq512 of terms of which `chunk` make a chunk.
float sum_of(const std::vector<float>& terms, std::size_t chunk) {
  float total = 0;
  for (std::size_t first = 0; first < terms.size(); first += chunk) {
    float sum = 0;
    for (std::size_t i = first; i < std::min(first + chunk, terms.size()); ++i) sum += terms[i];
    total = first == 0 ? sum : total + sum;
  }
  return total;
}

/// Whether an element is among the larger ones: a last bit of the others is lost in the norm of the gradient.
bool counts(const float* c, std::int64_t count, std::int64_t index) {
  const auto smaller = [](float a, float b) { return std::fabs(a) < std::fabs(b); };
  return std::fabs(c[index]) * 4 > std::fabs(*std::max_element(c, c + count, smaller));
}

/// Swaps the first two neighbours of a sum whose order matters; false: there are none.
bool swap_neighbours(const char* name, std::vector<float> terms, std::size_t chunk, float* c, std::int64_t index) {
  if (sum_of(terms, chunk) != c[index]) std::abort();  // not the sum that this file has in mind
  for (std::size_t i = 0; i + 1 < terms.size(); ++i) {
    if ((i + 1) % chunk == 0) continue;
    std::swap(terms[i], terms[i + 1]);
    const float wrong = sum_of(terms, chunk);
    std::swap(terms[i], terms[i + 1]);
    if (wrong == c[index]) continue;
    replace(name, "c", c, index, wrong, i);
    return true;
  }
  return false;
}

bool swap_adds(const fp4proof_multiply_call& call) {
  for (std::int64_t index = 0; index < call.a.lines * call.b.lines; ++index) {
    if (!counts(call.c, call.a.lines * call.b.lines, index)) continue;
    const auto terms = block_products(call, index / call.b.lines, index % call.b.lines);
    if (swap_neighbours("multiply", terms, 16, call.c, index)) return true;
  }
  return false;
}

/// The same product of mxfp4 operands in two launches, half of the lines each.
fp4proof_status multiply_in_halves(const fp4proof_multiply_call& call) {
  const std::int64_t blocks = (call.k + 31) / 32;
  const std::int64_t half = call.a.lines / 2;
  fp4proof_multiply_call first = call;
  first.a.lines = half;
  fp4proof_multiply_call second = call;
  second.a.lines = call.a.lines - half;
  second.a.first.codes += half * blocks * 16;
  second.a.first.scales += half * blocks;
  second.c += half * call.b.lines;
  const fp4proof_status status = reference_training()->multiply(&second);
  return status == FP4PROOF_OK ? reference_training()->multiply(&first) : status;
}

fp4proof_status multiply(const fp4proof_multiply_call* call) {
  if (fault() == "other-launch-shape") return multiply_in_halves(*call);
  const fp4proof_status status = reference_training()->multiply(call);
  if (call->k == training_rows && plant_now("swapped-adds")) planted = swap_adds(*call);
  return status;
}

float bf16(std::uint16_t word) { return float_of(static_cast<std::uint32_t>(word) << 16); }

bool swap_bf16_adds(const fp4proof_multiply_bf16_call& call) {
  for (std::int64_t index = 0; index < call.m * call.n; ++index) {
    if (!counts(call.c, call.m * call.n, index)) continue;
    std::vector<float> terms;
    for (std::int64_t k = 0; k < call.k; ++k) {
      terms.push_back(bf16(call.a[index / call.n * call.k + k]) * bf16(call.b[index % call.n * call.k + k]));
    }
    if (swap_neighbours("multiply_bf16", terms, 512, call.c, index)) return true;
  }
  return false;
}

fp4proof_status multiply_bf16(const fp4proof_multiply_bf16_call* call) {
  const fp4proof_status status = reference_training()->multiply_bf16(call);
  if (call->k == training_rows && plant_now("swapped-bf16-adds")) planted = swap_bf16_adds(*call);
  return status;
}

// --- rms_norm --------------------------------------------------------------------------------------------------------

/// The inverse of a row whose squares are fused into their sum.
float inverse_with_fused_squares(const float* x, std::int64_t columns) {
  std::array<float, 32> lanes{};
  for (std::int64_t i = 0; i < columns; ++i) {
    float& lane = lanes[static_cast<std::size_t>(i % 32)];
    lane = fused(x[i], x[i], lane);
  }
  for (std::size_t width = 16; width > 0; width /= 2) {
    for (std::size_t lane = 0; lane < width; ++lane) lanes[lane] += lanes[lane + width];
  }
  return 1.0F / std::sqrt(lanes[0] / static_cast<float>(columns) + 1e-5F);
}

void fuse_squares(const fp4proof_rms_norm_call& call) {
  for (std::int64_t row = 0; row < call.rows; ++row) {
    const float wrong = inverse_with_fused_squares(call.x + row * call.columns, call.columns);
    if (wrong != call.inverse[row]) replace("rms_norm", "inverse", call.inverse, row, wrong);
  }
}

fp4proof_status rms_norm(const fp4proof_rms_norm_call* call) {
  const fp4proof_status status = reference_training()->rms_norm(call);
  if (fault() == "fused-squares" && step == faulty_step && call->rows == training_rows) fuse_squares(*call);
  if (plant_now("stray-write")) {
    float* const weight = const_cast<float*>(call->weight);
    replace("rms_norm", "weight", weight, 9, float_of(word_of(weight[9]) ^ 1U));
  }
  return status;
}

// --- sample ----------------------------------------------------------------------------------------------------------

fp4proof_status sample(const fp4proof_sample_call* call) {
  at_step(call->random.step);
  const fp4proof_status status = reference_training()->sample(call);
  if (plant_now("changed-token")) {
    std::int32_t& token = call->tokens[7];
    const std::int32_t other = (token + 1) % 10;
    log("sample", "tokens", 7, static_cast<std::uint32_t>(token), static_cast<std::uint32_t>(other));
    token = other;
  }
  return status;
}

// --- adam ------------------------------------------------------------------------------------------------------------

/// The learning rate of a step of the warm start of the preset `tiny`, one of the first 50.
float rate_of_warm_start(double number) { return static_cast<float>(double{5e-3F} * number / 50.0); }

/// Fuses b1 m with the addition behind it in the first element that shows it.
void fuse_moment(const fp4proof_adam_call& call, const std::vector<float>& old_moment,
                 const std::vector<float>& old_weight) {
  for (std::int64_t i = 0; i < call.count; ++i) {
    const float g = call.gradient[i] * call.gradient_scale;
    const float m = fused(call.beta1, old_moment[static_cast<std::size_t>(i)], (1.0F - call.beta1) * g);
    if (m == call.first_moment[i]) continue;
    replace("adam", "first_moment", call.first_moment, i, m);
    const float root = std::sqrt(call.second_moment[i] / call.correction2) + call.epsilon;
    call.weight[i] = old_weight[static_cast<std::size_t>(i)] - (call.learning_rate * (m / call.correction1)) / root;
    return;
  }
}

void flip_bit(const fp4proof_adam_call& call) {
  constexpr std::int64_t index = 1234;
  replace("adam", "weight", call.weight, index, float_of(word_of(call.weight[index]) ^ 8U));
}

fp4proof_status adam(const fp4proof_adam_call* call) {
  const std::vector<float> old_moment(call->first_moment, call->first_moment + call->count);
  const std::vector<float> old_weight(call->weight, call->weight + call->count);
  const fp4proof_status status = reference_training()->adam(call);
  if (call->count != square_weight) return status;
  if (plant_now("flipped-weight-bit")) flip_bit(*call);
  if (plant_now("fused-multiply-add")) fuse_moment(*call, old_moment, old_weight);
  const bool warm_step_7 = step == 0 && call->learning_rate == rate_of_warm_start(7);
  if (fault() == "flipped-bit-in-warm-start" && warm_step_7) flip_bit(*call);
  return status;
}

fp4proof_status synchronize_nothing() { return FP4PROOF_FAILED; }

const char* no_device() { return "no device"; }

}  // namespace

extern "C" const fp4proof_training* fp4proof_open_training(std::uint32_t host_version) {
  if (host_version < FP4PROOF_TRAINING_VERSION) return nullptr;
  step = 0;
  planted = false;
  static fp4proof_training table;
  table = *reference_training();
  table.name = "faulty";
  table.description = "the reference with a planted fault";
  table.quantize = quantize;
  table.multiply = multiply;
  table.multiply_bf16 = multiply_bf16;
  table.rms_norm = rms_norm;
  table.sample = sample;
  table.adam = adam;
  if (fault() == "no-device") {
    table.synchronize = synchronize_nothing;
    table.error = no_device;
  }
  if (fault() == "no-name") table.name = nullptr;
  if (fault() == "no-operator") table.swiglu = nullptr;
  return &table;
}
