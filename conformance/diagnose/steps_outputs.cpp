#include <algorithm>
#include <cmath>
#include <cstring>

#include "conformance/diagnose/model_values.h"
#include "conformance/diagnose/nan_scale.h"
#include "conformance/diagnose/steps.h"
#include "conformance/suite/drafts.h"
#include "conformance/verify/classify.h"
#include "formats/packing.h"

namespace fp4proof::diagnose {

namespace {

using suite::CaseTensor;

bool is_values(const CaseTensor& tensor) { return tensor.expected && (tensor.name == "values" || tensor.name == "c"); }

std::uint32_t changed_value(ValueChange change, std::uint32_t word) {
  const float value = float_from_bits(word);
  switch (change) {
    case ValueChange::bf16: return is_nan_bits(word) ? word : float_bits(round_to_bf16(value));
    case ValueChange::binary16: return float_bits(round_to_binary16(value));
    case ValueChange::flushed: return float_bits(flushed(value));
    case ValueChange::zero_unsigned: return word == float_sign_mask ? 0 : word;
    case ValueChange::nan_zero: return is_nan_bits(word) ? 0 : word;
    case ValueChange::nan_infinity: return is_nan_bits(word) ? float_infinity_bits : word;
    case ValueChange::overflow_clamped:
      return is_inf_bits(word) ? (word & float_sign_mask) | (float_infinity_bits - 1) : word;
  }
  return word;
}

std::uint8_t changed_code(const ElementSpec& spec, CodeChange change, std::uint8_t code) {
  const std::uint8_t sign = code & spec.sign_mask();
  const std::uint8_t magnitude = code & static_cast<std::uint8_t>(spec.sign_mask() - 1U);
  const unsigned all = 2U * spec.sign_mask() - 1U;
  switch (change) {
    case CodeChange::next: return static_cast<std::uint8_t>((code + 1U) & all);
    case CodeChange::previous: return static_cast<std::uint8_t>((code - 1U) & all);
    case CodeChange::larger: return magnitude >= spec.max_code ? code : static_cast<std::uint8_t>(code + 1);
    case CodeChange::smaller: return magnitude == 0 ? code : static_cast<std::uint8_t>(code - 1);
    case CodeChange::zero_unsigned: return magnitude == 0 ? 0 : code;
    case CodeChange::zero: return sign;
    case CodeChange::unsigned_all: return static_cast<std::uint8_t>(code ^ sign);
  }
  return code;
}

/// Calls change(index of the case, output bytes, answer given, bytes of one row) for every output tensor of every case.
template <class Change>
void for_each_output(Working& working, Change change) {
  const std::size_t answer_bytes = working.evidence.answer_bytes;
  std::size_t offset = 0;
  for (CaseTensor& tensor : working.cases.tensors) {
    if (!tensor.expected) continue;
    const std::size_t bytes = tensor.case_bytes();
    const std::size_t rows = tensor.case_shape.empty() ? 1 : tensor.case_shape.front();
    for (std::size_t i = 0; i < working.cases.size(); ++i) {
      const Bytes given = Bytes(working.evidence.actual).subspan(i * answer_bytes + offset, bytes);
      change(i, std::span(tensor.bytes).subspan(i * bytes, bytes), given, std::max<std::size_t>(1, bytes / rows));
    }
    offset += bytes;
  }
}

bool is_poison(Bytes bytes) {
  return std::ranges::all_of(bytes, [](std::uint8_t byte) { return byte == verify::poison_byte; });
}

/// Where the poison at the end of an answer begins.
std::size_t begin_of_poison(Bytes given) {
  std::size_t begin = given.size();
  while (begin > 0 && given[begin - 1] == verify::poison_byte) --begin;
  return begin;
}

/// The same; one byte of that value may be chance.
std::size_t begin_of_tail(Bytes given) {
  const std::size_t begin = begin_of_poison(given);
  return begin + 1 < given.size() || begin == 0 ? begin : given.size();
}

/// The first of the last rows that are all poison. A row of scales may be one byte.
std::size_t begin_of_rows(Bytes given, std::size_t row_bytes) {
  return (begin_of_poison(given) + row_bytes - 1) / row_bytes * row_bytes;
}

}  // namespace

void change_values(Working& working, int parameter) {
  for (CaseTensor& tensor : working.cases.tensors) {
    if (!is_values(tensor)) continue;
    for (std::size_t i = 0; i + 4 <= tensor.bytes.size(); i += 4) {
      const std::uint32_t word = changed_value(static_cast<ValueChange>(parameter), load_le32(&tensor.bytes[i]));
      store_le32(word, &tensor.bytes[i]);
    }
  }
}

void transpose_values(Working& working, int) {
  for (CaseTensor& tensor : working.cases.tensors) {
    if (!is_values(tensor)) continue;
    for (std::size_t i = 0; i < working.cases.size(); ++i) {
      const auto words = suite::transposed(copy_elements<std::uint32_t>(tensor.of_case(i)), tensor.case_shape[0],
                                           tensor.case_shape[1]);
      std::memcpy(&tensor.bytes[i * tensor.case_bytes()], words.data(), tensor.case_bytes());
    }
  }
}

void change_codes(Working& working, int parameter) {
  const ElementSpec spec = element_spec(working.profile.element);
  const auto change = static_cast<CodeChange>(parameter);
  for (CaseTensor& tensor : working.cases.tensors) {
    if (!tensor.expected || !tensor.name.ends_with("codes")) continue;
    for (std::uint8_t& byte : tensor.bytes) {
      const std::uint8_t low = changed_code(spec, change, spec.is_nibble() ? byte & 0xF : byte);
      byte = spec.is_nibble() ? static_cast<std::uint8_t>(low | changed_code(spec, change, byte >> 4) << 4) : low;
    }
  }
}

void change_codes_of_numbers(Working& working, int parameter) {
  const suite::CaseGroup right = working.cases;
  change_codes(working, parameter);
  CaseTensor* codes = working.cases.find("codes");
  const CaseTensor* scales = right.find("scales");
  if (codes == nullptr || scales == nullptr) return;
  const auto scale_size = static_cast<std::size_t>(scale_bytes(working.profile.family));
  const std::size_t block = working.profile.block.cols / (element_spec(working.profile.element).is_nibble() ? 2 : 1);
  for (std::size_t i = 0; i < scales->bytes.size() / scale_size; ++i) {
    if (!is_nan_scale(working.profile.family, scales->bytes[i * scale_size])) continue;
    std::copy_n(&right.find("codes")->bytes[i * block], block, &codes->bytes[i * block]);
  }
}

void add_to_scales(Working& working, int parameter) {
  const auto scale_size = static_cast<std::size_t>(scale_bytes(working.profile.family));
  for (CaseTensor& tensor : working.cases.tensors) {
    if (!tensor.expected || !tensor.name.ends_with("scales")) continue;
    for (std::size_t i = 0; i < tensor.bytes.size(); i += scale_size) {
      tensor.bytes[i] = static_cast<std::uint8_t>(tensor.bytes[i] + parameter);
    }
  }
}

void repeat_previous(Working& working, int) {
  std::size_t offset = 0;
  for (CaseTensor& tensor : working.cases.tensors) {
    if (!tensor.expected) continue;
    const std::size_t bytes = tensor.case_bytes();
    for (std::size_t i = 0; i < working.cases.size(); ++i) {
      const std::vector<std::uint8_t>& previous = working.evidence.kept[i]->previous;
      if (!previous.empty()) std::copy_n(&previous[offset], bytes, &tensor.bytes[i * bytes]);
    }
    offset += bytes;
  }
}

void write_zeros(Working& working, int) {
  for (CaseTensor& tensor : working.cases.tensors)
    if (tensor.expected) std::ranges::fill(tensor.bytes, std::uint8_t{0});
}

void leave_unwritten(Working& working, int parameter) {
  const auto arrangement = static_cast<Unwritten>(parameter);
  const std::size_t answer_bytes = working.evidence.answer_bytes;
  for_each_output(working, [&](std::size_t i, std::span<std::uint8_t> bytes, Bytes given, std::size_t row_bytes) {
    std::size_t begin = begin_of_tail(given);
    switch (arrangement) {
      case Unwritten::cases:
        begin = is_poison(Bytes(working.evidence.actual).subspan(i * answer_bytes, answer_bytes)) ? 0 : given.size();
        break;
      case Unwritten::tensors: begin = begin == 0 ? 0 : given.size(); break;
      case Unwritten::rows: begin = begin_of_rows(given, row_bytes); break;
      case Unwritten::tail: break;
      case Unwritten::scattered:
        for (std::size_t b = 0; b < bytes.size(); ++b)
          if (given[b] == verify::poison_byte) bytes[b] = verify::poison_byte;
        return;
    }
    std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(begin), bytes.end(), verify::poison_byte);
  });
}

}  // namespace fp4proof::diagnose
