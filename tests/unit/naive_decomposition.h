#pragma once
// The error decomposition as rules D1 to D5 of docs/rules-corrections.md word it, element by element in 113-bit
// numbers, with one fault built in on demand: what a kernel with that fault answers to a case of `decompose`.

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "conformance/suite/case_group.h"
#include "conformance/suite/correction_answers.h"
#include "formats/element.h"
#include "reference/portable/decompose.h"
#include "reference/portable/dequantize.h"

namespace fp4proof::suite::naive {

enum class SplitFault : std::uint8_t {
  none,
  ratio_rounded,            ///< the ideal unit m / max in binary32
  ties_down,                ///< ties of the ideal quantizer go to the lower neighbour
  deadzone_of_coded_scale,  ///< D is where Q(x) is 0
  ideal_is_coded,           ///< Q* is Q
  terms_in_bf16,
  terms_in_binary32,
  booked_as_grid,      ///< the deadzone is booked with the grid
  plain_order,         ///< sums run from left to right
  one_segment,         ///< 32 lanes, but no segments of 4096
  nan_in_sums,         ///< elements with NaN or infinity are not left out
  zero_blocks_divide,  ///< x / 0 in a block of zeros
};

__extension__ using Quad = __float128;

inline Quad magnitude(Quad value) { return value < 0 ? -value : value; }

/// One row of a decomposition.
class Split {
 public:
  Split(const Profile& profile, SplitFault fault) : profile_(profile), fault_(fault) {
    const ElementSpec spec = element_spec(profile.element);
    for (int code = 0; code <= spec.max_code; ++code) {
      grid_.push_back(double{decode_element(profile.element, static_cast<std::uint8_t>(code))});
    }
    largest_ = profile.family == Family::hif4 ? 4.0 * grid_.back() : grid_.back();
    odd_ = largest_;
    while (std::fmod(odd_, 2.0) == 0.0) odd_ /= 2.0;
    while (std::fmod(odd_, 1.0) != 0.0) odd_ *= 2.0;
    if (odd_ == 3.0) odd_ = 6.0;
  }

  Answer answer(const std::vector<float>& x, const std::vector<float>& q, const std::vector<std::uint32_t>& random) {
    std::vector<std::array<double, 3>> terms;
    std::array<std::uint32_t, 4> counts{};
    products_.clear();
    for (std::size_t k = 0; k < x.size(); ++k) terms.push_back(element(x, q, random, k, counts));
    std::vector<std::uint32_t> term_words;
    for (const auto& of_element : terms) {
      for (const double term : of_element) put(term, term_words);
    }
    std::vector<std::uint32_t> sum_words;
    for (std::size_t i = 0; i < 8; ++i) put(summed(i), sum_words);
    return {bytes(term_words), bytes(sum_words), bytes({counts.begin(), counts.end()})};
  }

 private:
  static std::vector<std::uint8_t> bytes(const std::vector<std::uint32_t>& words) {
    const Bytes view = bytes_of(words);
    return {view.begin(), view.end()};
  }

  static void put(double value, std::vector<std::uint32_t>& words) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    words.push_back(static_cast<std::uint32_t>(bits));
    words.push_back(static_cast<std::uint32_t>(bits >> 32));
  }

  static float maximum(const std::vector<float>& x, std::size_t begin, std::size_t end, bool finite) {
    float m = 0.0F;
    for (std::size_t k = begin; k < end; ++k) {
      const float a = std::fabs(x[k]);
      if (!std::isnan(a) && (!finite || std::isfinite(a)) && a > m) m = a;
    }
    return m;
  }

  /// Q*(x) in units of m / max, signs left out.
  Quad ideal(const std::vector<float>& x, std::size_t k, double m, std::uint32_t word) const {
    Quad scaled = magnitude(Quad(x[k])) * Quad(largest_);  // over m
    if (fault_ == SplitFault::ratio_rounded) {
      scaled = magnitude(Quad(x[k])) / Quad(static_cast<float>(m / largest_)) * Quad(m);
    }
    int levels = 0;
    if (profile_.family == Family::hif4) {
      const std::size_t eight = k - k % 8;
      const std::size_t four = k - k % 4;
      if (Quad(maximum(x, eight, eight + 8, false)) * 7 >= 4 * Quad(m)) levels = 1;
      if (Quad(maximum(x, four, four + 4, false)) * 7 >= (levels == 1 ? 4 : 2) * Quad(m)) ++levels;
    }
    const double step = std::ldexp(1.0, levels);
    return Quad(nearest(scaled / Quad(step), m, word)) * Quad(step);
  }

