#include "tests/gpu/evidence_host_parts.h"

#include <algorithm>
#include <array>
#include <bit>

#include "formats/philox.h"

namespace fp4proof::evidence {

namespace {

template <class Word>
void fill_input(const Input& input, std::int64_t first, std::span<Word> words) {
  const auto count = static_cast<std::int64_t>(words.size());
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < count; ++i) {
    words[static_cast<std::size_t>(i)] =
        static_cast<Word>(input_word(input.dtype, input.spread, input.seed, static_cast<std::uint64_t>(first + i)));
  }
}

template <class Word>
void make_words(const Input& input, std::int64_t first, std::vector<std::byte>& bytes) {
  fill_input(input, first, std::span(reinterpret_cast<Word*>(bytes.data()), bytes.size() / sizeof(Word)));
}

Output shifted(Output output, bool is_residual) {
  constexpr int to_residual = static_cast<int>(Output::residual_codes) - static_cast<int>(Output::codes);
  return static_cast<Output>(static_cast<int>(output) + (is_residual ? to_residual : 0));
}

}  // namespace

std::uint64_t digest_of(Output output, std::int64_t position, std::span<const std::uint8_t> bytes) {
  const auto count = static_cast<std::int64_t>(bytes.size());
  std::uint64_t sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum) if (count > 4096)
  for (std::int64_t i = 0; i < count; ++i) {
    sum += digest_term(output, static_cast<std::uint64_t>(position + i), bytes[static_cast<std::size_t>(i)]);
  }
  return sum;
}

std::vector<std::byte> make_input(const Input& input, std::int64_t first, std::int64_t count) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(count * gpu::bytes_of(input.dtype)));
  if (input.dtype == DType::f32) {
    make_words<std::uint32_t>(input, first, bytes);
  } else {
    make_words<std::uint16_t>(input, first, bytes);
  }
  return bytes;
}

std::vector<std::uint32_t> make_random(const Profile& profile, std::uint64_t seed, std::int64_t first,
                                       std::int64_t count) {
  if (profile.rounding != Rounding::stochastic) return {};
  std::vector<std::uint32_t> words(static_cast<std::size_t>(count));
  const std::int64_t first_block = first / 4;
  const std::int64_t blocks = (first + count + 3) / 4 - first_block;
#pragma omp parallel for schedule(static)
  for (std::int64_t b = 0; b < blocks; ++b) {
    const std::int64_t element = 4 * (first_block + b);
    const PhiloxBlock block = random_block(seed, random_stream, random_step, static_cast<std::uint64_t>(element));
    for (int i = 0; i < 4; ++i) {
      const std::int64_t place = element + i - first;
      if (place >= 0 && place < count) words[static_cast<std::size_t>(place)] = block.word[i];
    }
  }
  return words;
}

portable::DType portable_dtype(DType dtype) {
  switch (dtype) {
    case DType::f32: return portable::DType::f32;
    case DType::f16: return portable::DType::f16;
    case DType::bf16: return portable::DType::bf16;
  }
  return portable::DType::f32;
}

HostMatrix::HostMatrix(const Profile& profile, const Input& input, std::int64_t batch, std::int64_t row,
                       std::int64_t rows)
    : shape{rows, input.shape.columns} {
  const std::int64_t first = (batch * input.shape.rows + row) * input.shape.columns;
  data = make_input(input, first, rows * input.shape.columns);
  random = make_random(profile, input.seed, first, rows * input.shape.columns);
  view = {portable_dtype(input.dtype), shape, data.data()};
  options.axis = input.shape.axis;
  options.tail = portable::Tail::pad;
  options.random_words = random;
}

portable::Quantized made_operand(const Profile& profile, ScaleSpread spread, std::int64_t first, std::int64_t lines,
                                 std::int64_t length, std::uint64_t seed) {
  const std::int64_t shape[] = {lines, length};
  portable::Quantized made;
  made.geometry = sound(portable::cut_into_blocks(profile, shape, -1, portable::Tail::pad));
  const std::int64_t per_line = made.geometry.code_bytes_per_row;
  made.codes.resize(static_cast<std::size_t>(made.geometry.code_bytes()));
  for (std::size_t i = 0; i < made.codes.size(); ++i) {
    made.codes[i] = code_byte(profile.element, seed, static_cast<std::uint64_t>(first * per_line) + i);
  }
  const int bytes = scale_bytes(profile.family);
  for (std::int64_t line = first; line < first + lines; ++line) {
    for (std::int64_t block = 0; block < made.geometry.blocks; ++block) {
      for (int byte = 0; byte < bytes; ++byte) {
        made.scales.push_back(scale_byte(profile.family, spread, seed, line, block, byte));
      }
    }
  }
  if (profile.tensor_scale) made.tensor_scale = made_tensor_scale(seed);
  return made;
}

std::uint64_t digest_of_part(const portable::CodedPart& part, const Profile& profile, std::int64_t batch,
                             bool is_residual) {
  const auto at = [&](Output output, std::span<const std::uint8_t> bytes) {
    return digest_of(shifted(output, is_residual), batch * static_cast<std::int64_t>(bytes.size()), bytes);
  };
  std::uint64_t sum = at(Output::codes, part.quantized.codes) + at(Output::scales, part.quantized.scales);
  if (profile.tensor_scale) {
    sum += at(Output::tensor_scales, bytes_of(std::vector{part.quantized.tensor_scale}));
  }
  return sum + at(Output::macro, part.macro);
}

}  // namespace fp4proof::evidence
