#pragma once
// One operator on two tables of training operators: the same inputs, and every byte of the outputs compared.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "conformance/training/operators.h"
#include "formats/float_bits.h"
#include "formats/philox.h"

namespace fp4proof::training {

/// Normal numbers times `scale`.
inline std::vector<float> normals(std::int64_t count, std::uint32_t salt, float scale = 1.0F) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = scale * random_normal(11, Stream::cases, salt, i);
  return values;
}

/// The same, but any word of binary32 now and then: NaN, infinities, subnormals, huge and tiny numbers.
inline std::vector<float> with_specials(std::vector<float> values, std::size_t every) {
  constexpr std::uint32_t listed[] = {0x7F800000U, 0xFF800000U, 0x7FC12345U, 0xFF812345U, 0x80000000U,
                                      0x00000001U, 0x807FFFFFU, 0x7F7FFFFFU, 0x00800000U, 0x00000000U};
  for (std::size_t i = every / 2; i < values.size(); i += every) {
    const std::size_t turn = i / every;
    values[i] =
        float_from_bits(turn % 2 == 0 ? listed[turn / 2 % std::size(listed)] : random_word(13, Stream::cases, 1, i));
  }
  return values;
}

inline std::vector<std::int32_t> integers(std::int64_t count, std::int32_t below, std::uint32_t salt) {
  std::vector<std::int32_t> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<std::int32_t>(random_word(17, Stream::cases, salt, i) % static_cast<std::uint32_t>(below));
  }
  return values;
}

/// What a run of a body gave.
struct Output {
  std::string name;
  std::size_t element_bytes;
  std::vector<std::byte> bytes;
};

/// The memory of one run on one table. Outputs are compared by compare_tables() in the order in which they were made.
class TableRun {
 public:
  explicit TableRun(const fp4proof_training& table) : operators_(table) {}

  template <class T>
  const T* input(const std::vector<T>& values) {
    return keep(operators_.upload<T>(values));
  }
  /// Filled with 0xA5 first, or with `start`, and a margin behind it that nobody may write.
  template <class T>
  T* output(const std::string& name, std::int64_t count, const std::vector<T>& start = {}) {
    constexpr std::size_t margin = 64;
    std::vector<T> filling(static_cast<std::size_t>(count) + margin);
    std::memset(filling.data(), 0xA5, filling.size() * sizeof(T));
    std::copy(start.begin(), start.end(), filling.begin());
    T* const place = keep(operators_.upload<T>(filling));
    readers_.push_back([this, name, place, filling] {
      std::vector<T> values = filling;
      EXPECT_EQ(operators_.table().copy_out(values.data(), place, values.size() * sizeof(T)), FP4PROOF_OK);
      Output output{name, sizeof(T), std::vector<std::byte>(values.size() * sizeof(T))};
      std::memcpy(output.bytes.data(), values.data(), output.bytes.size());
      return output;
    });
    return place;
  }
  template <class Call>
  void call(fp4proof_status (*fp4proof_training::*function)(const Call*), Call arguments) {
    operators_.call(function, "operator", arguments);
  }

  std::vector<Output> outputs() {
    std::vector<Output> result;
    for (const auto& reader : readers_) result.push_back(reader());
    return result;
  }
  /// What went wrong, or nothing.
  std::string problem() const {
    const auto checked = operators_.check();
    return checked ? "" : checked.error().message;
  }

 private:
  template <class T>
  T* keep(Memory<T> memory) {
    T* const place = memory.get();
    kept_.push_back(std::make_shared<Memory<T>>(std::move(memory)));
    return place;
  }

  Operators operators_;
  std::vector<std::shared_ptr<void>> kept_;
  std::vector<std::function<Output()>> readers_;
};

inline void expect_same(const Output& expected, const Output& found, const std::string& what) {
  ASSERT_EQ(expected.bytes.size(), found.bytes.size()) << what;
  const std::size_t size = expected.element_bytes;
  std::size_t differing = 0;
  std::size_t first = 0;
  for (std::size_t i = expected.bytes.size(); i >= size; i -= size) {
    if (std::memcmp(&expected.bytes[i - size], &found.bytes[i - size], size) == 0) continue;
    first = i / size - 1;
    ++differing;
  }
  if (differing == 0) return;
  std::uint64_t words[2] = {};
  std::memcpy(&words[0], &expected.bytes[first * size], size);
  std::memcpy(&words[1], &found.bytes[first * size], size);
  ADD_FAILURE() << what << ", " << expected.name << ": " << differing << " of " << expected.bytes.size() / size
                << " elements differ, the first is number " << first << ": " << std::hex << words[0] << " expected, "
                << words[1] << " found";
}

/// Runs `body` on both tables. Every output byte of the second must be that of the first.
template <class Body>
void compare_tables(const fp4proof_training& reference, const fp4proof_training& device, const std::string& what,
                    const Body& body) {
  TableRun expected(reference);
  TableRun found(device);
  body(expected);
  body(found);
  EXPECT_EQ(expected.problem(), "") << what;
  EXPECT_EQ(found.problem(), "") << what;
  const std::vector<Output> first = expected.outputs();
  const std::vector<Output> second = found.outputs();
  ASSERT_EQ(first.size(), second.size());
  ASSERT_FALSE(first.empty());
  for (std::size_t i = 0; i < first.size(); ++i) expect_same(first[i], second[i], what);
}

}  // namespace fp4proof::training
