#pragma once
// Products of corrected matrices as docs/rules-corrections.md words them, under the sequential accumulators, with one
// fault built in on demand: what a kernel with that fault answers to a case of `correct-gemm`.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "conformance/suite/case_group.h"
#include "formats/element.h"
#include "formats/hif4.h"
#include "formats/packing.h"
#include "formats/scale_codes.h"
#include "reference/portable/correct.h"

namespace fp4proof::suite::naive {

enum class ProductFault : std::uint8_t {
  none,
  weights_at_the_end,   ///< the weight of the first slice, applied once to the whole sum
  weights_not_rounded,  ///< g_a g_b in binary64
  weights_of_a_alone,   ///< g_b is left out
  residual_first,       ///< the sum starts from alpha G(a2, b)
  residual_left_out,
  alpha_left_out,
  slices_of_half,        ///< part is added to acc every half slice
  slices_not_summed,     ///< every block product is weighted by itself
  one_chunk,             ///< no new acc every 512 elements
  nan_scale_skipped,     ///< a block with a NaN scale counts as 0
  nan_residual_skipped,  ///< the same in the product of the residual alone
  nan_spreads,           ///< a NaN makes its whole row of C NaN
  divided_each,          ///< three-quarters: every block product is divided
};

/// One coded part of an operand, read straight from its bytes.
class CodedMatrix {
 public:
  CodedMatrix(const Profile& profile, const MacroSpec& macro, const CaseGroup& group, std::size_t index,
              const std::string& prefix)
      : profile_(profile),
        macro_(macro),
        columns_(group.spec.columns),
        codes_(group.find(prefix + "codes")->of_case(index)),
        scales_(group.find(prefix + "scales")->of_case(index)) {
    if (macro.is_on()) bytes_ = group.find(prefix + "macro")->of_case(index);
  }

  std::int64_t blocks() const { return columns_ / profile_.block.cols; }

  double value(std::int64_t row, std::int64_t k) const {
    const std::size_t block = static_cast<std::size_t>(row * blocks() + k / profile_.block.cols);
    const std::uint8_t code = code_at(static_cast<std::size_t>(row * columns_ + k));
    if (profile_.family == Family::hif4) {
      const int column = static_cast<int>(k % profile_.block.cols);
      return double{hif4_decode_element(profile_.element, load_le32(&scales_[4 * block]), column, code)};
    }
    const std::uint8_t scale = scales_[block];
    const double unit = profile_.family == Family::nvfp4 ? double{decode_e4m3_scale(scale)}
                        : scale == e8m0_nan              ? std::nan("")
                                                         : std::ldexp(1.0, int{scale} - e8m0_bias);
    return double{decode_element(profile_.element, code)} * unit;
  }

  float weight(std::int64_t row, std::int64_t k) const {
    if (!macro_.is_on()) return 1.0F;
    const std::int64_t per_row = portable::macro_blocks_per_row(macro_, columns_);
    const float f = 1.0F + static_cast<float>(bytes_[static_cast<std::size_t>(row * per_row + k / macro_.size)]) / 256;
    return macro_.form == MacroForm::multiply ? 1.0F / f : f;
  }

 private:
  std::uint8_t code_at(std::size_t place) const {
    if (!element_spec(profile_.element).is_nibble()) return codes_[place];
    return static_cast<std::uint8_t>(codes_[place / 2] >> (4 * (place % 2)) & 0xF);
  }

  Profile profile_;
  MacroSpec macro_;
  std::int64_t columns_;
  Bytes codes_;
  Bytes scales_;
  Bytes bytes_;
};

class Product {
 public:
  Product(const Profile& profile, const CaseGroup& group, std::size_t index, ProductFault fault)
      : stack_(*stack_of(group.spec)),
        profile_(stack_.effective(profile)),
        spec_(group.spec),
        fault_(fault),
        a_(profile_, stack_.macro, group, index, "a_"),
        b_(profile_, stack_.macro, group, index, "b_"),
        second_(profile_, stack_.macro, group, index, stack_.residual.is_on() ? "a_residual_" : "a_") {}

