#include "reference/portable/correct.h"
#include "reference/portable/gemm.h"
#include "tests/gpu/evidence_host.h"
#include "tests/gpu/evidence_host_parts.h"

namespace fp4proof::evidence {

namespace {

portable::Accumulator accumulator_of(const GemmEntry& entry) {
  return entry.one_chunk ? portable::Accumulator::seq : portable::Accumulator::seq512;
}

portable::Corrected corrected(const Profile& profile, const CorrectionStack& stack, const Input& input,
                              std::int64_t batch) {
  const HostMatrix matrix(stack.effective(profile), input, batch, 0, input.shape.rows);
  return sound(portable::correct(profile, stack, matrix.view, {matrix.options, hadamard_product}));
}

std::uint64_t digest_of_numbers(std::int64_t first, const std::vector<float>& numbers) {
  return digest_of(Output::product, first * std::int64_t{sizeof(float)}, bytes_of(numbers));
}

/// The product of lines of A and of B, codes made of their places.
std::vector<float> made_product(const GemmEntry& entry, std::int64_t first_a, std::int64_t lines_a,
                                std::int64_t first_b, std::int64_t lines_b) {
  const Profile& profile = *entry.profile;
  const auto a = made_operand(profile, entry.scales, first_a, lines_a, entry.k, entry.seed);
  const auto b = made_operand(profile, entry.scales, first_b, lines_b, entry.k, entry.seed + 1);
  return sound(portable::gemm(profile, a, profile, b, accumulator_of(entry)));
}

std::uint64_t digest_of_tile(const GemmEntry& entry, int index) {
  const std::int64_t row = sampled_line(entry, index, 0);
  const std::int64_t column = sampled_line(entry, index, 1);
  const std::vector<float> c = made_product(entry, row, sampled_tile, column, sampled_tile);
  std::uint64_t sum = 0;
  for (std::int64_t i = 0; i < sampled_tile; ++i) {
    const auto begin = c.begin() + i * sampled_tile;
    sum += digest_of_numbers((row + i) * entry.n + column, std::vector<float>(begin, begin + sampled_tile));
  }
  return sum;
}

}  // namespace

std::uint64_t host_digest(const GemmEntry& entry) {
  std::uint64_t sum = 0;
  if (entry.tiles != 0) {
    for (int i = 0; i < entry.tiles; ++i) sum += digest_of_tile(entry, i);
    return sum;
  }
  for (std::int64_t b = 0; b < entry.batch; ++b) {
    const std::int64_t first = b * entry.m * entry.n;
    if (entry.operands == Operands::codes) {
      sum += digest_of_numbers(first, made_product(entry, b * entry.m, entry.m, b * entry.n, entry.n));
      continue;
    }
    const portable::Corrected left = corrected(*entry.profile, *entry.stack, input_a(entry), b);
    const portable::Corrected right = corrected(*entry.profile, entry.stack->without_residual(), input_b(entry), b);
    sum += digest_of_numbers(first, sound(portable::gemm(left, right, accumulator_of(entry))));
  }
  return sum;
}

std::uint64_t host_digest(const CorrectEntry& entry) {
  std::uint64_t sum = 0;
  for (std::int64_t b = 0; b < entry.input.shape.batch; ++b) {
    const portable::Corrected answer = corrected(*entry.profile, *entry.stack, entry.input, b);
    sum += digest_of_part(answer.first, answer.profile, b, false);
    if (answer.residual) sum += digest_of_part(*answer.residual, answer.profile, b, true);
    const std::vector<float> values = portable::dequantize(answer);
    const std::span<const std::uint8_t> bytes = bytes_of(values);
    sum += digest_of(Output::values, b * static_cast<std::int64_t>(bytes.size()), bytes);
  }
  return sum;
}

}  // namespace fp4proof::evidence
