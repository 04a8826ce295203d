#include "conformance/study/distributions.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>

#include "conformance/profiles/nearest_name.h"
#include "formats/float_bits.h"
#include "formats/philox.h"
#include "formats/strict_math.h"

namespace fp4proof {

namespace {

struct Name {
  std::string_view name;
  DistributionKind kind;
};

constexpr auto names = std::to_array<Name>({{"gaussian", DistributionKind::gaussian},
                                            {"student-t4", DistributionKind::student_t},
                                            {"laplace", DistributionKind::laplace},
                                            {"uniform", DistributionKind::uniform},
                                            {"lognormal", DistributionKind::lognormal},
                                            {"outlier-channels", DistributionKind::outlier_channels}});

constexpr std::string_view student_prefix = "student-t";

// ---------------------------------------------------------------------------------------------------------------------
// Drawing
// ---------------------------------------------------------------------------------------------------------------------

/// Where random words come from.
struct Source {
  std::uint64_t seed;
  std::uint32_t step;
  float normal(std::uint64_t element) const { return random_normal(seed, Stream::eval, step, element); }
  PhiloxBlock block(std::uint64_t index) const { return random_block(seed, Stream::eval, step, 4 * index); }
  std::uint32_t word(std::uint64_t element) const { return random_word(seed, Stream::eval, step, element); }
};

/// log of (word + 1/2) 2^-32.
double log_uniform(std::uint32_t word) { return strict::log_double((static_cast<double>(word) + 0.5) * 0x1p-32); }

/// n / sqrt(chi^2 / degrees): chi^2 is -2 times the sum of degrees / 2 logarithms of uniform numbers.
float student_t(const Source& source, std::uint32_t degrees, std::uint64_t element) {
  const std::uint32_t logarithms = degrees / 2;
  const std::uint64_t blocks = (2 + logarithms + 3) / 4;
  PhiloxBlock block = source.block(element * blocks);
  const double normal = double{normals_from_words(block.word[0], block.word[1]).cosine};
  double sum = 0;
  for (std::uint32_t i = 0; i < logarithms; ++i) {
    const std::uint32_t place = 2 + i;
    if (place % 4 == 0) block = source.block(element * blocks + place / 4);
    sum += log_uniform(block.word[place % 4]);
  }
  return static_cast<float>(normal / strict::sqrt_double(-2.0 * sum / degrees));
}

float laplace(std::uint32_t word) {
  const double magnitude = -strict::log_double((static_cast<double>(word >> 1) + 0.5) * 0x1p-31);
  return static_cast<float>((word & 1U) != 0 ? -magnitude : magnitude);
}

float uniform(std::uint32_t word) { return static_cast<float>((static_cast<double>(word) + 0.5) * 0x1p-31 - 1.0); }

float lognormal(const Source& source, float log_sigma, std::uint64_t element) {
  const PhiloxBlock block = source.block(element);
  const float magnitude = strict::exp(log_sigma * normals_from_words(block.word[0], block.word[1]).cosine);
  return (block.word[2] >> 31) != 0 ? -magnitude : magnitude;
}

bool is_outlier(const Distribution& distribution, std::int64_t column) {
  return distribution.kind == DistributionKind::outlier_channels && column % distribution.period == 0;
}

float draw_one(const Distribution& distribution, const Source& source, std::uint64_t element) {
  switch (distribution.kind) {
    case DistributionKind::gaussian:
    case DistributionKind::outlier_channels: return source.normal(element);
    case DistributionKind::student_t: return student_t(source, distribution.degrees, element);
    case DistributionKind::laplace: return laplace(source.word(element));
    case DistributionKind::uniform: return uniform(source.word(element));
    case DistributionKind::lognormal: return lognormal(source, distribution.log_sigma, element);
  }
  return 0;
}

// ---------------------------------------------------------------------------------------------------------------------
// Names
// ---------------------------------------------------------------------------------------------------------------------

std::string joined(std::span<const std::string> words) { return fmt::format("{}", fmt::join(words, ", ")); }

/// The keys that a kind takes.
std::vector<std::string> keys_of(DistributionKind kind) {
  switch (kind) {
    case DistributionKind::lognormal: return {"scale", "log-sigma"};
    case DistributionKind::outlier_channels: return {"scale", "gain", "period"};
    default: return {"scale"};
  }
}

template <class Number>
bool read_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

bool read_positive(std::string_view text, float& number) {
  return read_number(text, number) && std::isfinite(number) && number > 0;
}

bool read_count(std::string_view text, std::uint32_t low, std::uint32_t high, std::uint32_t& number) {
  return read_number(text, number) && number >= low && number <= high;
}

Result<Distribution> named_distribution(std::string_view word) {
  Distribution distribution;
  if (word.starts_with(student_prefix)) {
    distribution.kind = DistributionKind::student_t;
    const bool good = read_count(word.substr(student_prefix.size()), 2, 64, distribution.degrees);
    if (good && distribution.degrees % 2 == 0) return distribution;
    return Error{
        ErrorKind::usage,
        fmt::format("'{}': the degrees of freedom must be an even number from 2 to 64, as in student-t4", word)};
  }
  for (const Name& name : names) {
    distribution.kind = name.kind;
    if (name.name == word) return distribution;
  }
  return Error{ErrorKind::usage, fmt::format("'{}' is no distribution{}; there are {}", word,
                                             did_you_mean(word, distribution_names()), joined(distribution_names()))};
}

/// What a key accepts, and the storing of it.
Result<void> store(Distribution& distribution, std::string_view key, std::string_view value) {
  bool good = false;
  std::string_view wanted = "a number above zero";
  if (key == "scale") {
    good = read_positive(value, distribution.scale);
  } else if (key == "log-sigma") {
    wanted = "a number above zero, at most 10";
    good = read_positive(value, distribution.log_sigma) && distribution.log_sigma <= 10.0F;
  } else if (key == "gain") {
    good = read_positive(value, distribution.gain);
  } else {
    wanted = "a whole number from 1 to 65536";
    good = read_count(value, 1, 65536, distribution.period);
  }
  if (good) return {};
  return Error{ErrorKind::usage, fmt::format("'{}={}': {} must be {}", key, value, key, wanted)};
}

Result<void> store_all(Distribution& distribution, std::string_view text) {
  const std::vector<std::string> keys = keys_of(distribution.kind);
  std::vector<std::string_view> seen;
  while (true) {
    const std::string_view pair = text.substr(0, text.find(','));
    const std::size_t equals = pair.find('=');
    const std::string_view key = pair.substr(0, equals);
    if (equals == std::string_view::npos || std::find(keys.begin(), keys.end(), key) == keys.end()) {
      return Error{ErrorKind::usage, fmt::format("'{}' is no parameter of '{}'{}; write KEY=VALUE, the keys are {}",
                                                 pair, names[static_cast<std::size_t>(distribution.kind)].name,
                                                 did_you_mean(key, keys), joined(keys))};
    }
    if (std::find(seen.begin(), seen.end(), key) != seen.end())
      return Error{ErrorKind::usage, fmt::format("the parameter '{}' is given twice; keep one", key)};
    seen.push_back(key);
    const Result<void> stored = store(distribution, key, pair.substr(equals + 1));
    if (!stored) return stored;
    if (pair.size() == text.size()) return {};
    text.remove_prefix(pair.size() + 1);
  }
}

}  // namespace

portable::TensorView Bf16Matrix::view() const {
  return {portable::DType::bf16, shape, reinterpret_cast<const std::byte*>(words.data())};
}

float Bf16Matrix::at(std::size_t index) const { return bf16_to_float(words[index]); }

std::vector<std::string> distribution_names() {
  std::vector<std::string> result;
  for (const Name& name : names) result.emplace_back(name.name);
  return result;
}

Result<Distribution> parse_distribution(std::string_view text) {
  const std::size_t colon = text.find(':');
  const Result<Distribution> named = named_distribution(text.substr(0, colon));
  if (!named) return named;
  Distribution distribution = *named;
  if (colon != std::string_view::npos) {
    const Result<void> stored = store_all(distribution, text.substr(colon + 1));
    if (!stored) return stored.error();
  }
  return distribution;
}

std::string name_of(const Distribution& distribution) {
  std::string name(names[static_cast<std::size_t>(distribution.kind)].name);
  if (distribution.kind == DistributionKind::student_t)
    name = fmt::format("{}{}", student_prefix, distribution.degrees);
  const Distribution standard = {.kind = distribution.kind};
  char separator = ':';
  const auto add = [&](std::string_view key, auto value, auto usual) {
    if (value == usual) return;
    name += fmt::format("{}{}={}", separator, key, value);
    separator = ',';
  };
  add("scale", distribution.scale, standard.scale);
  add("log-sigma", distribution.log_sigma, standard.log_sigma);
  add("gain", distribution.gain, standard.gain);
  add("period", distribution.period, standard.period);
  return name;
}

Bf16Matrix draw(const Distribution& distribution, std::int64_t rows, std::int64_t columns, std::uint64_t seed,
                std::uint32_t step) {
  Bf16Matrix matrix{{rows, columns}, std::vector<std::uint16_t>(static_cast<std::size_t>(rows * columns))};
  const Source source{seed, step};
#pragma omp parallel for schedule(static)
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      const auto element = static_cast<std::size_t>(row * columns + column);
      float value = draw_one(distribution, source, element) * distribution.scale;
      if (is_outlier(distribution, column)) value *= distribution.gain;
      matrix.words[element] = float_to_bf16(value);
    }
  }
  return matrix;
}

}  // namespace fp4proof
