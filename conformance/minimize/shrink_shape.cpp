// Fewer rows and blocks.

#include <numeric>
#include <utility>

#include "conformance/minimize/cut.h"
#include "conformance/minimize/shrinker.h"

namespace fp4proof::minimize {

namespace {

constexpr std::size_t most_single_blocks = 4096;

bool is_refusal(const Error& error) { return error.kind == ErrorKind::usage; }

/// Appends a question that could be made; one of an impossible shape is left out.
Result<void> append(Result<Question> made, std::vector<Question>& questions) {
  if (made) {
    questions.push_back(*std::move(made));
    return {};
  }
  return is_refusal(made.error()) ? Result<void>() : made.error();
}

std::vector<Range> chosen(const std::vector<Range>& parts, const Indices& indices) {
  std::vector<Range> ranges;
  for (const std::size_t i : indices) ranges.push_back(parts[i]);
  return ranges;
}

/// All single blocks, or products of two of them.
std::vector<Parts> single_blocks(const Parts& all) {
  std::vector<Parts> singles;
  for (const Range& row : all.rows) {
    for (const Range& piece : all.pieces) {
      if (all.other_rows.empty()) singles.push_back({{row}, {}, {piece}});
      for (const Range& other : all.other_rows) singles.push_back({{row}, {other}, {piece}});
    }
  }
  return singles;
}

}  // namespace

Result<bool> Shrinker::take_single_block() {
  const Result<Parts> all = parts_of(topic(), question_.spec);
  if (!all) return all.error();
  const std::vector<Parts> singles = single_blocks(*all);
  if (singles.size() > most_single_blocks) return false;
  std::vector<Question> plain;
  std::vector<Question> same_axis;
  for (const Parts& single : singles) {
    Result<Question> kept = keep(topic(), question_, single);
    if (!kept) return kept.error();
    if (suite::reads_words(topic().operation)) {
      if (const auto done = append(as_plain(topic(), *kept), plain); !done) return done.error();
    }
    same_axis.push_back(*std::move(kept));
  }
  const Result<bool> taken = take_first(plain);
  return !taken || *taken ? taken : take_first(same_axis);
}

/// Delta debugging over the pieces along the block axis, the rows and the rows of the other matrix, one after another.
Result<void> Shrinker::shrink_parts() {
  for (std::vector<Range> Parts::*side : {&Parts::pieces, &Parts::rows, &Parts::other_rows}) {
    const Result<Parts> all = parts_of(topic(), question_.spec);
    if (!all) return all.error();
    const Question whole = question_;
    const std::vector<Range>& parts = (*all).*side;
    Indices items(parts.size());
    std::iota(items.begin(), items.end(), std::size_t{0});
    const auto first_of = [&](const std::vector<Indices>& lists) -> Result<std::optional<std::size_t>> {
      std::vector<Question> candidates;
      for (const Indices& list : lists) {
        Parts kept = *all;
        kept.*side = chosen(parts, list);
        const Result<Question> smaller = keep(topic(), whole, kept);
        if (!smaller) return smaller.error();
        candidates.push_back(*smaller);
      }
      const auto found = judge_.first_like(target_, candidates);
      if (!found || !*found) return found;
      question_ = std::move(candidates[**found]);
      ++steps_;
      return found;
    };
    if (const Result<Indices> done = shrink_list(std::move(items), first_of); !done) return done.error();
  }
  return {};
}

Result<void> Shrinker::shrink_shape() {
  const Result<bool> single = take_single_block();
  if (!single) return single.error();
  if (*single) return {};
  if (const Result<void> done = shrink_parts(); !done) return done;
  if (!suite::reads_words(topic().operation)) return {};
  std::vector<Question> plain;
  if (const auto done = append(as_plain(topic(), question_), plain); !done) return done;
  if (plain.empty() || plain.front() == question_) return {};
  const Result<bool> taken = take_first(plain);
  return taken ? Result<void>() : taken.error();
}

}  // namespace fp4proof::minimize
