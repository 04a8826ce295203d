#include "conformance/explain/hadamard_story.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "formats/philox.h"
#include "formats/strict_math.h"
#include "reference/portable/hadamard.h"

namespace fp4proof::explain {

namespace {

using Words = std::vector<std::uint32_t>;

std::uint32_t add(std::uint32_t a, std::uint32_t b) {
  return float_bits(strict::canonicalise_nan(float_from_bits(a) + float_from_bits(b)));
}

/// One stage of a whole group; every element keeps its own step.
void tell_stage(int h, Words& group, std::vector<HadamardTrace>& traces) {
  const Words before = group;
  for (std::size_t i = 0; i < group.size(); ++i) {
    const auto bit = static_cast<std::size_t>(h);
    const std::size_t partner = i ^ bit;
    const bool subtracts = (i & bit) != 0;
    const std::uint32_t own = subtracts ? before[i] ^ float_sign_mask : before[i];
    group[i] = subtracts ? add(before[partner], own) : add(own, before[partner]);
    traces[i].stages.push_back({h, static_cast<int>(partner), before[i], before[partner], subtracts, group[i]});
  }
}

bool is_negative_column(const HadamardSpec& spec, std::uint32_t product, std::int64_t column) {
  if (spec.signs == HadamardSigns::none) return false;
  const std::uint32_t step = spec.signs == HadamardSigns::fresh ? product : 0;
  const std::uint32_t word = random_word(spec.seed, Stream::hadamard, step, static_cast<std::uint64_t>(column));
  return (word & float_sign_mask) != 0;
}

Result<std::vector<HadamardTrace>> trace_group(const HadamardSpec& spec, std::uint32_t product,
                                               const portable::HadamardTransform& transform,
                                               std::span<const std::uint32_t> words, std::int64_t first_column) {
  Words group(words.begin(), words.end());
  std::vector<HadamardTrace> traces(group.size());
  for (std::size_t i = 0; i < group.size(); ++i) {
    traces[i].place = static_cast<int>(i);
    traces[i].negative = is_negative_column(spec, product, first_column + traces[i].place);
    if (traces[i].negative) group[i] ^= float_sign_mask;
    traces[i].signed_value = group[i];
  }
  for (int h = 1; h < spec.size; h *= 2) tell_stage(h, group, traces);
  Words answer(words.begin(), words.end());
  transform.forward(first_column, spec.size, answer.data());
  for (std::size_t i = 0; i < group.size(); ++i) {
    traces[i].value = float_bits(strict::canonicalise_nan(float_from_bits(group[i]) * hadamard_factor(spec)));
    if (traces[i].value == answer[i]) continue;
    return Error{ErrorKind::internal,
                 fmt::format("the explanation of the Hadamard transform differs from the reference in column {}: "
                             "0x{:08x} against 0x{:08x}; please report the inputs",
                             first_column + static_cast<std::int64_t>(i), traces[i].value, answer[i])};
  }
  return traces;
}

}  // namespace

float hadamard_factor(const HadamardSpec& spec) { return spec.size == 16 ? 0.25F : 0.125F; }

Result<std::vector<HadamardTrace>> trace_hadamard(const HadamardSpec& spec, std::uint32_t product,
                                                  std::span<const std::uint32_t> row, std::int64_t first,
                                                  std::int64_t count) {
  const portable::HadamardTransform transform(spec, product, static_cast<std::int64_t>(row.size()));
  std::vector<HadamardTrace> traces;
  for (std::int64_t group = first / spec.size * spec.size; group < first + count; group += spec.size) {
    const auto words = row.subspan(static_cast<std::size_t>(group), static_cast<std::size_t>(spec.size));
    auto told = trace_group(spec, product, transform, words, group);
    if (!told) return told.error();
    for (HadamardTrace& trace : *told) {
      const std::int64_t column = group + trace.place;
      if (column >= first && column < first + count) traces.push_back(std::move(trace));
    }
  }
  return traces;
}

}  // namespace fp4proof::explain
