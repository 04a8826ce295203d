#pragma once
// Operands of products, drawn as bytes: every code, scales over their whole range, special values, garbage in the
// padding. On the host as the reference takes them, one matrix of the batch after the other, and on the device.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "formats/packing.h"
#include "formats/philox.h"
#include "gpu/gemm.h"
#include "reference/portable/correct.h"
#include "tests/gpu/device_memory.h"

namespace fp4proof::gpu {

/// Where the scales and codes of a line lie.
enum class LineKind : std::uint8_t {
  around_one,
  lowest,   ///< MX: products of large elements in two such lines lie around the smallest numbers
  low,      ///< products of small ones do
  high,     ///< products of two such lines lie around the largest numbers
  any,      ///< all scales but NaN
  special,  ///< around one, with NaN scales and NaN and infinite elements now and then
};

/// Which lines an operand has.
enum class Mixture : std::uint8_t {
  plain,  ///< around one
  all,
  large,  ///< all, with elements of E5M2 from 2^-5 on, and zeros
};

class Dice {
 public:
  Dice(std::uint64_t seed, std::uint32_t step) : seed_(seed), step_(step) {}
  std::uint32_t word() { return random_word(seed_, Stream::cases, step_, place_++); }
  std::uint32_t below(std::uint32_t count) { return word() % count; }
  /// A number in [first, last].
  std::uint32_t between(std::uint32_t first, std::uint32_t last) { return first + below(last - first + 1); }

 private:
  std::uint64_t seed_;
  std::uint32_t step_;
  std::uint64_t place_ = 0;
};

namespace operand_parts {

inline std::uint32_t e8m0_code(LineKind kind, Dice& dice) {
  switch (kind) {
    case LineKind::lowest: return dice.between(32, 40);
    case LineKind::low: return dice.between(47, 58);
    case LineKind::high: return dice.between(184, 194);
    case LineKind::any: return dice.between(0, e8m0_max);
    case LineKind::special: return dice.below(60) == 0 ? e8m0_nan : dice.between(124, 130);
    default: return dice.between(122, 132);
  }
}

inline std::uint32_t e6m2_code(LineKind kind, Dice& dice) {
  switch (kind) {
    case LineKind::low: return dice.between(0, 24);
    case LineKind::high: return dice.between(230, e6m2_max);
    case LineKind::any: return dice.between(0, e6m2_max);
    case LineKind::special: return dice.below(30) == 0 ? e6m2_nan : dice.between(184, 200);
    default: return dice.between(180, 204);
  }
}

/// The sign bit is a bit like any other to a product.
inline std::uint32_t e4m3_code(LineKind kind, Dice& dice) {
  switch (kind) {
    case LineKind::low: return dice.between(0, 9);
    case LineKind::high: return dice.between(0x70, e4m3_scale_max);
    case LineKind::any: return dice.between(0, e4m3_scale_max) | (dice.below(2) << 7);
    case LineKind::special: return dice.below(100) == 0 ? e4m3_scale_nan : dice.between(0x30, 0x40);
    default: return dice.between(0x2C, 0x44);
  }
}

inline std::uint32_t scale_word(Family family, LineKind kind, Dice& dice) {
  switch (family) {
    case Family::mx: return e8m0_code(kind, dice);
    case Family::hif4: return e6m2_code(kind, dice) | (dice.word() & 0xFFFFFF00U);
    default: return e4m3_code(kind, dice);
  }
}

/// A code of a byte. Special ones are rare, and stand in lines that may have them alone.
inline std::uint8_t wide_code(const ElementSpec& spec, Mixture mixture, LineKind kind, Dice& dice) {
  const std::uint32_t word = dice.word();
  auto code = static_cast<std::uint8_t>(word >> 24);
  if (mixture == Mixture::large) code = word % 16 == 0 ? 0 : code | 0x28;
  const bool is_special = spec.nan_code != 0 && (code & 0x7F) > spec.max_code;
  const bool may_be = kind == LineKind::special && dice.below(8) == 0;
  return is_special && !may_be ? std::uint8_t{0x38} : code;
}

inline LineKind line_kind(Mixture mixture, Dice& dice) {
  if (mixture == Mixture::plain) return LineKind::around_one;
  return static_cast<LineKind>(dice.below(6));
}

/// One coded part of one matrix.
inline portable::CodedPart part(const Profile& profile, const MacroSpec& macro, std::int64_t lines, std::int64_t k,
                                Mixture mixture, Dice& dice) {
  const std::vector<std::int64_t> shape = {lines, k};
  portable::CodedPart result;
  portable::Quantized& q = result.quantized;
  q.geometry = *portable::geometry_of_quantized(profile, shape, 1);
  const ElementSpec spec = element_spec(profile.element);
  const int scale_size = scale_bytes(profile.family);
  for (std::int64_t line = 0; line < lines; ++line) {
    const LineKind kind = line_kind(mixture, dice);
    for (std::int64_t i = 0; i < q.geometry.code_bytes_per_row; ++i) {
      q.codes.push_back(spec.is_nibble() ? static_cast<std::uint8_t>(dice.word())
                                         : wide_code(spec, mixture, kind, dice));
    }
    for (std::int64_t block = 0; block < q.geometry.blocks; ++block) {
      std::uint8_t bytes[4];
      store_le32(scale_word(profile.family, kind, dice), bytes);
      q.scales.insert(q.scales.end(), bytes, bytes + scale_size);
    }
    for (std::int64_t i = 0; i < portable::macro_blocks_per_row(macro, k); ++i) {
      result.macro.push_back(static_cast<std::uint8_t>(dice.word()));
    }
  }
  if (profile.tensor_scale) {
    constexpr float scales[] = {1.0F, 0x1.234568p-7F, 0x1.fffffep+3F, 0x1p-140F, 0x1.8p+120F};
    q.tensor_scale = scales[dice.below(5)];
  }
  return result;
}

}  // namespace operand_parts

/// One side of a product, on both machines.
class RandomOperand {
 public:
  RandomOperand(const Profile& profile, const CorrectionStack& stack, std::int64_t batch, std::int64_t lines,
                std::int64_t k, Mixture mixture, std::uint64_t seed)
      : profile_(stack.effective(profile)), lines_(lines) {
    Dice dice(seed, 0);
    for (std::int64_t b = 0; b < batch; ++b) {
      portable::Corrected matrix{profile_, stack, 0, {}, std::nullopt};
      matrix.first = operand_parts::part(profile_, stack.macro, lines, k, mixture, dice);
      if (stack.residual.is_on()) {
        matrix.residual = operand_parts::part(profile_, stack.macro, lines, k, mixture, dice);
      }
      matrices_.push_back(std::move(matrix));
    }
    first_ = upload([](const portable::Corrected& matrix) -> const portable::CodedPart& { return matrix.first; });
    if (stack.residual.is_on()) {
      residual_ =
          upload([](const portable::Corrected& matrix) -> const portable::CodedPart& { return *matrix.residual; });
    }
  }

