// From codes and scales to values.

#include <algorithm>
#include <array>
#include <numeric>

#include "conformance/suite/class_tables.h"
#include "conformance/suite/drafts.h"
#include "formats/packing.h"

namespace fp4proof::suite {

namespace {

using Codes = std::vector<std::uint8_t>;

/// One block: its codes, one a byte, and its scale word.
CaseInput block_case(const Profile& profile, const Codes& codes, std::uint32_t scale,
                     std::uint32_t tensor_scale = 0x3F800000U) {
  CaseInput input;
  input.spec = block_spec(profile);
  Codes packed = codes;
  if (element_spec(profile.element).is_nibble()) {
    packed.resize(codes.size() / 2);
    pack_nibbles(NibbleOrder::even_low, codes.data(), codes.size(), packed.data());
  }
  Codes scale_of_block(4);
  store_le32(scale, scale_of_block.data());
  scale_of_block.resize(static_cast<std::size_t>(scale_bytes(profile.family)));
  input.tensors.emplace("codes", std::move(packed));
  input.tensors.emplace("scales", std::move(scale_of_block));
  if (profile.tensor_scale) input.tensors.emplace("tensor_scale", bytes_of_words(std::array{tensor_scale}));
  return input;
}

/// All codes of the element, cut into blocks; the last one is filled up with the first codes.
std::vector<Codes> code_blocks(const Profile& profile) {
  const int count = 1 << element_spec(profile.element).bits();
  const int length = static_cast<int>(row_length(profile));
  std::vector<Codes> blocks;
  for (int begin = 0; begin < count; begin += length) {
    Codes codes;
    for (int i = 0; i < length; ++i) codes.push_back(static_cast<std::uint8_t>((begin + i) % count));
    blocks.push_back(std::move(codes));
  }
  return blocks;
}

int scale_code_count(Family family) { return family == Family::nvfp4 ? 128 : 256; }

/// Scale codes at the ends and around one; every code at the full level.
std::vector<std::uint32_t> scale_codes(const CaseContext& context) {
  const Family family = context.profile.family;
  std::vector<std::uint32_t> codes;
  if (context.level == Level::full) {
    codes.resize(static_cast<std::size_t>(scale_code_count(family)));
    std::iota(codes.begin(), codes.end(), 0U);
    return codes;
  }
  switch (family) {
    case Family::mx: codes = {127, 0, 254, 255, 1, 2, 126, 128, 120, 134, 253, 24}; break;
    case Family::hif4: codes = {0xC0, 0x00, 0xFE, 0xFF, 0x01, 0xC1, 0xC2, 0xC3, 0xFD, 0x7F}; break;
    case Family::nvfp4: codes = {0x38, 0x00, 0x7E, 0x7F, 0x01, 0x07, 0x08, 0x39, 0x3F, 0x40}; break;
  }
  if (context.level == Level::smoke) codes.resize(4);
  return codes;
}

/// Micro-exponent bits that give every element each sum of its two bits.
std::vector<std::uint32_t> micro_patterns(const Profile& profile) {
  if (profile.family != Family::hif4) return {0};
  return {0x000000U, 0xFFFFFFU, 0x5555AAU, 0xAAAA0FU, 0x3333FFU};
}

std::vector<CaseInput> codebook(const CaseContext& context) {
  std::vector<CaseInput> cases;
  for (const std::uint32_t scale : scale_codes(context)) {
    for (const std::uint32_t micro : micro_patterns(context.profile)) {
      for (const Codes& codes : code_blocks(context.profile)) {
        cases.push_back(block_case(context.profile, codes, scale | micro << 8));
      }
    }
  }
  return cases;
}

/// One micro-exponent bit at a time, over equal codes.
std::vector<CaseInput> micro_bits(const CaseContext& context) {
  std::vector<CaseInput> cases;
  const Codes ones(row_length(context.profile), 1);
  for (std::uint32_t bit = 8; bit < 32; bit += context.level == Level::smoke ? 5 : 1) {
    cases.push_back(block_case(context.profile, ones, 0xC0U | 1U << bit));
  }
  cases.push_back(block_case(context.profile, ones, e6m2_nan | 1U << 13));  // NaN, whatever the bits
  return cases;
}

/// Equal codes but one, at each position: shows where a code stands.
std::vector<CaseInput> code_positions(const CaseContext& context) {
  std::vector<CaseInput> cases;
  const Profile& profile = context.profile;
  const std::size_t length = row_length(profile);
  const std::uint32_t one = profile.family == Family::mx ? 127U : profile.family == Family::hif4 ? 0xC0U : 0x38U;
  const std::size_t stride = context.level == Level::full ? 1 : context.level == Level::quick ? 5 : 19;
  for (std::size_t place = 0; place < length; place += stride) {
    Codes codes(length, 0);
    codes[place] = 2;
    codes[(place + 1) % length] = static_cast<std::uint8_t>(element_spec(profile.element).sign_mask() | 3U);
    cases.push_back(block_case(profile, codes, one));
  }
  return cases;
}

std::vector<CaseInput> negative_zeros(const CaseContext& context) {
  const Profile& profile = context.profile;
  const std::uint8_t minus_zero = element_spec(profile.element).sign_mask();
  const std::size_t length = row_length(profile);
  std::vector<CaseInput> cases;
  for (const std::uint32_t scale : scale_codes(context)) {
    Codes codes(length, minus_zero);
    for (std::size_t i = cases.size() % 3; i < length; i += 3) codes[i] = 0;
    cases.push_back(block_case(profile, codes, scale));
  }
  return cases;
}

std::vector<CaseInput> random_blocks(const CaseContext& context) {
  CaseRandom random(context);
  const Profile& profile = context.profile;
  const auto code_count = static_cast<std::uint32_t>(1 << element_spec(profile.element).bits());
  std::vector<CaseInput> cases;
  for (std::size_t turn = 0; turn < context.wanted; ++turn) {
    Codes codes;
    for (std::size_t i = 0; i < row_length(profile); ++i) {
      codes.push_back(static_cast<std::uint8_t>(random.below(code_count)));
    }
    std::uint32_t scale = random.word();
    if (profile.family == Family::nvfp4) scale &= 0x7FU;
    if (profile.family == Family::mx) scale &= 0xFFU;
    cases.push_back(block_case(profile, codes, scale));
  }
  return cases;
}

/// Tensor scales that are no powers of two, at the ends, and that take the product out of binary32.
std::vector<CaseInput> tensor_scales(const CaseContext& context) {
  std::vector<CaseInput> cases;
  const Codes codes = code_blocks(context.profile).front();
  for (const std::uint32_t tensor_scale :
       {0x3F800001U, 0x3DCCCCCDU, 0x00000001U, 0x00400001U, 0x7F7FFFFFU, 0x7E000001U, 0x00812345U, 0x3A83126FU}) {
    for (const std::uint32_t scale : {0x39U, 0x01U, 0x7EU, 0x00U}) {
      cases.push_back(block_case(context.profile, codes, scale, tensor_scale));
    }
  }
  return cases;
}

constexpr bool has_tensor_scale(const Profile& profile) { return profile.tensor_scale; }

constexpr std::array dequantize_table = {
    CaseClass{"dequantize-codebook",
              "A code or a scale code stands for another value: another element's table, scale 0 as zero, 255 as "
              "infinity, overflow or underflow rounded another way.",
              Operation::dequantize, any_profile, codebook},
    CaseClass{"dequantize-micro-bits", "A micro-exponent bit acts on other elements than its own.",
              Operation::dequantize, is_hif4, micro_bits},
    CaseClass{"dequantize-positions", "Codes are read from another place: nibbles swapped or split.",
              Operation::dequantize, any_profile, code_positions},
    CaseClass{"dequantize-negative-zeros", "The negative zero code loses its sign, or survives under a NaN scale.",
              Operation::dequantize, any_profile, negative_zeros},
    CaseClass{"dequantize-tensor-scale", "The product with the tensor scale is rounded twice.", Operation::dequantize,
              has_tensor_scale, tensor_scales},
    CaseClass{"dequantize-random", "Something goes wrong that no other class thought of.", Operation::dequantize,
              any_profile, random_blocks},
};

}  // namespace

std::span<const CaseClass> dequantize_classes() { return dequantize_table; }

}  // namespace fp4proof::suite
