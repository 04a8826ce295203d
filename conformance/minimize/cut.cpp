#include "conformance/minimize/cut.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "formats/packing.h"

namespace fp4proof::minimize {

namespace {

using suite::CaseTensor;
using suite::GroupSpec;

/// What decides about the shapes of a topic's tensors.
struct Rules {
  CorrectionStack stack;
  Profile profile;  ///< the effective one
};

Result<Rules> rules_of(const Topic& topic, const GroupSpec& spec) {
  const Result<CorrectionStack> stack = suite::stack_of(spec);
  if (!stack) return stack.error();
  return Rules{*stack, stack->effective(*topic.profile)};
}

std::int64_t row_count(const Topic& topic, const GroupSpec& spec) {
  return suite::reads_words(topic.operation) && spec.axis == 0 ? spec.columns : spec.rows;
}

std::int64_t axis_length(const Topic& topic, const GroupSpec& spec) {
  return suite::reads_words(topic.operation) && spec.axis == 0 ? spec.rows : spec.columns;
}

std::vector<Range> ranges(std::int64_t length, std::int64_t step) {
  std::vector<Range> parts;
  for (std::int64_t begin = 0; begin < length; begin += step) parts.push_back({begin, std::min(length, begin + step)});
  return parts;
}

std::int64_t total(const std::vector<Range>& parts) {
  std::int64_t sum = 0;
  for (const Range& part : parts) sum += part.size();
  return sum;
}

/// The bytes of a row of a coded tensor that belong to a range of elements.
Range bytes_of_range(const Rules& rules, const CaseTensor& tensor, const Range& elements) {
  if (tensor.name.ends_with("codes")) {
    const std::int64_t bits = element_spec(rules.profile.element).is_nibble() ? 4 : 8;
    return {elements.begin * bits / 8, elements.end * bits / 8};
  }
  if (tensor.name.ends_with("macro")) {
    const std::int64_t size = rules.stack.macro.size;
    return {elements.begin / size, (elements.end + size - 1) / size};
  }
  const auto bytes = static_cast<std::int64_t>(scale_bytes(rules.profile.family));
  const std::int64_t block = rules.profile.block.cols;
  return {elements.begin / block * bytes, elements.end / block * bytes};
}

std::vector<std::uint8_t> keep_coded(const Rules& rules, const CaseTensor& tensor,
                                     const std::vector<std::uint8_t>& bytes, const std::vector<Range>& rows,
                                     const std::vector<Range>& pieces) {
  const auto row_bytes = static_cast<std::int64_t>(bytes.size() / tensor.case_shape.front());
  std::vector<std::uint8_t> kept;
  for (const Range& part : rows) {
    for (std::int64_t row = part.begin; row < part.end; ++row) {
      for (const Range& piece : pieces) {
        const Range range = bytes_of_range(rules, tensor, piece);
        const auto begin = bytes.begin() + row * row_bytes;
        kept.insert(kept.end(), begin + range.begin, begin + range.end);
      }
    }
  }
  return kept;
}

/// Words of a matrix, by row across the block axis and place along it.
struct WordMatrix {
  std::int64_t rows = 0;
  std::int64_t length = 0;
  int axis = 1;
  std::vector<std::uint8_t> bytes;

  std::uint8_t* at(std::int64_t row, std::int64_t place) {
    return bytes.data() + 4 * (axis == 1 ? row * length + place : place * rows + row);
  }
};

std::vector<std::uint8_t> keep_words(WordMatrix from, const Parts& kept) {
  WordMatrix to{total(kept.rows), total(kept.pieces), from.axis, {}};
  to.bytes.resize(static_cast<std::size_t>(4 * to.rows * to.length));
  std::int64_t row = 0;
  for (const Range& part : kept.rows) {
    for (std::int64_t r = part.begin; r < part.end; ++r, ++row) {
      std::int64_t place = 0;
      for (const Range& piece : kept.pieces) {
        for (std::int64_t k = piece.begin; k < piece.end; ++k) std::memcpy(to.at(row, place++), from.at(r, k), 4);
      }
    }
  }
  return std::move(to.bytes);
}

}  // namespace

Result<Parts> parts_of(const Topic& topic, const GroupSpec& spec) {
  const Result<Rules> rules = rules_of(topic, spec);
  if (!rules) return rules.error();
  std::int64_t piece = std::max<std::int64_t>(rules->profile.block.cols, rules->stack.hadamard.size);
  if (suite::is_product(topic.operation)) piece = std::max<std::int64_t>(piece, rules->stack.macro.size);
  const std::int64_t tile = rules->profile.block.rows;
  Parts parts{ranges(row_count(topic, spec), tile), {}, ranges(axis_length(topic, spec), piece)};
  if (suite::is_product(topic.operation)) parts.other_rows = ranges(spec.other_rows, tile);
  return parts;
}

Result<Question> keep(const Topic& topic, const Question& question, const Parts& kept) {
  const Result<Rules> rules = rules_of(topic, question.spec);
  if (!rules) return rules.error();
  const auto tensors = suite::group_tensors(topic.operation, *topic.profile, question.spec);
  if (!tensors) return tensors.error();
  const bool words = suite::reads_words(topic.operation);
  Question smaller{question.spec, {}};
  const bool across = words && question.spec.axis == 0;
  (across ? smaller.spec.columns : smaller.spec.rows) = total(kept.rows);
  (across ? smaller.spec.rows : smaller.spec.columns) = total(kept.pieces);
  if (suite::is_product(topic.operation)) smaller.spec.other_rows = total(kept.other_rows);
  for (std::size_t t = 0; t < question.inputs.size(); ++t) {
    const CaseTensor& tensor = (*tensors)[t];
    const std::vector<std::uint8_t>& bytes = question.inputs[t];
    if (words) {
      smaller.inputs.push_back(keep_words(
          {row_count(topic, question.spec), axis_length(topic, question.spec), question.spec.axis, bytes}, kept));
    } else if (tensor.case_shape.empty()) {
      smaller.inputs.push_back(bytes);
    } else {
      const bool is_other = suite::is_product(topic.operation) && tensor.name.starts_with("b_");
      smaller.inputs.push_back(keep_coded(*rules, tensor, bytes, is_other ? kept.other_rows : kept.rows, kept.pieces));
    }
  }
  return smaller;
}

Result<Question> as_plain(const Topic& topic, const Question& question) {
  const Result<Rules> rules = rules_of(topic, question.spec);
  if (!rules) return rules.error();
  const std::int64_t rows = row_count(topic, question.spec);
  const std::int64_t length = axis_length(topic, question.spec);
  const auto rounded_up = [](std::int64_t value, std::int64_t step) { return (value + step - 1) / step * step; };
  Question plain{question.spec, {}};
  plain.spec.axis = 1;
  plain.spec.tail = portable::Tail::error;
  plain.spec.rows = rounded_up(rows, rules->profile.block.rows);
  plain.spec.columns = rounded_up(length, rules->profile.block.cols);
  for (const std::vector<std::uint8_t>& bytes : question.inputs) {
    WordMatrix from{rows, length, question.spec.axis, bytes};
    WordMatrix to{plain.spec.rows, plain.spec.columns, 1, {}};
    to.bytes.resize(static_cast<std::size_t>(4 * to.rows * to.length));
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t k = 0; k < length; ++k) std::memcpy(to.at(row, k), from.at(row, k), 4);
    plain.inputs.push_back(std::move(to.bytes));
  }
  return plain;
}

}  // namespace fp4proof::minimize