  std::vector<std::uint32_t> words() const {
    std::vector<std::uint32_t> c;
    for (std::int64_t m = 0; m < spec_.rows; ++m) {
      std::vector<float> row;
      for (std::int64_t n = 0; n < spec_.other_rows; ++n) row.push_back(element(m, n));
      const bool has_nan = std::any_of(row.begin(), row.end(), [](float v) { return std::isnan(v); });
      for (const float value : row) {
        c.push_back(float_bits(has_nan && fault_ == ProductFault::nan_spreads ? canonical_nan() : value));
      }
    }
    return c;
  }

 private:
  float element(std::int64_t m, std::int64_t n) const {
    if (!stack_.residual.is_on() || fault_ == ProductFault::residual_left_out) return sum(a_, m, n, 0.0F, false);
    const float second = sum(second_, m, n, 0.0F, true);
    const float term = fault_ == ProductFault::alpha_left_out ? second : stack_.residual.alpha * second;
    if (fault_ == ProductFault::residual_first) return sum(a_, m, n, term, false);
    return sum(a_, m, n, 0.0F, false) + term;
  }

  /// d s_a s_b of a block, exact in binary64 for the scales of these cases, rounded once.
  float block_product(const CodedMatrix& a, std::int64_t m, std::int64_t n, std::int64_t block, bool residual) const {
    const std::int64_t length = profile_.block.cols;
    double dot = 0.0;
    for (std::int64_t k = block * length; k < (block + 1) * length; ++k) dot += a.value(m, k) * b_.value(n, k);
    const bool skips =
        fault_ == ProductFault::nan_scale_skipped || (residual && fault_ == ProductFault::nan_residual_skipped);
    if (std::isnan(dot) && skips) return 0.0F;
    const bool divides = fault_ == ProductFault::divided_each && stack_.three_quarters;
    return static_cast<float>(divides ? dot / 0.5625 : dot);
  }

  float weighted(const CodedMatrix& a, std::int64_t m, std::int64_t n, std::int64_t k, float part) const {
    if (!stack_.macro.is_on() || fault_ == ProductFault::weights_at_the_end) return part;
    const float of_b = fault_ == ProductFault::weights_of_a_alone ? 1.0F : b_.weight(n, k);
    if (fault_ == ProductFault::weights_not_rounded) {
      return static_cast<float>(double{part} * (double{a.weight(m, k)} * double{of_b}));
    }
    const float weight = a.weight(m, k) * of_b;
    return part * weight;
  }

  std::int64_t slice() const {
    const std::int64_t length = profile_.block.cols;
    if (!stack_.macro.is_on() || fault_ == ProductFault::slices_not_summed) return length;
    if (fault_ == ProductFault::slices_of_half) return std::max<std::int64_t>(stack_.macro.size / 2, length);
    return stack_.macro.size;
  }

  float sum(const CodedMatrix& a, std::int64_t m, std::int64_t n, float start, bool residual) const {
    const std::int64_t length = profile_.block.cols;
    const bool chunked = spec_.accumulator == "seq512" && fault_ != ProductFault::one_chunk;
    float total = 0.0F;
    float acc = start;
    float part = 0.0F;
    bool first = true;
    for (std::int64_t block = 0; block < a.blocks(); ++block) {
      const std::int64_t end = (block + 1) * length;
      const bool last = end == spec_.columns;
      part += block_product(a, m, n, block, residual);
      if (end % slice() == 0 || last) {
        acc += weighted(a, m, n, end - 1, part);
        part = 0.0F;
      }
      if ((chunked && end % 512 == 0) || last) {
        total = first ? acc : total + acc;
        first = false;
        acc = 0.0F;
      }
    }
    if (fault_ == ProductFault::weights_at_the_end) total *= a.weight(m, 0) * b_.weight(n, 0);
    return stack_.three_quarters && fault_ != ProductFault::divided_each ? total / 0.5625F : total;
  }

  CorrectionStack stack_;
  Profile profile_;
  GroupSpec spec_;
  ProductFault fault_;
  CodedMatrix a_;
  CodedMatrix b_;
  CodedMatrix second_;
};

}  // namespace fp4proof::suite::naive
