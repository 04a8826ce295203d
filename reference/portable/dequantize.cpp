#include "reference/portable/dequantize.h"

#include <algorithm>
#include <array>

#include "formats/block_codec.h"
#include "reference/portable/vectorize.h"

namespace fp4proof::portable {

namespace {

/// The values of every code of an element, in code order.
std::array<float, 256> element_values(Element element) {
  std::array<float, 256> values{};
  for (int code = 0; code < 256; ++code) {
    values[static_cast<std::size_t>(code)] = decode_element(element, static_cast<std::uint8_t>(code));
  }
  return values;
}

/// element * scale factor, one rounding. Exact before the multiplication for every family: HiF4's level bits and
/// NVFP4's block scale are folded into `factor` or into the exact element.
FP4PROOF_CLONES void scale_values(const float* elements, int count, float factor, float* values) {
  for (int i = 0; i < count; ++i) values[i] = elements[i] * factor;
}

struct RowDecoder {
  const Profile& profile;
  const Geometry& geometry;
  float tensor_scale;
  std::array<float, 256> table;

  void decode_block(std::uint32_t scale, const float* elements, int count, float* values) const {
    switch (profile.family) {
      case Family::mx: scale_values(elements, count, decode_e8m0(static_cast<std::uint8_t>(scale)), values); break;
      case Family::hif4: decode_group(scale, elements, count, values); break;
      case Family::nvfp4: {
        std::array<float, 64> exact{};
        scale_values(elements, count, decode_e4m3_scale(static_cast<std::uint8_t>(scale)), exact.data());
        scale_values(exact.data(), count, tensor_scale, values);
        break;
      }
    }
  }

  static void decode_group(std::uint32_t scale, const float* elements, int count, float* values) {
    const float e6m2 = decode_e6m2(hif4_e6m2(scale));
    std::array<float, 64> factors{};
    for (int c = 0; c < 64; ++c) {
      factors[static_cast<std::size_t>(c)] = e6m2 * pow2f(hif4_level2(scale, c) + hif4_level3(scale, c));
    }
    for (int i = 0; i < count; ++i) values[i] = elements[i] * factors[static_cast<std::size_t>(i)];
  }

  void decode_row(const std::uint8_t* codes, const std::uint8_t* scales, float* values) const {
    const bool nibbles = element_spec(profile.element).is_nibble();
    const int width = profile.block.cols;
    const int per_block = scale_bytes(profile.family);
    std::array<float, 64> elements{};
    for (std::int64_t b = 0; b < geometry.blocks; ++b) {
      std::uint32_t scale = 0;
      for (int k = 0; k < per_block; ++k) scale |= std::uint32_t{scales[b * per_block + k]} << (8 * k);
      const std::int64_t column = b * width;
      for (int i = 0; i < width; ++i) {
        const std::uint8_t code =
            nibbles ? static_cast<std::uint8_t>((codes[(column + i) / 2] >> (4 * (i & 1))) & 15U) : codes[column + i];
        elements[static_cast<std::size_t>(i)] = table[code];
      }
      const auto count = static_cast<int>(std::min<std::int64_t>(width, geometry.columns - column));
      if (is_nan_scale(scale)) {
        std::fill_n(values + column, count, canonical_nan());
      } else {
        decode_block(scale, elements.data(), count, values + column);
      }
    }
  }

  bool is_nan_scale(std::uint32_t scale) const {
    switch (profile.family) {
      case Family::mx: return scale == e8m0_nan;
      case Family::hif4: return hif4_e6m2(scale) == e6m2_nan;
      case Family::nvfp4: return scale == e4m3_scale_nan;
    }
    return false;
  }
};

}  // namespace

void dequantize_rows(const Profile& profile, const Geometry& geometry, float tensor_scale, std::int64_t rows,
                     std::span<const std::uint8_t> codes, std::span<const std::uint8_t> scales,
                     std::span<float> values) {
  const RowDecoder decoder{profile, geometry, tensor_scale, element_values(profile.element)};
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
