#include "conformance/divergence/sum_orders.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "reference/portable/gemm_rounded_sum.h"

namespace fp4proof::training {

namespace {

/// Longer sums have too many pairs of neighbours to try them all.
constexpr std::size_t most_swapped_terms = 8192;

float add(float sum, double term) { return portable::rounded_sum(term, double{sum}); }

float sum_of_chunk(const std::vector<double>& terms, std::size_t first, std::size_t last) {
  float sum = 0.0F;
  for (std::size_t i = first; i < last; ++i) sum = add(sum, terms[i]);
  return sum;
}

float with_terms(const LongSum& sum, std::vector<double> terms) {
  return LongSum{std::move(terms), sum.chunk, sum.term_name}.total();
}

/// `width` sums side by side, folded in halves at the end.
float interleaved(const std::vector<double>& terms, std::size_t width) {
  std::vector<float> lanes(width, 0.0F);
  for (std::size_t i = 0; i < terms.size(); ++i) lanes[i % width] = add(lanes[i % width], terms[i]);
  for (; width > 1; width /= 2) {
    for (std::size_t lane = 0; lane < width / 2; ++lane) lanes[lane] += lanes[lane + width / 2];
  }
  return lanes.front();
}

/// Neighbours, then pairs of neighbours.
float pairwise(const std::vector<double>& terms) {
  std::vector<float> sums(terms.begin(), terms.end());
  while (sums.size() > 1) {
    for (std::size_t i = 0; i < sums.size() / 2; ++i) sums[i] = sums[2 * i] + sums[2 * i + 1];
    if (sums.size() % 2 != 0) sums[sums.size() / 2] = sums.back();
    sums.resize((sums.size() + 1) / 2);
  }
  return sums.empty() ? 0.0F : sums.front();
}

/// The sum under one small change a term, tried for every term.
class Variants {
 public:
  Variants(const LongSum& sum, const std::function<std::uint32_t(float)>& finish, std::uint32_t wanted)
      : sum_(&sum), finish_(&finish), wanted_(wanted) {}

  void whole(const std::string& what, float total) {
    if ((*finish_)(total) == wanted_) found_.push_back(what);
  }

  /// `change` makes another list of terms around place i of the chunk that holds it.
  template <class Change>
  void each(const std::string& what, std::size_t reach, Change change) {
    if (sum_->terms.size() > most_swapped_terms) return;
    std::vector<float> totals;
    for (std::size_t first = 0; first < sum_->terms.size(); first += sum_->chunk) {
      totals.push_back(sum_of_chunk(sum_->terms, first, end_of(first)));
    }
    for (std::size_t i = 0; i + reach <= sum_->terms.size(); ++i) {
      const std::size_t chunk = i / sum_->chunk;
      const std::size_t first = chunk * sum_->chunk;
      if (i + reach > end_of(first)) continue;
      std::vector<double> terms(sum_->terms.begin() + static_cast<std::ptrdiff_t>(first),
                                sum_->terms.begin() + static_cast<std::ptrdiff_t>(end_of(first)));
      change(terms, i - first);
      const float kept = std::exchange(totals[chunk], sum_of_chunk(terms, 0, terms.size()));
      whole(fmt::format(fmt::runtime(what), i, i + 1), joined(totals));
      totals[chunk] = kept;
    }
  }

  std::vector<std::string> take() { return std::move(found_); }

 private:
  std::size_t end_of(std::size_t first) const { return std::min(first + sum_->chunk, sum_->terms.size()); }
  static float joined(const std::vector<float>& totals) {
    return std::accumulate(totals.begin() + 1, totals.end(), totals.front());
  }

  const LongSum* sum_;
  const std::function<std::uint32_t(float)>* finish_;
  std::uint32_t wanted_;
  std::vector<std::string> found_;
};

}  // namespace

std::vector<float> LongSum::partial_sums() const {
  std::vector<float> sums;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    sums.push_back(add(i % chunk == 0 ? 0.0F : sums.back(), terms[i]));
  }
  return sums;
}

float LongSum::total() const {
  float total = 0.0F;
  for (std::size_t first = 0; first < terms.size(); first += chunk) {
    const float sum = sum_of_chunk(terms, first, std::min(first + chunk, terms.size()));
    total = first == 0 ? sum : total + sum;
  }
  return total;
}

std::vector<std::string> orders_that_give(const LongSum& sum, const std::function<std::uint32_t(float)>& finish,
                                          std::uint32_t wanted) {
  if (sum.terms.empty()) return {};
  const std::string& name = sum.term_name;
  Variants variants(sum, finish, wanted);
  variants.each(name + "s {} and {} are added in the other order", 2,
                [](std::vector<double>& terms, std::size_t i) { std::swap(terms[i], terms[i + 1]); });
  variants.each(name + " {} is left out", 1, [](std::vector<double>& terms, std::size_t i) { terms[i] = 0.0; });
  variants.each(name + " {} counts twice", 1, [](std::vector<double>& terms, std::size_t i) {
    terms.insert(terms.begin() + static_cast<std::ptrdiff_t>(i), terms[i]);
  });
  variants.each(name + " {} is rounded before it is added", 1,
                [](std::vector<double>& terms, std::size_t i) { terms[i] = double{static_cast<float>(terms[i])}; });
  if (sum.terms.size() > sum.chunk) {
    variants.whole("no new sum after 512 elements", LongSum{sum.terms, sum.terms.size(), name}.total());
  }
  variants.whole(name + "s are added from the last to the first",
                 with_terms(sum, {sum.terms.rbegin(), sum.terms.rend()}));
  variants.whole(name + "s are added in pairs, and the sums in pairs", pairwise(sum.terms));
  for (std::size_t width = 2; width <= 32; width *= 2) {
    variants.whole(fmt::format("{}s are added in {} sums side by side, folded at the end", name, width),
                   interleaved(sum.terms, width));
  }
  return variants.take();
}

}  // namespace fp4proof::training
