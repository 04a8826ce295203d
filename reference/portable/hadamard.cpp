#include "reference/portable/hadamard.h"

#include "formats/float_bits.h"
#include "formats/philox.h"
#include "formats/strict_math.h"
#include "reference/portable/vectorize.h"

namespace fp4proof::portable {

namespace {

/// One group. Every butterfly is one sum and one difference, so the order of the pairs does not matter.
template <int Size>
[[gnu::always_inline]] inline void transform_group(float* v) {
  for (int h = 1; h < Size; h *= 2) {
    for (int start = 0; start < Size; start += 2 * h) {
      for (int i = start; i < start + h; ++i) {
        const float a = v[i];
        const float b = v[i + h];
        v[i] = a + b;
        v[i + h] = a - b;
      }
    }
  }
  constexpr float factor = Size == 16 ? 0.25F : 0.125F;
  for (int i = 0; i < Size; ++i) v[i] = strict::canonicalise_nan(v[i] * factor);
}

FP4PROOF_CLONES void transform_groups_16(float* values, std::size_t count) {
  for (std::size_t i = 0; i < count; i += 16) transform_group<16>(values + i);
}
FP4PROOF_CLONES void transform_groups_64(float* values, std::size_t count) {
  for (std::size_t i = 0; i < count; i += 64) transform_group<64>(values + i);
}

}  // namespace

HadamardTransform::HadamardTransform(const HadamardSpec& spec, std::uint32_t product, std::int64_t columns)
    : size_(spec.size) {
  if (spec.signs == HadamardSigns::none) return;
  const std::uint32_t step = spec.signs == HadamardSigns::fresh ? product : 0;
  signs_.resize(static_cast<std::size_t>(columns));
  for (std::size_t k = 0; k < signs_.size(); ++k) {
    signs_[k] = random_word(spec.seed, Stream::hadamard, step, k) & float_sign_mask;
  }
}

void HadamardTransform::apply_signs(std::int64_t first, std::span<float> values) const {
  if (signs_.empty()) return;
  const std::uint32_t* signs = signs_.data() + first;
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = float_from_bits(float_bits(values[i]) ^ signs[i]);
}

void HadamardTransform::butterflies(std::span<float> values) const {
  size_ == 16 ? transform_groups_16(values.data(), values.size()) : transform_groups_64(values.data(), values.size());
}

void HadamardTransform::forward(std::int64_t first, std::span<float> values) const {
  apply_signs(first, values);
  butterflies(values);
}

void HadamardTransform::inverse(std::int64_t first, std::span<float> values) const {
  butterflies(values);
  apply_signs(first, values);
  for (float& value : values) value = strict::canonicalise_nan(value);
}

}  // namespace fp4proof::portable
