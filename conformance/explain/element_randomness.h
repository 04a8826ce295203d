#pragma once
// The random words of elements. Internal to the explanation.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "conformance/explain/block_source.h"

namespace fp4proof::explain {

struct RandomWords {
  std::vector<std::uint32_t> words;  ///< one an element; empty where the profile does not round stochastically
  std::string source;                ///< for the reader
};

/// The index in its tensor of element i; nothing where the tensor has no such element.
using ElementAddress = std::function<std::optional<std::uint64_t>(std::size_t)>;

/// The words of `count` elements, of which the user gave the first `given`. `usage` error for random words that the
/// profile does not take, too few or too many.
Result<RandomWords> random_words(const Profile& profile, const Randomness& randomness, std::size_t given,
                                 std::size_t count, const ElementAddress& address);

}  // namespace fp4proof::explain
