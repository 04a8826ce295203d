// The functions of fp4proof_plain.h over the CPU reference.

#include <omp.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "conformance/plain/fp4proof_plain.h"
#include "conformance/profiles/nearest_name.h"
#include "conformance/profiles/profile_lookup.h"
#include "formats/float_bits.h"
#include "formats/spec_profiles.h"
#include "reference/portable/dequantize.h"
#include "reference/portable/environment.h"
#include "reference/portable/gemm.h"
#include "reference/portable/quantize.h"

static_assert(sizeof(unsigned) == 4, "binary32 words are passed as unsigned int");

namespace {

using namespace fp4proof;
using portable::Geometry;

constexpr unsigned one_word = 0x3F80'0000U;
constexpr int most_blocks = 65536;

thread_local std::array<char, 1024> last_error{};

int fail(int status, const std::string& message) {
  std::snprintf(last_error.data(), last_error.size(), "%s", message.c_str());
  return status;
}

/// One thread for the calls of this one: a simulator calls with single blocks, and has threads of its own.
class OneThread {
 public:
  OneThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;
  ~OneThread() { omp_set_num_threads(before_); }

 private:
  int before_;
};

const Profile* profile_at(int index) {
  const auto all = profiles();
  return index >= 0 && static_cast<std::size_t>(index) < all.size() ? &all[static_cast<std::size_t>(index)] : nullptr;
}

int no_profile(int index) {
  return fail(FP4PROOF_E_PROFILE, "no profile has index " + std::to_string(index) + "; the last is " +
                                      std::to_string(profiles().size() - 1));
}

/// Runs `work(profile)` for the profile of that index, in a sound environment, and keeps exceptions in.
template <class Work>
int with_profile(int index, const Work& work) {
  try {
    const Profile* profile = profile_at(index);
    if (profile == nullptr) return no_profile(index);
    if (const Result<void> sound = portable::check_environment(); !sound) {
      return fail(FP4PROOF_E_ENVIRONMENT, sound.error().message);
    }
    const OneThread one_thread;
    return work(*profile);
  } catch (const std::exception& exception) {
    return fail(FP4PROOF_E_INTERNAL, exception.what());
  }
}

/// A fact of a profile.
template <class Fact>
int fact_of(int index, const Fact& fact) {
  const Profile* profile = profile_at(index);
  return profile == nullptr ? no_profile(index) : static_cast<int>(fact(*profile));
}

/// `rows` rows of `blocks` blocks each.
Result<Geometry> geometry_of(const Profile& profile, int rows, int blocks) {
  const std::array<std::int64_t, 2> shape = {rows, std::int64_t{profile.block.cols} * blocks};
  return portable::cut_into_blocks(profile, shape, -1, portable::Tail::pad);
}

int check_tensor_scale(const Profile& profile, unsigned tensor_scale) {
  if (profile.tensor_scale || tensor_scale == one_word) return 0;
  return fail(FP4PROOF_E_ARGUMENT,
              "profile " + std::string(profile.name) + " has no tensor scale; pass 0x3F800000 (1.0)");
}

int null_pointer(const char* function) {
  return fail(FP4PROOF_E_ARGUMENT, std::string(function) + ": a pointer is null");
}

/// Codes and scales of a matrix whose rows are whole blocks.
struct Coded {
  const unsigned char* codes;
  const unsigned char* scales;
  unsigned tensor_scale;
};

portable::Quantized quantized_of(const Geometry& geometry, const Coded& coded) {
  portable::Quantized quantized;
  quantized.geometry = geometry;
  quantized.codes.assign(coded.codes, coded.codes + geometry.code_bytes());
  quantized.scales.assign(coded.scales, coded.scales + geometry.scale_bytes());
  quantized.tensor_scale = float_from_bits(coded.tensor_scale);
  return quantized;
}

int quantize_block(const Profile& profile, const unsigned* values, const unsigned* random, unsigned tensor_scale,
                   unsigned char* codes, unsigned char* scales) {
  const bool is_stochastic = profile.rounding == Rounding::stochastic;
  if (values == nullptr || codes == nullptr || scales == nullptr || (is_stochastic && random == nullptr)) {
    return null_pointer("fp4proof_quantize_block");
  }
  if (const int status = check_tensor_scale(profile, tensor_scale); status != 0) return status;
  const Result<Geometry> geometry = geometry_of(profile, profile.block.rows, 1);
  if (!geometry) return fail(FP4PROOF_E_INTERNAL, geometry.error().message);
  const std::array<std::int64_t, 2> shape = {profile.block.rows, profile.block.cols};
  const portable::TensorView view = {portable::DType::f32, shape, reinterpret_cast<const std::byte*>(values)};
  portable::QuantizeOptions options;
  if (is_stochastic) options.random_words = {random, static_cast<std::size_t>(profile.block.size())};
  std::vector<std::uint8_t> new_codes(static_cast<std::size_t>(geometry->code_bytes()));
  std::vector<std::uint8_t> new_scales(static_cast<std::size_t>(geometry->scale_bytes()));
  const Result<void> done = portable::quantize_rows(profile, view, *geometry, options, float_from_bits(tensor_scale), 0,
                                                    geometry->rows, new_codes, new_scales);
  if (!done) return fail(FP4PROOF_E_REFUSED, done.error().message);
  std::memcpy(codes, new_codes.data(), new_codes.size());
  std::memcpy(scales, new_scales.data(), new_scales.size());
  return 0;
}

int dequantize_block(const Profile& profile, const Coded& coded, unsigned* values) {
  if (coded.codes == nullptr || coded.scales == nullptr || values == nullptr) {
    return null_pointer("fp4proof_dequantize_block");
  }
  if (const int status = check_tensor_scale(profile, coded.tensor_scale); status != 0) return status;
  const Result<Geometry> geometry = geometry_of(profile, profile.block.rows, 1);
  if (!geometry) return fail(FP4PROOF_E_INTERNAL, geometry.error().message);
  const std::vector<float> decoded = portable::dequantize(profile, quantized_of(*geometry, coded));
  std::memcpy(values, decoded.data(), decoded.size() * sizeof(float));
  return 0;
}

int dot(const Profile& profile_a, const Coded& a, const Profile& profile_b, const Coded& b, int blocks,
        const char* accumulator, unsigned* word) {
  if (a.codes == nullptr || a.scales == nullptr || b.codes == nullptr || b.scales == nullptr ||
      accumulator == nullptr || word == nullptr) {
    return null_pointer("fp4proof_dot");
  }
  if (const int status = check_tensor_scale(profile_a, a.tensor_scale); status != 0) return status;
  if (const int status = check_tensor_scale(profile_b, b.tensor_scale); status != 0) return status;
  if (blocks < 1 || blocks > most_blocks) {
    return fail(FP4PROOF_E_ARGUMENT, std::to_string(blocks) + " blocks; take 1 to " + std::to_string(most_blocks));
  }
  const auto rule = portable::find_accumulator(accumulator);
  if (!rule) {
    std::vector<std::string> names;
    for (const portable::Accumulator known : portable::accumulators) names.emplace_back(name_of(known));
    return fail(FP4PROOF_E_ACCUMULATOR,
                "unknown accumulator '" + std::string(accumulator) + "'" + did_you_mean(accumulator, names));
  }
  if (profile_a.block.cols != profile_b.block.cols) {
    return fail(FP4PROOF_E_PAIR, "blocks of " + std::string(profile_a.name) + " have " +
                                     std::to_string(profile_a.block.cols) + " columns, those of " +
                                     std::string(profile_b.name) + " " + std::to_string(profile_b.block.cols));
  }
  const Result<Geometry> geometry_a = geometry_of(profile_a, 1, blocks);
  if (!geometry_a) return fail(FP4PROOF_E_INTERNAL, geometry_a.error().message);
  const Result<Geometry> geometry_b = geometry_of(profile_b, 1, blocks);
  if (!geometry_b) return fail(FP4PROOF_E_INTERNAL, geometry_b.error().message);
  const Result<std::vector<float>> c =
      portable::gemm(profile_a, quantized_of(*geometry_a, a), profile_b, quantized_of(*geometry_b, b), *rule);
  if (!c) return fail(FP4PROOF_E_ACCUMULATOR, c.error().message);
  *word = float_bits(c->front());
  return 0;
}

}  // namespace

