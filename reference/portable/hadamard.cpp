#include "reference/portable/hadamard.h"

#include "formats/float_bits.h"
#include "formats/hadamard.h"
#include "formats/philox.h"
#include "reference/portable/lanes.h"
#include "reference/portable/vectorize.h"

namespace fp4proof::portable {

namespace {

constexpr WordLanes lane_numbers = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

/// h = 2^Log2H: v := other + v in the first lane of a pair, other - v in the second.
template <int Log2H>
FP4PROOF_INLINE void add_pairs(const FloatLanes& other, FloatLanes& v) {
  const WordLanes second = (lane_numbers >> Log2H) << 31;
  v = other + reinterpret_cast<FloatLanes>(reinterpret_cast<WordLanes>(v) ^ second);
}

/// The butterflies of h = 1, 2, 4 and 8.
FP4PROOF_INLINE void transform_lanes(FloatLanes& v) {
  add_pairs<0>(__builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14), v);
  add_pairs<1>(__builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13), v);
  add_pairs<2>(__builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11), v);
  add_pairs<3>(__builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7), v);
}

/// (a, b) := (a + b, a - b), lane by lane.
FP4PROOF_INLINE void add_and_subtract(FloatLanes& a, FloatLanes& b) {
  const FloatLanes sum = a + b;
  b = a - b;
  a = sum;
}

/// Stores v * factor with these signs; NaN as the canonical one.
FP4PROOF_INLINE void store_signed(const FloatLanes& v, float factor, const WordLanes& signs, std::uint32_t* words) {
  const FloatLanes scaled = v * factor;
  const WordLanes canonical = WordLanes{} + canonical_nan_bits;
  const WordLanes result = scaled == scaled ? reinterpret_cast<WordLanes>(scaled) ^ signs : canonical;
  std::memcpy(words, &result, sizeof result);
}

FP4PROOF_INLINE void load_signs(const std::uint32_t* signs, bool wanted, WordLanes& lanes) {
  lanes = WordLanes{};
  if (wanted) load_lanes(signs, lanes);
}

/// Rows of groups of 16 * Vectors elements. The signs enter before the butterflies or, in the inverse, after them.
template <int Vectors>
FP4PROOF_INLINE void transform_groups(const std::uint32_t* signs, std::int64_t count, bool is_inverse,
                                      std::uint32_t* words) {
  constexpr float factor = Vectors == 1 ? 0.25F : 0.125F;
  for (std::int64_t group = 0; group < count; group += Vectors * lane_count) {
    FloatLanes v[Vectors];
    for (int k = 0; k < Vectors; ++k) {
      WordLanes before;
      WordLanes w;
      load_signs(signs + group + k * lane_count, !is_inverse, before);
      load_lanes(words + group + k * lane_count, w);
      v[k] = reinterpret_cast<FloatLanes>(w ^ before);
      transform_lanes(v[k]);
    }
    for (int h = 1; h < Vectors; h *= 2) {
      for (int k = 0; k < Vectors; ++k) {
        if ((k & h) == 0) add_and_subtract(v[k], v[k + h]);
      }
    }
    for (int k = 0; k < Vectors; ++k) {
      WordLanes after;
      load_signs(signs + group + k * lane_count, is_inverse, after);
      store_signed(v[k], factor, after, words + group + k * lane_count);
    }
  }
}

FP4PROOF_CLONES void transform_groups_16(const std::uint32_t* signs, std::int64_t count, bool is_inverse,
                                         std::uint32_t* words) {
  transform_groups<1>(signs, count, is_inverse, words);
}
FP4PROOF_CLONES void transform_groups_64(const std::uint32_t* signs, std::int64_t count, bool is_inverse,
                                         std::uint32_t* words) {
  transform_groups<4>(signs, count, is_inverse, words);
}

}  // namespace

HadamardTransform::HadamardTransform(const HadamardSpec& spec, std::uint32_t product, std::int64_t columns)
    : size_(spec.size), signs_(static_cast<std::size_t>(columns), 0) {
  if (spec.signs == HadamardSigns::none) return;
  const std::uint32_t step = hadamard_step(spec.signs, product);
  for (std::size_t k = 0; k < signs_.size(); ++k) {
    signs_[k] = hadamard_sign(random_word(spec.seed, Stream::hadamard, step, k));
  }
}

void HadamardTransform::forward(std::int64_t first, std::int64_t count, std::uint32_t* words) const {
  (size_ == 16 ? transform_groups_16 : transform_groups_64)(signs_.data() + first, count, false, words);
}

void HadamardTransform::inverse(std::int64_t first, std::int64_t count, std::uint32_t* words) const {
  (size_ == 16 ? transform_groups_16 : transform_groups_64)(signs_.data() + first, count, true, words);
}

}  // namespace fp4proof::portable
