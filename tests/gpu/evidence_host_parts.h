#pragma once
// What the entries on the host are made of.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

#include "formats/result.h"
#include "reference/portable/correct.h"
#include "reference/portable/quantize.h"
#include "reference/portable/tensor.h"
#include "tests/gpu/evidence_entries.h"

namespace fp4proof::evidence {

/// The value of a result that cannot be an error.
template <class T>
T sound(Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "the reference refuses an entry: %s\n", result.error().message.c_str());
    std::exit(70);
  }
  return *std::move(result);
}
inline void sound(const Result<void>& result) {
  if (!result) sound(Result<int>(result.error()));
}

/// The sum of the terms of bytes at `position` and behind.
std::uint64_t digest_of(Output output, std::int64_t position, std::span<const std::uint8_t> bytes);

template <class T>
std::span<const std::uint8_t> bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const std::uint8_t*>(values.data()), values.size() * sizeof(T)};
}

/// Elements first, first + 1, ... of an input, as they stand in memory.
std::vector<std::byte> make_input(const Input& input, std::int64_t first, std::int64_t count);

/// The random words of the same elements; none for profiles that draw none.
std::vector<std::uint32_t> make_random(const Profile& profile, std::uint64_t seed, std::int64_t first,
                                       std::int64_t count);

/// One matrix of an input, with what the reference needs to cut it.
struct HostMatrix {
  std::int64_t shape[2];
  std::vector<std::byte> data;
  std::vector<std::uint32_t> random;
  portable::TensorView view;
  portable::QuantizeOptions options;

  /// `rows` rows from `row` on of matrix `batch`; `profile` is the effective one.
  HostMatrix(const Profile& profile, const Input& input, std::int64_t batch, std::int64_t row, std::int64_t rows);
  HostMatrix(const HostMatrix&) = delete;
  HostMatrix& operator=(const HostMatrix&) = delete;
};

/// The digest of a coded part of matrix `batch`. Output::codes is the first output of the first part.
std::uint64_t digest_of_part(const portable::CodedPart& part, const Profile& profile, std::int64_t batch,
                             bool is_residual);

/// Lines [first, first + lines) of an operand whose codes and scales are made of their places.
portable::Quantized made_operand(const Profile& profile, ScaleSpread spread, std::int64_t first, std::int64_t lines,
                                 std::int64_t length, std::uint64_t seed);

portable::DType portable_dtype(DType dtype);

}  // namespace fp4proof::evidence