extern "C" {

int fp4proof_plain_version(void) { return 1; }

const char* fp4proof_status_text(int status) {
  switch (status) {
    case 0: return "done";
    case FP4PROOF_E_PROFILE: return "no profile has this name or index";
    case FP4PROOF_E_ARGUMENT: return "an argument is impossible: a null pointer, a count, a tensor scale";
    case FP4PROOF_E_ACCUMULATOR: return "no accumulator has this name, or it does not take these formats";
    case FP4PROOF_E_PAIR: return "blocks of different lengths have no dot product";
    case FP4PROOF_E_REFUSED: return "the block holds NaN or infinity, which the profile refuses";
    case FP4PROOF_E_ENVIRONMENT: return "this thread does not compute as IEEE 754 says";
    case FP4PROOF_E_INTERNAL: return "a fault of the library, or no memory";
    default: return status > 0 ? "done, with a result" : "no status of this library";
  }
}

const char* fp4proof_last_error(void) { return last_error.data(); }

int fp4proof_profile_count(void) { return static_cast<int>(profiles().size()); }

int fp4proof_profile(const char* name) {
  if (name == nullptr) return null_pointer("fp4proof_profile");
  try {
    const auto all = profiles();
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].name == name) return static_cast<int>(i);
    }
    return fail(FP4PROOF_E_PROFILE, named_profile(name).error().message);
  } catch (const std::exception& exception) {
    return fail(FP4PROOF_E_INTERNAL, exception.what());
  }
}