  const portable::Corrected& matrix(std::int64_t b) const { return matrices_[static_cast<std::size_t>(b)]; }

  GemmOperand on_device() const {
    GemmOperand operand;
    operand.profile = profile_;
    operand.lines = lines_;
    operand.first = pointers(first_);
    if (residual_) operand.residual = pointers(residual_);
    return operand;
  }

 private:
  using Bytes = DeviceArray<std::uint8_t>;
  struct Uploaded {
    Bytes codes;
    Bytes scales;
    Bytes macro;
    DeviceArray<float> tensor_scales;
  };

  template <class PartOf>
  std::unique_ptr<Uploaded> upload(PartOf part_of) const {
    std::vector<std::uint8_t> codes;
    std::vector<std::uint8_t> scales;
    std::vector<std::uint8_t> macro;
    std::vector<float> tensor_scales;
    const auto append = [](std::vector<std::uint8_t>& all, const std::vector<std::uint8_t>& some) {
      all.insert(all.end(), some.begin(), some.end());
    };
    for (const portable::Corrected& matrix : matrices_) {
      const portable::CodedPart& part = part_of(matrix);
      append(codes, part.quantized.codes);
      append(scales, part.quantized.scales);
      append(macro, part.macro);
      tensor_scales.push_back(part.quantized.tensor_scale);
    }
    return std::unique_ptr<Uploaded>(new Uploaded{Bytes(codes), Bytes(scales), Bytes(macro),
                                                  DeviceArray<float>(std::span<const float>(tensor_scales))});
  }

  ConstCodedPart pointers(const std::unique_ptr<Uploaded>& part) const {
    return {{part->codes.get(), part->scales.get(), profile_.tensor_scale ? part->tensor_scales.get() : nullptr},
            part->macro.bytes() != 0 ? part->macro.get() : nullptr};
  }

  Profile profile_;
  std::int64_t lines_;
  std::vector<portable::Corrected> matrices_;
  std::unique_ptr<Uploaded> first_;
  std::unique_ptr<Uploaded> residual_;
};

}  // namespace fp4proof::gpu
