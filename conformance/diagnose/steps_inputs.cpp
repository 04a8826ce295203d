#include <algorithm>
#include <cstring>
#include <span>

#include "conformance/diagnose/model_values.h"
#include "conformance/diagnose/steps.h"
#include "conformance/suite/drafts.h"

namespace fp4proof::diagnose {

namespace {

using suite::CaseTensor;

std::uint32_t changed_word(WordChange change, std::uint32_t word) {
  const float value = float_from_bits(word);
  const std::uint32_t sign = word & float_sign_mask;
  switch (change) {
    case WordChange::flushed: return (word & float_infinity_bits) == 0 ? sign : word;
    case WordChange::binary16: return float_bits(round_to_binary16(value));
    case WordChange::bf16_truncated: return is_nan_bits(word) ? word : word & 0xFFFF0000U;
    case WordChange::infinity_largest: return is_inf_bits(word) ? sign | (float_infinity_bits - 1) : word;
    case WordChange::nan_infinity: return is_nan_bits(word) ? sign | float_infinity_bits : word;
  }
  return word;
}

}  // namespace

void change_words(Working& working, int parameter) {
  CaseTensor* input = working.cases.find("input");
  if (input == nullptr) return;
  for (std::size_t i = 0; i + 4 <= input->bytes.size(); i += 4) {
    std::uint32_t word = 0;
    std::memcpy(&word, &input->bytes[i], 4);
    word = changed_word(static_cast<WordChange>(parameter), word);
    std::memcpy(&input->bytes[i], &word, 4);
  }
}

void transpose_input(Working& working, int parameter) {
  if (parameter == 1 && working.cases.spec.axis != 0) return;
  for (CaseTensor& tensor : working.cases.tensors) {
    if (tensor.name != "input" && tensor.name != "random") continue;
    const auto rows = static_cast<std::size_t>(working.cases.spec.rows);
    const auto columns = static_cast<std::size_t>(working.cases.spec.columns);
    for (std::size_t i = 0; i < working.cases.size(); ++i) {
      // What lies column after column is a [columns, rows] matrix row after row.
      const auto words = suite::transposed(copy_elements<std::uint32_t>(tensor.of_case(i)), columns, rows);
      std::memcpy(&tensor.bytes[i * tensor.case_bytes()], words.data(), tensor.case_bytes());
    }
  }
}

void exchange_operands(Working& working, int parameter) {
  for (CaseTensor& a : working.cases.tensors) {
    if (!a.name.starts_with("a_") || (parameter == 1 && !a.name.ends_with("_scales"))) continue;
    CaseTensor* b = working.cases.find("b_" + a.name.substr(2));
    if (b != nullptr && b->case_shape == a.case_shape) std::swap(a.bytes, b->bytes);
  }
}

}  // namespace fp4proof::diagnose
