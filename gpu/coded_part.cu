#include "gpu/coded_part.h"

#include "formats/hif4.h"
#include "formats/macro_block.h"
#include "formats/packing.h"
#include "formats/scale_codes.h"
#include "formats/strict_math.h"
#include "gpu/launch.h"

namespace fp4proof::gpu {

namespace {

/// Elements of a line that a thread decodes: they share a scale, a level-2 bit and a macro factor in every format.
constexpr int piece = 8;
constexpr int threads = 256;

/// A PartFormat as kernels need it.
struct Reading {
  Family family;
  Element element;
  bool nibbles;
  bool three_quarters;
  bool tensor_scale;
  int block;
  std::int64_t lines;  ///< of the whole batch
  std::int64_t lines_of_matrix;
  std::int64_t length;
  std::int64_t blocks;
  std::int64_t macro_blocks;
  MacroSpec macro;
};

/// Where a piece stands.
struct PiecePlace {
  std::int64_t line;
  std::int64_t column;

  __device__ int count(const Reading& reading) const {
    const std::int64_t left = reading.length - column;
    return left < piece ? static_cast<int>(left) : piece;
  }
};

/// The values of all codes; 4-bit elements use the first sixteen places.
__device__ void fill_table(Element element, float* table) {
  for (int code = static_cast<int>(threadIdx.x); code < 256; code += threads) {
    table[code] = decode_element(element, static_cast<std::uint8_t>(code));
  }
  __syncthreads();
}

/// The elements of a piece, without scales.
__device__ void read_elements(const Reading& reading, const std::uint8_t* codes, const PiecePlace& place,
                              const float* table, float (&values)[piece]) {
  const std::int64_t first = place.line * reading.blocks * reading.block + place.column;
  if (reading.nibbles) {
    const std::uint32_t word = *reinterpret_cast<const std::uint32_t*>(codes + first / 2);
    for (int i = 0; i < piece; ++i) values[i] = table[(word >> (4 * i)) & 0xFU];
    return;
  }
  for (int half = 0; half < 2; ++half) {
    const std::uint32_t word = *reinterpret_cast<const std::uint32_t*>(codes + first + 4 * half);
    for (int i = 0; i < 4; ++i) values[4 * half + i] = table[(word >> (8 * i)) & 0xFFU];
  }
}

/// Every product but the last is exact, so there is one rounding.
__device__ void apply_scale(const Reading& reading, const ConstCoded& coded, const PiecePlace& place,
                            float (&values)[piece]) {
  const std::int64_t scale_at = place.line * reading.blocks + place.column / reading.block;
  switch (reading.family) {
    case Family::mx: {
      const float scale = decode_e8m0(coded.scales[scale_at]);
      for (float& value : values) value *= scale;
      break;
    }
    case Family::nvfp4: {
      const float scale = decode_e4m3_scale(coded.scales[scale_at]);
      const float tensor_scale =
          reading.tensor_scale ? coded.tensor_scales[place.line / reading.lines_of_matrix] : 1.0F;
      for (float& value : values) value = value * scale * tensor_scale;
      break;
    }
    case Family::hif4: {
      const std::uint32_t word = load_le32(coded.scales + 4 * scale_at);
      const float scale = decode_e6m2(hif4_e6m2(word));
      const int within = static_cast<int>(place.column % reading.block);
      for (int i = 0; i < piece; ++i) {
        const int levels = hif4_level2(word, within + i) + hif4_level3(word, within + i);
        values[i] *= scale * static_cast<float>(1 << levels);
      }
      break;
    }
  }
}

/// What a piece of a part decodes to; places behind the end of the line hold anything.
__device__ void decode_piece(const Reading& reading, const ConstCodedPart& part, const PiecePlace& place,
                             const float* table, float (&values)[piece]) {
  read_elements(reading, part.coded.codes, place, table, values);
  apply_scale(reading, part.coded, place, values);
  if (reading.three_quarters) {
    for (float& value : values) value = strict::divide(value, 0.75F);
  }
  if (reading.macro.is_on()) {
    const float factor =
        macro_factor(part.macro[place.line * reading.macro_blocks + place.column / reading.macro.size]);
    for (float& value : values) value = reading.macro.form == MacroForm::multiply ? value / factor : value * factor;
  }
  for (float& value : values) value = strict::canonicalise_nan(value);
}

/// Reads and writes a piece, in two 16-byte words where it is whole and stands on such a place.
__device__ bool is_whole(const float* at, int count) {
  return count == piece && reinterpret_cast<std::uintptr_t>(at) % sizeof(float4) == 0;
}

__device__ void read_piece(const float* at, int count, float (&values)[piece]) {
  if (is_whole(at, count)) {
    for (int half = 0; half < 2; ++half) {
      const float4 four = reinterpret_cast<const float4*>(at)[half];
      values[4 * half] = four.x;
      values[4 * half + 1] = four.y;
      values[4 * half + 2] = four.z;
      values[4 * half + 3] = four.w;
    }
    return;
  }
  for (int i = 0; i < piece; ++i) values[i] = i < count ? at[i] : 0.0F;
}

__device__ void write_piece(float* at, int count, const float (&values)[piece]) {
  if (is_whole(at, count)) {
    for (int half = 0; half < 2; ++half) {
      reinterpret_cast<float4*>(at)[half] = {values[4 * half], values[4 * half + 1], values[4 * half + 2],
                                             values[4 * half + 3]};
    }
    return;
  }
  for (int i = 0; i < piece; ++i) {
    if (i < count) at[i] = values[i];
  }
}

// What becomes of a decoded piece.

struct Residual {
  ConstCodedPart part;
  const float* input;

