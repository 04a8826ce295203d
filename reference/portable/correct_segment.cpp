#include "reference/portable/correct_segment.h"

#include <algorithm>
#include <array>

#include "reference/portable/correct_kernels.h"
#include "reference/portable/hadamard.h"
#include "reference/portable/level_kernels.h"
#include "reference/portable/macro_block.h"
#include "reference/portable/run_encoder.h"

namespace fp4proof::portable {

namespace {

constexpr int max_segment = blocks_per_run * 64;

/// A piece of a row: whole blocks, macro blocks and Hadamard groups.
struct Segment {
  std::int64_t row = 0;
  std::int64_t column = 0;
  int count = 0;  ///< elements that exist
  int width = 0;  ///< count and the padding of the last block
};

/// The buffers of one thread; numbers are binary32 words.
struct Scratch {
  alignas(64) std::array<std::uint32_t, max_segment> input;
  alignas(64) std::array<std::uint32_t, max_segment> residual;
  alignas(64) std::array<std::uint32_t, max_segment> scaled;
  alignas(64) std::array<std::uint8_t, max_segment> codes;
  std::array<std::uint32_t, blocks_per_run> scales;
  std::array<std::uint8_t, max_segment / 32> macro;
};

class SegmentCorrector {
 public:
  SegmentCorrector(const TensorView& tensor, const Geometry& geometry, const Corrected& corrected)
      : tensor_(tensor),
        geometry_(geometry),
        profile_(corrected.profile),
        stack_(corrected.stack),
        encoder_(corrected.profile, 1.0F, corrected.stack.three_quarters) {
    if (stack_.hadamard.is_on()) hadamard_.emplace(stack_.hadamard, corrected.product, geometry.columns);
    for (int code = 0; code < 256; ++code) {
      table_[static_cast<std::size_t>(code)] = decode_element(profile_.element, static_cast<std::uint8_t>(code));
    }
  }

  void run(const Segment& segment, Scratch& scratch, Corrected& result) const {
    load(segment, scratch);
    code(scratch.input.data(), segment, scratch);
    store(segment, scratch, result.first);
    if (!stack_.residual.is_on()) return;
    take_residual(segment, scratch);
    const bool sparse = stack_.residual.mask == ResidualMask::two_four;
    code(scratch.residual.data(), segment, scratch);
    if (sparse) mask_two_of_four(scratch.residual.data(), segment.width, scratch.codes.data());
    store(segment, scratch, *result.residual);
  }

 private:
  int blocks(const Segment& segment) const { return segment.width / profile_.block.cols; }
  bool multiplies() const { return stack_.macro.form == MacroForm::multiply; }

  void load(const Segment& segment, Scratch& scratch) const {
    load_words(tensor_, segment.row * geometry_.columns + segment.column, 1, segment.count, scratch.input.data());
    std::fill(scratch.input.begin() + segment.count, scratch.input.begin() + segment.width, 0U);
    if (hadamard_) hadamard_->forward(segment.column, segment.count, scratch.input.data());
  }

  /// Applies `change(words, count, macro block)` to each macro block of a segment.
  template <class Change>
  void for_each_macro_block(const Segment& segment, std::uint32_t* words, Change change) const {
    for (int first = 0; first < segment.width; first += stack_.macro.size) {
      change(words + first, std::min<int>(stack_.macro.size, segment.width - first),
             static_cast<std::size_t>(first / stack_.macro.size));
    }
  }

  /// Codes words: codes, scales and macro bytes.
  void code(std::uint32_t* words, const Segment& segment, Scratch& scratch) const {
    if (stack_.macro.is_on() || stack_.three_quarters) {  // the input is needed again
      std::copy_n(words, segment.width, scratch.scaled.data());
      words = scratch.scaled.data();
    }
    if (stack_.macro.is_on()) {
      for_each_macro_block(segment, words, [&](std::uint32_t* block, int count, std::size_t index) {
        scratch.macro[index] = macro_byte(stack_.macro.form, profile_.element, largest_finite(block, count));
        (multiplies() ? multiply_by : divide_by)(macro_factor(scratch.macro[index]), count, block);
      });
    }
    encoder_.encode(blocks(segment), words, nullptr, scratch.scales.data(), scratch.codes.data());
  }

  /// r of C20, from the input and what was coded last.
  void take_residual(const Segment& segment, Scratch& scratch) const {
    std::uint32_t* residual = scratch.residual.data();
    if (!stack_.three_quarters && !stack_.macro.is_on()) {
      decode(segment, scratch, scratch.input.data());
      return;
    }
    decode(segment, scratch, nullptr);
    if (stack_.three_quarters) divide_by(0.75F, segment.width, residual);
    if (stack_.macro.is_on()) {
      for_each_macro_block(segment, residual, [&](std::uint32_t* block, int count, std::size_t index) {
        (multiplies() ? divide_by : multiply_by)(macro_factor(scratch.macro[index]), count, block);
      });
    }
    subtract_from(scratch.input.data(), segment.width, residual);
  }

