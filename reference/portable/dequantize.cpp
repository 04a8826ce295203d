#include "reference/portable/dequantize.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "formats/block_codec.h"
#include "reference/portable/vectorize.h"

namespace fp4proof::portable {

namespace {

/// Element values by stored byte: two for a pair of 4-bit codes, one for a wider code.
class ByteTable {
 public:
  explicit ByteTable(Element element) : per_byte_(element_spec(element).is_nibble() ? 2 : 1) {
    for (int byte = 0; byte < 256; ++byte) {
      const int low = per_byte_ == 2 ? byte & 15 : byte;
      values_[static_cast<std::size_t>(byte)] = {decode_element(element, static_cast<std::uint8_t>(low)),
                                                 decode_element(element, static_cast<std::uint8_t>(byte >> 4))};
    }
  }

  /// Writes the `count` elements of a block.
  void look_up(const std::uint8_t* bytes, int count, float* elements) const {
    if (per_byte_ == 2) {
      for (int j = 0; j < count / 2; ++j) std::memcpy(elements + 2 * j, &values_[bytes[j]], 2 * sizeof(float));
    } else {
      for (int i = 0; i < count; ++i) elements[i] = values_[bytes[i]][0];
    }
  }

  int bytes_of(int elements) const { return elements / per_byte_; }

 private:
  int per_byte_;
  std::array<std::array<float, 2>, 256> values_{};
};

FP4PROOF_CLONES void scale_values(const float* elements, int count, float factor, float* values) {
  for (int i = 0; i < count; ++i) values[i] = elements[i] * factor;
}

/// HiF4: one factor for each four columns.
FP4PROOF_CLONES void scale_fours(const float* elements, const float* factors, float* values) {
  for (int k = 0; k < hif4_level3_count; ++k) {
    for (int i = 4 * k; i < 4 * k + 4; ++i) values[i] = elements[i] * factors[k];
  }
}

/// element * scale for one row after the other. Every product but the last is exact, so there is one rounding.
class RowDecoder {
 public:
  RowDecoder(const Profile& profile, const Geometry& geometry, float tensor_scale)
      : profile_(profile), geometry_(geometry), tensor_scale_(tensor_scale), table_(profile.element) {}

  void decode_row(const std::uint8_t* codes, const std::uint8_t* scales, float* values) const {
    const int width = profile_.block.cols;
    const int per_block = scale_bytes(profile_.family);
    std::array<float, 64> elements{};
    std::array<float, 64> results{};
    for (std::int64_t b = 0; b < geometry_.blocks; ++b) {
      std::uint32_t scale = 0;
      for (int k = 0; k < per_block; ++k) scale |= std::uint32_t{scales[b * per_block + k]} << (8 * k);
      table_.look_up(codes + b * table_.bytes_of(width), width, elements.data());
      const std::int64_t left = geometry_.columns - b * width;
      float* out = values + b * width;
      if (left >= width) {
        decode_block(scale, elements.data(), width, out);
      } else {
        decode_block(scale, elements.data(), width, results.data());
        std::copy_n(results.data(), std::max<std::int64_t>(left, 0), out);
      }
    }
  }

 private:
  void decode_block(std::uint32_t scale, float* elements, int width, float* values) const {
    if (is_nan_scale(scale)) {
      std::fill_n(values, width, canonical_nan());
      return;
    }
    const auto code = static_cast<std::uint8_t>(scale);
    switch (profile_.family) {
      case Family::mx: scale_values(elements, width, decode_e8m0(code), values); break;
      case Family::nvfp4:
        scale_values(elements, width, decode_e4m3_scale(code), elements);
        scale_values(elements, width, tensor_scale_, values);
        break;
      case Family::hif4: {
        const float e6m2 = decode_e6m2(code);
        std::array<float, hif4_level3_count> factors{};
        for (int k = 0; k < hif4_level3_count; ++k) {
          factors[static_cast<std::size_t>(k)] =
              e6m2 * static_cast<float>(1 << (hif4_level2(scale, 4 * k) + hif4_level3(scale, 4 * k)));
        }
        scale_fours(elements, factors.data(), values);
        break;
      }
    }
  }

  bool is_nan_scale(std::uint32_t scale) const {
    switch (profile_.family) {
      case Family::mx: return scale == e8m0_nan;
      case Family::hif4: return hif4_e6m2(scale) == e6m2_nan;
      case Family::nvfp4: return (scale & 0x7FU) == e4m3_scale_nan;
    }
    return false;
  }

  const Profile& profile_;
  const Geometry& geometry_;
  float tensor_scale_;
  ByteTable table_;
};

}  // namespace

void dequantize_rows(const Profile& profile, const Geometry& geometry, float tensor_scale, std::int64_t rows,
                     std::span<const std::uint8_t> codes, std::span<const std::uint8_t> scales,
                     std::span<float> values) {
  const RowDecoder decoder(profile, geometry, tensor_scale);
#pragma omp parallel for schedule(static)
  for (std::int64_t row = 0; row < rows; ++row) {
    decoder.decode_row(codes.data() + row * geometry.code_bytes_per_row,
                       scales.data() + row * geometry.scale_bytes_per_row, values.data() + row * geometry.columns);
  }
}

std::vector<float> dequantize(const Profile& profile, const Quantized& quantized) {
  std::vector<float> values(static_cast<std::size_t>(quantized.geometry.rows * quantized.geometry.columns));
  dequantize_rows(profile, quantized.geometry, quantized.tensor_scale, quantized.geometry.rows, quantized.codes,
                  quantized.scales, values);
  return values;
}

std::vector<float> restore_axis(const Geometry& geometry, std::span<const float> values) {
  std::vector<float> result(values.size());
  for (std::int64_t row = 0; row < geometry.rows; ++row) {
    for (std::int64_t column = 0; column < geometry.columns; ++column) {
      result[static_cast<std::size_t>(geometry.first_element(row) + column * geometry.inner)] =
          values[static_cast<std::size_t>(row * geometry.columns + column)];
    }
  }
  return result;
}

}  // namespace fp4proof::portable
