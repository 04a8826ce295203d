#include "conformance/explain/element_randomness.h"

#include <fmt/format.h>

#include <algorithm>

#include "formats/philox.h"

namespace fp4proof::explain {

namespace {

constexpr Stream stream = Stream::sr_activation;

bool takes_random(const Profile& profile) { return profile.rounding == Rounding::stochastic; }

Result<void> check_random(const Profile& profile, const Randomness& randomness, std::size_t given, std::size_t size) {
  if (!randomness.words) return {};
  if (!takes_random(profile)) {
    return Error{ErrorKind::usage,
                 fmt::format("{} does not round stochastically and takes no random words", profile.name)};
  }
  const std::size_t count = randomness.words->size();
  if (count < given || count > size) {
    return Error{ErrorKind::usage, fmt::format("{} random words for {} values; give one each", count, given)};
  }
  return {};
}

std::string seed_text(std::uint64_t seed) {
  return fmt::format("Philox, seed {}, stream sr_activation, addressed by the element's index in the tensor", seed);
}

}  // namespace

Result<RandomWords> random_words(const Profile& profile, const Randomness& randomness, std::size_t given,
                                 std::size_t count, const ElementAddress& address) {
  if (const Result<void> fits = check_random(profile, randomness, given, count); !fits) return fits.error();
  RandomWords random;
  if (!takes_random(profile)) return random;
  random.words.resize(count);
  if (randomness.words) {
    std::copy(randomness.words->begin(), randomness.words->end(), random.words.begin());
    random.source = "words as given";
    return random;
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (const std::optional<std::uint64_t> element = address(i)) {
      random.words[i] = random_word(randomness.seed, stream, 0, *element);
    }
  }
  random.source = seed_text(randomness.seed);
  return random;
}

}  // namespace fp4proof::explain
