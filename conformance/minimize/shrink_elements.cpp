// Fewer elements that are not zero, and simpler ones.

#include <algorithm>
#include <iterator>
#include <utility>

#include "conformance/minimize/shrinker.h"
#include "conformance/minimize/simpler.h"
#include "formats/float_bits.h"

namespace fp4proof::minimize {

namespace {

constexpr std::size_t most_pairs = 4096;

/// Each item together with a fixed one.
void add_pairs_with(std::size_t fixed, const Indices& items, std::vector<Indices>& lists) {
  for (const std::size_t i : items)
    if (i != fixed) lists.push_back({std::min(i, fixed), std::max(i, fixed)});
}

/// Factors of one product: an element of a row of A, and the one of a row of B that it meets.
void add_factor_pairs(const std::vector<Atom>& atoms, const Indices& items, std::vector<Indices>& lists) {
  for (const std::size_t a : items) {
    if (!atoms[a].tensor.starts_with("a_")) continue;
    for (const std::size_t b : items) {
      if (atoms[b].tensor.starts_with("b_") && atoms[b].place == atoms[a].place) lists.push_back({a, b});
      if (lists.size() > most_pairs) return;
    }
  }
}

/// Two products along one row: four factors.
void add_product_pairs(const std::vector<Indices>& products, std::vector<Indices>& lists) {
  for (std::size_t i = 0; i < products.size(); ++i) {
    for (std::size_t j = i + 1; j < products.size() && lists.size() < most_pairs; ++j) {
      Indices both = {products[i][0], products[i][1], products[j][0], products[j][1]};
      std::ranges::sort(both);
      both.erase(std::unique(both.begin(), both.end()), both.end());
      lists.push_back(std::move(both));
    }
  }
}

}  // namespace

Result<bool> Shrinker::take_first(std::span<const Question> candidates) {
  std::vector<Question> others;
  std::ranges::copy_if(candidates, std::back_inserter(others), [&](const Question& c) { return c != question_; });
  const auto found = judge_.first_like(target_, others);
  if (!found) return found.error();
  if (!*found) return false;
  question_ = std::move(others[**found]);
  ++steps_;
  return true;
}

Result<Profile> Shrinker::effective_profile() const {
  const Result<CorrectionStack> stack = suite::stack_of(question_.spec);
  if (!stack) return stack.error();
  return stack->effective(*topic().profile);
}

/// The question in which `kept` are the only ones of the elements `nonzero` that keep their value.
Question Shrinker::with_only(const std::vector<Atom>& atoms, const Indices& nonzero, const Indices& kept) const {
  Question smaller = question_;
  Indices dropped;
  std::ranges::set_difference(nonzero, kept, std::back_inserter(dropped));
  for (const std::size_t i : dropped) set_value(smaller, atoms[i], 0);
  return smaller;
}

/// None, one, the largest and another, two factors, two products.
Result<bool> Shrinker::take_few_elements(const std::vector<Atom>& atoms, const Indices& nonzero) {
  const auto take_lists = [&](const std::vector<Indices>& lists) {
    std::vector<Question> candidates;
    for (const Indices& list : lists) candidates.push_back(with_only(atoms, nonzero, list));
    return take_first(candidates);
  };
  std::vector<Indices> lists = {{}};
  for (const std::size_t i : nonzero) lists.push_back({i});
  if (const Result<bool> taken = take_lists(lists); !taken || *taken) return taken;
  lists.clear();
  if (suite::reads_words(topic().operation)) {
    const auto magnitude = [&](std::size_t i) { return value_of(question_, atoms[i]) & float_magnitude_mask; };
    add_pairs_with(*std::ranges::max_element(nonzero, {}, magnitude), nonzero, lists);
    return take_lists(lists);
  }
  if (!suite::is_product(topic().operation)) return false;
  add_factor_pairs(atoms, nonzero, lists);
  if (const Result<bool> taken = take_lists(lists); !taken || *taken) return taken;
  std::vector<Indices> two_products;
  add_product_pairs(lists, two_products);
  return take_lists(two_products);
}

Result<void> Shrinker::shrink_elements() {
  const Result<std::vector<Atom>> atoms = this->atoms();
  if (!atoms) return atoms.error();
  const auto nonzero_now = [&] {
    Indices nonzero;
    for (std::size_t i = 0; i < atoms->size(); ++i)
      if ((*atoms)[i].is_element() && value_of(question_, (*atoms)[i]) != 0) nonzero.push_back(i);
    return nonzero;
  };
  if (nonzero_now().empty()) return {};
  if (const Result<bool> few = take_few_elements(*atoms, nonzero_now()); !few) return few.error();
  const Indices nonzero = nonzero_now();
  const auto first_of = [&](const std::vector<Indices>& lists) -> Result<std::optional<std::size_t>> {
    std::vector<Question> candidates;
    for (const Indices& list : lists) candidates.push_back(with_only(*atoms, nonzero, list));
    const auto found = judge_.first_like(target_, candidates);
    if (found && *found) ++steps_;
    return found;
  };
  const Result<Indices> kept = shrink_list(nonzero, first_of);
  if (!kept) return kept.error();
  question_ = with_only(*atoms, nonzero, *kept);
  return {};
}

/// Each nonzero column to the first free one of its block, in all rows and matrices at once.
Result<void> Shrinker::move_to_front() {
  const Result<std::vector<Atom>> atoms = this->atoms();
  if (!atoms) return atoms.error();
  const Result<Profile> profile = effective_profile();
  if (!profile) return profile.error();
  const std::int64_t block = profile->block.cols;
  const auto moves = [](const Atom& atom) { return atom.is_element() || atom.role == Role::random; };
  std::int64_t columns = 0;
  for (const Atom& atom : *atoms)
    if (atom.is_element()) columns = std::max(columns, atom.place + 1);
  const auto is_free = [&](std::int64_t column) {
    return std::ranges::none_of(*atoms, [&](const Atom& atom) {
      return atom.is_element() && atom.place == column && value_of(question_, atom) != 0;
    });
  };
  for (std::int64_t from = 0; from < columns; ++from) {
    if (is_free(from)) continue;
    std::vector<Question> candidates;
    for (std::int64_t to = from / block * block; to < from; ++to) {
      if (!is_free(to)) continue;
      Question moved = question_;
      for (const Atom& atom : *atoms) {
        if (!moves(atom) || (atom.place != from && atom.place != to)) continue;
        const std::int64_t source = atom.place == from ? to : from;
        const auto other = std::ranges::find_if(*atoms, [&](const Atom& a) {
          return moves(a) && a.tensor == atom.tensor && a.row == atom.row && a.place == source;
        });
        set_value(moved, atom, value_of(question_, *other));
      }
      candidates.push_back(std::move(moved));
    }
    if (const Result<bool> taken = take_first(candidates); !taken) return taken.error();
  }
  return {};
}

/// All exponents of words at once, so that the largest comes toward 1.
Result<bool> Shrinker::simplify_exponents() {
  if (!suite::reads_words(topic().operation)) return false;
  const Result<std::vector<Atom>> atoms = this->atoms();
  if (!atoms) return atoms.error();
  const auto exponent = [](std::uint32_t word) { return static_cast<int>(word >> 23 & 0xFFU); };
  int largest = 0;
  for (const Atom& atom : *atoms)
    if (atom.role == Role::word) largest = std::max(largest, exponent(value_of(question_, atom)));
  std::vector<Question> candidates;
  for (int step = 127 - largest; step != 0; step /= 2) {
    Question shifted = question_;
    bool fits = true;
    for (const Atom& atom : *atoms) {
      const std::uint32_t word = value_of(question_, atom);
      if (atom.role != Role::word || (word & float_magnitude_mask) == 0) continue;
      const int wanted = exponent(word) + step;
      fits = fits && exponent(word) != 0 && wanted > 0 && wanted < 0xFF;
      set_value(shifted, atom, (word & ~float_infinity_bits) | static_cast<std::uint32_t>(wanted & 0xFF) << 23);
    }
    if (fits) candidates.push_back(std::move(shifted));
  }
  return take_first(candidates);
}

/// As many numbers that are no elements as will do at their simplest.
Result<void> Shrinker::simplify_rest(const Profile& profile, const std::vector<Atom>& atoms) {
  Indices items;
  for (std::size_t i = 0; i < atoms.size(); ++i) {
    const bool is_plain = value_of(question_, atoms[i]) == simplest_value(profile, atoms[i].role);
    if (!atoms[i].is_element() && !is_plain) items.push_back(i);
  }
  const Question whole = question_;
  const auto with_plain = [&](const Indices& kept) {
    Question plain = whole;
    for (const std::size_t i : items) {
      if (!std::ranges::binary_search(kept, i)) set_value(plain, atoms[i], simplest_value(profile, atoms[i].role));
    }
    return plain;
  };
  const std::vector<Question> all_plain = {with_plain({})};
  if (const Result<bool> taken = take_first(all_plain); !taken || *taken) return taken ? Result<void>() : taken.error();
  const auto first_of = [&](const std::vector<Indices>& lists) -> Result<std::optional<std::size_t>> {
    std::vector<Question> candidates;
    for (const Indices& list : lists) candidates.push_back(with_plain(list));
    const auto found = judge_.first_like(target_, candidates);
    if (found && *found) ++steps_;
    return found;
  };
  const Result<Indices> kept = shrink_list(items, first_of);
  if (!kept) return kept.error();
  question_ = with_plain(*kept);
  return {};
}

Result<bool> Shrinker::simplify_atom(const Profile& profile, const Atom& atom) {
  std::vector<Question> candidates;
  for (const std::uint32_t value : simpler_values(profile, atom.role, value_of(question_, atom))) {
    candidates.push_back(question_);
    set_value(candidates.back(), atom, value);
  }
  return take_first(candidates);
}

Result<void> Shrinker::simplify_values() {
  if (const Result<bool> done = simplify_exponents(); !done) return done.error();
  const Result<std::vector<Atom>> atoms = this->atoms();
  if (!atoms) return atoms.error();
  const Result<Profile> profile = effective_profile();
  if (!profile) return profile.error();
  if (const Result<void> plain = simplify_rest(*profile, *atoms); !plain) return plain;
  for (const Atom& atom : *atoms) {
    if (atom.is_element() && value_of(question_, atom) == 0) continue;
    if (const Result<bool> done = simplify_atom(*profile, atom); !done) return done.error();
  }
  return {};
}

}  // namespace fp4proof::minimize