  /// scratch.residual := what the codes stand for, or `input` less that.
  void decode(const Segment& segment, Scratch& scratch, const std::uint32_t* input) const {
    const CodedRun run = {blocks(segment), scratch.codes.data(), scratch.scales.data()};
    if (profile_.family == Family::hif4)
      return decode_hif4_groups(profile_.element, run, input, scratch.residual.data());
    if (profile_.element == Element::e2m1) {
      return decode_e2m1_blocks(run, profile_.block.cols, input, scratch.residual.data());
    }
    decode_by_table(segment, scratch);
    if (input != nullptr) subtract_from(input, segment.width, scratch.residual.data());
  }

  void decode_by_table(const Segment& segment, Scratch& scratch) const {
    for (std::size_t i = 0; i < static_cast<std::size_t>(segment.width); ++i) {
      const float scale = decode_e8m0(static_cast<std::uint8_t>(scratch.scales[i / profile_.block.cols]));
      scratch.residual[i] = float_bits(table_[scratch.codes[i]] * scale);
    }
  }

  void store(const Segment& segment, const Scratch& scratch, CodedPart& part) const {
    std::uint8_t* codes = part.quantized.codes.data() + segment.row * geometry_.code_bytes_per_row;
    if (element_spec(profile_.element).is_nibble()) {
      pack_nibbles(scratch.codes.data(), segment.width, codes + segment.column / 2);
    } else {
      std::copy_n(scratch.codes.data(), segment.width, codes + segment.column);
    }
    const int bytes = scale_bytes(profile_.family);
    std::uint8_t* scales = part.quantized.scales.data() + segment.row * geometry_.scale_bytes_per_row +
                           segment.column / profile_.block.cols * bytes;
    for (int b = 0; b < blocks(segment); ++b) {
      for (int k = 0; k < bytes; ++k) {
        *scales++ = static_cast<std::uint8_t>(scratch.scales[static_cast<std::size_t>(b)] >> (8 * k));
      }
    }
    if (!stack_.macro.is_on()) return;
    const std::int64_t per_row = macro_blocks_per_row(stack_.macro, geometry_.columns);
    const std::int64_t first = segment.column / stack_.macro.size;
    const std::int64_t count = macro_blocks_per_row(stack_.macro, segment.count);
    std::copy_n(scratch.macro.data(), count, part.macro.data() + segment.row * per_row + first);
  }

  const TensorView& tensor_;
  const Geometry& geometry_;
  const Profile& profile_;
  const CorrectionStack& stack_;
  RunEncoder encoder_;
  std::optional<HadamardTransform> hadamard_;
  std::array<float, 256> table_{};
};

CodedPart empty_part(const CorrectionStack& stack, const Geometry& g) {
  CodedPart part;
  part.quantized.geometry = g;
  part.quantized.codes.resize(static_cast<std::size_t>(g.code_bytes()));
  part.quantized.scales.resize(static_cast<std::size_t>(g.scale_bytes()));
  part.macro.resize(static_cast<std::size_t>(g.rows * macro_blocks_per_row(stack.macro, g.columns)));
  return part;
}

}  // namespace

bool goes_by_segments(const Profile& effective, const CorrectionStack& stack, const Geometry& geometry) {
  const bool is_known = effective.family == Family::mx || (effective.family == Family::hif4);
  return is_known && !effective.block.is_2d() && effective.rounding != Rounding::stochastic && geometry.inner == 1 &&
         !stack.residual.mixes_rows();
}

void correct_by_segments(const TensorView& tensor, const Geometry& geometry, Corrected& result) {
  result.first = empty_part(result.stack, geometry);
  if (result.stack.residual.is_on()) result.residual = empty_part(result.stack, geometry);
  const SegmentCorrector corrector(tensor, geometry, result);
  const int longest = blocks_per_run * result.profile.block.cols;
  const std::int64_t per_row = (geometry.padded_columns + longest - 1) / longest;
#pragma omp parallel if (geometry.rows * per_row > 1)
  {
    Scratch scratch;
#pragma omp for schedule(static)
    for (std::int64_t i = 0; i < geometry.rows * per_row; ++i) {
      Segment segment{i / per_row, i % per_row * longest, 0, 0};
      segment.width = static_cast<int>(std::min<std::int64_t>(longest, geometry.padded_columns - segment.column));
      segment.count = static_cast<int>(std::min<std::int64_t>(segment.width, geometry.columns - segment.column));
      corrector.run(segment, scratch, result);
    }
  }
}

}  // namespace fp4proof::portable