const char* fp4proof_profile_name(int profile) {
  const Profile* found = profile_at(profile);
  return found == nullptr ? nullptr : found->name.data();  // names are literals, ended by 0
}

int fp4proof_block_rows(int profile) {
  return fact_of(profile, [](const Profile& p) { return p.block.rows; });
}

int fp4proof_block_columns(int profile) {
  return fact_of(profile, [](const Profile& p) { return p.block.cols; });
}

int fp4proof_row_code_bytes(int profile) {
  return fact_of(
      profile, [](const Profile& p) { return element_spec(p.element).is_nibble() ? p.block.cols / 2 : p.block.cols; });
}

int fp4proof_row_scale_bytes(int profile) {
  return fact_of(profile, [](const Profile& p) { return scale_bytes(p.family); });
}

int fp4proof_needs_random(int profile) {
  return fact_of(profile, [](const Profile& p) { return p.rounding == Rounding::stochastic; });
}

int fp4proof_has_tensor_scale(int profile) {
  return fact_of(profile, [](const Profile& p) { return p.tensor_scale; });
}

int fp4proof_tensor_scale(int profile, const unsigned int* values, int count, unsigned int* tensor_scale) {
  return with_profile(profile, [&](const Profile& of) {
    if (count < 0) return fail(FP4PROOF_E_ARGUMENT, "a tensor of " + std::to_string(count) + " elements");
    if ((values == nullptr && count > 0) || tensor_scale == nullptr) return null_pointer("fp4proof_tensor_scale");
    const std::array<std::int64_t, 1> shape = {count};
    const auto* data = reinterpret_cast<const std::byte*>(values);
    *tensor_scale = float_bits(portable::tensor_scale_of(of, {portable::DType::f32, shape, data}));
    return 0;
  });
}

int fp4proof_quantize_block(int profile, const unsigned int* values, const unsigned int* random,
                            unsigned int tensor_scale, unsigned char* codes, unsigned char* scales) {
  return with_profile(
      profile, [&](const Profile& of) { return quantize_block(of, values, random, tensor_scale, codes, scales); });
}

int fp4proof_dequantize_block(int profile, const unsigned char* codes, const unsigned char* scales,
                              unsigned int tensor_scale, unsigned int* values) {
  return with_profile(profile, [&](const Profile& of) {
    return dequantize_block(of, {codes, scales, tensor_scale}, values);
  });
}

int fp4proof_dot(int profile_a, const unsigned char* a_codes, const unsigned char* a_scales,
                 unsigned int a_tensor_scale, int profile_b, const unsigned char* b_codes,
                 const unsigned char* b_scales, unsigned int b_tensor_scale, int blocks, const char* accumulator,
                 unsigned int* dot_word) {
  return with_profile(profile_a, [&](const Profile& of_a) {
    const Profile* of_b = profile_at(profile_b);
    if (of_b == nullptr) return no_profile(profile_b);
    return dot(of_a, {a_codes, a_scales, a_tensor_scale}, *of_b, {b_codes, b_scales, b_tensor_scale}, blocks,
               accumulator, dot_word);
  });
}

}  // extern "C"