  __device__ void operator()(const Reading& reading, const PiecePlace& place, const float* table,
                             float (&values)[piece]) const {
    float wanted[piece];
    read_piece(input + place.line * reading.length + place.column, place.count(reading), wanted);
    decode_piece(reading, part, place, table, values);
    for (int i = 0; i < piece; ++i) values[i] = strict::canonicalise_nan(wanted[i] - values[i]);
  }
};

struct OnePart {
  ConstCodedPart part;

  __device__ void operator()(const Reading& reading, const PiecePlace& place, const float* table,
                             float (&values)[piece]) const {
    decode_piece(reading, part, place, table, values);
  }
};

struct TwoParts {
  ConstCodedPart first;
  ConstCodedPart second;
  float alpha;

  __device__ void operator()(const Reading& reading, const PiecePlace& place, const float* table,
                             float (&values)[piece]) const {
    float residual[piece];
    decode_piece(reading, first, place, table, values);
    decode_piece(reading, second, place, table, residual);
    for (int i = 0; i < piece; ++i) values[i] = strict::canonicalise_nan(values[i] + alpha * residual[i]);
  }
};

template <class Make>
__global__ void make_values(Reading reading, Make make, float* result) {
  __shared__ float table[256];
  fill_table(reading.element, table);
  const std::int64_t pieces_of_line = (reading.length + piece - 1) / piece;
  const std::int64_t step = std::int64_t{gridDim.x} * threads;
  std::int64_t at = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  for (; at < reading.lines * pieces_of_line; at += step) {
    const PiecePlace place{at / pieces_of_line, at % pieces_of_line * piece};
    float values[piece];
    make(reading, place, table, values);
    write_piece(result + place.line * reading.length + place.column, place.count(reading), values);
  }
}

template <class Make>
Status launch(const PartFormat& format, const Make& make, float* result, cudaStream_t stream) {
  const CodedShape& shape = format.shape;
  const Reading reading{format.profile.family,
                        format.profile.element,
                        shape.nibbles,
                        format.three_quarters,
                        format.profile.tensor_scale,
                        shape.block,
                        shape.batch * shape.lines,
                        shape.lines,
                        shape.length,
                        shape.blocks,
                        macro_blocks(format.macro, shape.padded_length()),
                        format.macro};
  const std::int64_t pieces = reading.lines * ceil_div(reading.length, piece);
  if (pieces == 0) return Status::ok;
  make_values<<<grid_for(pieces, threads), threads, 0, stream>>>(reading, make, result);
  return launch_status();
}

}  // namespace

Status take_residual(const PartFormat& format, const ConstCodedPart& part, const float* input, float* residual,
                     cudaStream_t stream) {
  return launch(format, Residual{part, input}, residual, stream);
}

Status decode_part(const PartFormat& format, const ConstCodedPart& part, float* values, cudaStream_t stream) {
  return launch(format, OnePart{part}, values, stream);
}

Status decode_parts(const PartFormat& format, const ConstCodedPart& first, const ConstCodedPart& second, float alpha,
                    float* values, cudaStream_t stream) {
  return launch(format, TwoParts{first, second, alpha}, values, stream);
}

}  // namespace fp4proof::gpu
