#pragma once
// Smaller shapes: questions with fewer rows and a shorter block axis.

#include <cstdint>
#include <vector>

#include "conformance/minimize/question.h"
#include "formats/result.h"

namespace fp4proof::minimize {

/// Half-open range of rows, or of elements along the block axis.
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t size() const { return end - begin; }
};

/// The parts that a question may lose without cutting a block: rows of its matrix (tile rows under a 2D profile), rows
/// of the other matrix of a product, and pieces along the block axis. A piece is a block, a Hadamard group, or in a
/// product a macro block, whichever is longest. Rows are those across the block axis.
struct Parts {
  std::vector<Range> rows;
  std::vector<Range> other_rows;  ///< products only
  std::vector<Range> pieces;
};
Result<Parts> parts_of(const Topic& topic, const suite::GroupSpec& spec);

/// The question with these parts alone, in their order. The new shape may be one that the profile refuses.
Result<Question> keep(const Topic& topic, const Question& question, const Parts& kept);

/// The same rows and pieces with blocks along the columns and without padding: the matrix transposed where blocks ran
/// along the rows, and zeros in place of what is missing in the last block. Only for operations that read words.
Result<Question> as_plain(const Topic& topic, const Question& question);

}  // namespace fp4proof::minimize
