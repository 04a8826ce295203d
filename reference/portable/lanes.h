#pragma once
// Sixteen lanes at a time, in the vector extension that g++ and clang share. The compiler lowers them to whatever the
// instruction set has; lane by lane they are the same IEEE operations.

#include <cstdint>
#include <cstring>

namespace fp4proof::portable {

inline constexpr int lane_count = 16;
using FloatLanes = float __attribute__((vector_size(64)));
using WordLanes = std::uint32_t __attribute__((vector_size(64)));
using MaskLanes = std::int32_t __attribute__((vector_size(64)));  ///< 0 or -1 a lane, as comparisons give
using HalfLanes = std::uint16_t __attribute__((vector_size(32)));
using ByteLanes = std::uint8_t __attribute__((vector_size(16)));

#define FP4PROOF_INLINE [[gnu::always_inline]] inline

FP4PROOF_INLINE void load_lanes(const std::uint32_t* from, WordLanes& lanes) {
  std::memcpy(&lanes, from, sizeof lanes);
}

// Words become bytes and bytes words by way of halves: g++ 12 takes a conversion of one step whole, of two apart.
FP4PROOF_INLINE void store_bytes(const WordLanes& lanes, std::uint8_t* to) {
  const ByteLanes bytes = __builtin_convertvector(__builtin_convertvector(lanes, HalfLanes), ByteLanes);
  std::memcpy(to, &bytes, sizeof bytes);
}

FP4PROOF_INLINE void load_bytes(const std::uint8_t* from, WordLanes& lanes) {
  ByteLanes bytes;
  std::memcpy(&bytes, from, sizeof bytes);
  lanes = __builtin_convertvector(__builtin_convertvector(bytes, HalfLanes), WordLanes);
}

/// lanes[i] := max(lanes[i], lanes[i ^ 1]), and so on up: every lane of a group of 2, 4, 8 or 16 holds its maximum.
template <class Lanes>
FP4PROOF_INLINE void max_of_pairs(Lanes& v) {
  const Lanes other = __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14);
  v = v > other ? v : other;
}
template <class Lanes>
FP4PROOF_INLINE void max_of_pairs_2_apart(Lanes& v) {
  const Lanes other = __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
  v = v > other ? v : other;
}
template <class Lanes>
FP4PROOF_INLINE void max_of_pairs_4_apart(Lanes& v) {
  const Lanes other = __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11);
  v = v > other ? v : other;
}
template <class Lanes>
FP4PROOF_INLINE void max_of_pairs_8_apart(Lanes& v) {
  const Lanes other = __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
  v = v > other ? v : other;
}

}  // namespace fp4proof::portable