  /// The grid value next to scaled / m.
  double nearest(Quad scaled, double m, std::uint32_t word) const {
    if (scaled >= Quad(grid_.back()) * Quad(m)) return grid_.back();
    std::size_t low = 0;
    while (Quad(grid_[low + 1]) * Quad(m) <= scaled) ++low;
    const Quad above = (scaled - Quad(grid_[low]) * Quad(m)) * 2;
    const Quad gap = Quad(grid_[low + 1] - grid_[low]) * Quad(m);
    if (profile_.rounding == Rounding::stochastic) {
      const double range = std::ldexp(1.0, profile_.random_bits);
      const double needed = range - static_cast<double>(word >> (32 - profile_.random_bits));
      return above / 2 * Quad(range) >= Quad(needed) * gap ? grid_[low + 1] : grid_[low];
    }
    const bool up_at_tie = fault_ != SplitFault::ties_down && (profile_.rounding == Rounding::rna || low % 2 == 1);
    return above > gap || (above == gap && up_at_tie) ? grid_[low + 1] : grid_[low];
  }

  double difference(double a, double b, bool& inexact) const {
    if (fault_ == SplitFault::terms_in_bf16) {
      return double{float_from_bits(float_bits(static_cast<float>(a - b)) & 0xFFFF0000U)};
    }
    if (fault_ == SplitFault::terms_in_binary32) return double{static_cast<float>(a) - static_cast<float>(b)};
    const double d = a - b;
    const double b_of_d = a - d;  // two-sum: what d lost, exactly
    if ((a - (d + b_of_d)) + (b_of_d - b) != 0.0) inexact = true;
    return d;
  }

  std::array<double, 3> element(const std::vector<float>& x, const std::vector<float>& q,
                                const std::vector<std::uint32_t>& random, std::size_t k,
                                std::array<std::uint32_t, 4>& counts) {
    const auto length = std::size_t{profile_.block.cols};
    products_.emplace_back();
    const bool left_out = !std::isfinite(x[k]) || !std::isfinite(q[k]);
    if (left_out) ++counts[0];
    if (left_out && fault_ != SplitFault::nan_in_sums) return {0.0, 0.0, 0.0};
    const std::size_t begin = k - k % length;
    double m = double{maximum(x, begin, begin + length, true)};
    if (fault_ == SplitFault::zero_blocks_divide && m == 0.0) m = std::nan("");
    const Quad star = m > 0.0 && std::isfinite(m) ? ideal(x, k, m, random.empty() ? 0 : random[k]) : Quad(m) * 0;
    double ideal_value = static_cast<double>(star * Quad(m) * Quad(odd_) / Quad(largest_));
    if (std::signbit(x[k])) ideal_value = -ideal_value;
    const double fx = odd_ * double{x[k]};
    const double fq = odd_ * double{q[k]};
    if (fault_ == SplitFault::ideal_is_coded) ideal_value = fq;
    bool inexact = false;
    const double error = difference(fq, fx, inexact);
    const double scale = difference(fq, ideal_value, inexact);
    const double rest = difference(ideal_value, fx, inexact);
    const bool dead = fault_ == SplitFault::deadzone_of_coded_scale ? q[k] == 0.0F : star == 0;
    if (dead && x[k] != 0.0F) ++counts[1];
    if (q[k] == 0.0F && x[k] != 0.0F) ++counts[2];
    if (inexact) ++counts[3];
    const bool as_deadzone = dead && fault_ != SplitFault::booked_as_grid;
    const double deadzone = as_deadzone ? rest : 0.0;
    const double grid = as_deadzone ? 0.0 : rest;
    products_.back() = {fx * fx,     fq * fx,      error * error,   scale * scale, deadzone * deadzone,
                        grid * grid, scale * grid, scale * deadzone};
    return {scale, deadzone, grid};
  }

  double summed(std::size_t which) const {
    double total = 0.0;
    if (fault_ == SplitFault::plain_order) {
      for (const auto& products : products_) total += products[which];
      return total;
    }
    const std::size_t segment = fault_ == SplitFault::one_segment ? products_.size() : 4096;
    for (std::size_t begin = 0; begin < products_.size(); begin += segment) {
      std::array<double, 32> lanes{};
      for (std::size_t k = begin; k < std::min(begin + segment, products_.size()); ++k) {
        lanes[(k - begin) % 32] += products_[k][which];
      }
      for (std::size_t fold = 16; fold > 0; fold /= 2) {
        for (std::size_t i = 0; i < fold; ++i) lanes[i] += lanes[i + fold];
      }
      total += lanes[0];
    }
    return total;
  }

  Profile profile_;
  SplitFault fault_;
  std::vector<double> grid_;
  double largest_ = 0.0;
  double odd_ = 0.0;
  std::vector<std::array<double, 8>> products_;
};

/// What a kernel with that fault answers: terms, sums and counts of a case of one row.
inline Answer split_answer(const Profile& profile, const CaseGroup& group, std::size_t index, SplitFault fault) {
  const auto x = copy_elements<float>(group.find("input")->of_case(index));
  std::vector<std::uint32_t> random;
  if (const CaseTensor* words = group.find("random")) random = copy_elements<std::uint32_t>(words->of_case(index));
  const std::int64_t shape[] = {1, group.spec.columns};
  portable::QuantizeOptions options;
  options.random_words = random;
  const auto quantized =
      portable::quantize(profile, {portable::DType::f32, shape, reinterpret_cast<const std::byte*>(x.data())}, options);
  return Split(profile, fault).answer(x, portable::dequantize(profile, *quantized), random);
}

}  // namespace fp4proof::suite::naive
