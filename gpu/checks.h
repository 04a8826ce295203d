#pragma once
// What launch functions check of their arguments, on the host.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "formats/spec.h"
#include "gpu/matrix.h"
#include "gpu/status.h"

namespace fp4proof::gpu {

inline bool is_aligned(const void* pointer, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(pointer) % bytes == 0;
}

/// More elements than any memory holds. Numbers of bytes that belong to fewer fit 64 bits, padding included.
inline constexpr std::int64_t most_elements = std::int64_t{1} << 48;

/// Whether no extent is negative and those above 0 make at most most_elements elements.
constexpr bool are_extents(std::initializer_list<std::int64_t> extents) {
  std::int64_t elements = 1;
  for (const std::int64_t extent : extents) {
    if (extent < 0 || extent > most_elements / elements) return false;
    elements *= std::max(extent, std::int64_t{1});
  }
  return true;
}

constexpr bool is_sound(const MatrixShape& shape) {
  return are_extents({shape.batch, shape.rows, shape.columns}) && (shape.axis == 0 || shape.axis == 1);
}

/// Blocks that quantize() cuts: those of the named profiles, and for MX also tiles of 8, 16, 32 or 64 rows and columns.
constexpr bool is_known_block(const Profile& profile) {
  const auto is_extent = [](int n) { return n == 8 || n == 16 || n == 32 || n == 64; };
  const BlockShape block = profile.block;
  if (profile.family == Family::hif4) return block.cols == 64 && (block.rows == 1 || block.rows == 64);
  return is_extent(block.cols) && (block.rows == 1 || is_extent(block.rows));
}

/// Elements that a format of the family has.
constexpr bool has_known_elements(const Profile& profile) {
  switch (profile.family) {
    case Family::mx: return profile.element <= Element::e5m2;
    case Family::hif4: return profile.element >= Element::s1p1 && profile.element <= Element::s1p3;
    case Family::nvfp4: return profile.element == Element::e2m1;
  }
  return false;
}

/// What quantize() says of a profile, whatever it shall quantize. Not offered: NaN or infinity as an error, which a
/// launch cannot return.
constexpr Status check_quantized_profile(const Profile& profile) {
  const int bits = profile.random_bits;
  if (!is_known_block(profile)) return Status::invalid;
  if (profile.rounding == Rounding::stochastic && bits != 8 && bits != 16 && bits != 32) return Status::invalid;
  const bool offered =
      has_known_elements(profile) && profile.nan != NanPolicy::error && profile.inf != InfPolicy::error;
  return offered ? Status::ok : Status::unsupported;
}

}  // namespace fp4proof::gpu
