#include "conformance/explain/correction_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "conformance/explain/block_corner.h"
#include "conformance/explain/element_randomness.h"
#include "reference/portable/correct.h"

namespace fp4proof::explain {

namespace {

std::string shape_text(const ContextShape& shape) {
  return shape.rows == 1 ? fmt::format("{} in one row", shape.columns)
                         : fmt::format("{} in {} rows of {}", shape.count(), shape.rows, shape.columns);
}

/// What of a stack reaches beyond a single block, for a message.
std::string reach_text(const CorrectionStack& stack, const ContextShape& shape) {
  if (stack.macro.is_on() && stack.macro.size == shape.columns) return "a macro block";
  if (stack.hadamard.is_on() && stack.hadamard.size == shape.columns) return "a Hadamard group";
  return "a block";
}

Result<void> check_count(const Profile& effective, const CorrectionStack& stack, const ContextShape& shape,
                         std::size_t count) {
  const auto wanted = static_cast<std::size_t>(shape.count());
  const bool is_single_block = shape.count() == effective.block.size();
  if (count == wanted || (is_single_block && count < wanted)) return {};
  return Error{ErrorKind::usage,
               fmt::format("{} value{} for {} of stack {}, which takes {}; give {}{}, or a tensor with --from", count,
                           count == 1 ? "" : "s", reach_text(stack, shape), stack.name, shape_text(shape),
                           is_single_block ? "at most " : "", wanted)};
}

/// Rows [first, last) of the tensor whose numbers decide about a block.
struct RowSpan {
  std::int64_t first;
  std::int64_t last;
};

RowSpan rows_for(const Profile& profile, const CorrectionStack& stack, const portable::Geometry& geometry,
                 const Corner& corner) {
  const Profile effective = stack.effective(profile);
  const bool needs_all = stack.residual.mixes_rows() || effective.tensor_scale;
  if (needs_all) return {0, geometry.rows};
  std::int64_t height = std::max(profile.block.rows, effective.block.rows);
  if (stack.macro.is_on() && effective.block.is_2d()) height = std::max<std::int64_t>(height, stack.macro.size);
  const std::int64_t matrix = corner.row / geometry.matrix_rows * geometry.matrix_rows;
  const std::int64_t within = (corner.row - matrix) / height * height;
  return {matrix + within, matrix + std::min(within + height, geometry.matrix_rows)};
}

std::string block_text(const Profile& effective, std::int64_t block, const Corner& corner) {
  const std::string rows = effective.block.is_2d()
                               ? fmt::format("rows {}..{}", corner.row, corner.row + corner.rows - 1)
                               : fmt::format("row {}", corner.row);
  return fmt::format("block {}: {}, columns {}..{}", block, rows, corner.column, corner.column + corner.columns - 1);
}

Result<void> add_random(const Profile& profile, const CorrectionStack& stack, const Randomness& randomness,
                        const ElementAddress& address, CorrectionContext& context) {
  auto drawn = random_words(stack.effective(profile), randomness, context.given, context.words.size(), address);
  if (!drawn) return drawn.error();
  context.random = std::move(drawn->words);
  context.random_source = std::move(drawn->source);
  return {};
}

}  // namespace

ContextShape context_shape(const Profile& profile, const CorrectionStack& stack) {
  const Profile effective = stack.effective(profile);
  ContextShape shape{effective.block.rows, effective.block.cols};
  if (stack.hadamard.is_on()) shape.columns = std::max<std::int64_t>(shape.columns, stack.hadamard.size);
  if (stack.macro.is_on()) {
    shape.columns = std::max<std::int64_t>(shape.columns, stack.macro.size);
    if (effective.block.is_2d()) shape.rows = std::max<std::int64_t>(shape.rows, stack.macro.size);
  }
  return shape;
}

Result<CorrectionContext> context_of_values(const Profile& profile, const CorrectionStack& stack,
                                            std::span<const std::uint32_t> values, const Randomness& randomness,
                                            std::int64_t block) {
  if (const Result<void> checked = portable::check_stack(profile, stack); !checked) return checked.error();
  const Profile effective = stack.effective(profile);
  const ContextShape shape = context_shape(profile, stack);
  if (const Result<void> fits = check_count(effective, stack, shape, values.size()); !fits) return fits.error();
  CorrectionContext context;
  context.words.assign(values.begin(), values.end());
  context.words.resize(static_cast<std::size_t>(shape.count()));
  context.shape = {shape.rows, shape.columns};
  context.given = values.size();
  context.holds_all = true;
  const auto geometry = portable::cut_into_blocks(effective, context.shape, -1, portable::Tail::error);
  if (!geometry) return geometry.error();
  if (const Result<void> there = check_block(effective, *geometry, block); !there) return there.error();
  const Corner corner = corner_of(effective, *geometry, block);
  context.row = corner.row;
  context.column = corner.column;
  if (shape.count() != effective.block.size()) {
    context.source = fmt::format("{} of the values, {}", block_text(effective, block, corner), shape_text(shape));
  }
  const auto own_index = [](std::size_t i) { return std::optional<std::uint64_t>(i); };
  const Result<void> added = add_random(profile, stack, randomness, own_index, context);
  if (!added) return added.error();
  return context;
}

Result<CorrectionContext> context_of_tensor(const Profile& profile, const CorrectionStack& stack,
                                            const portable::TensorView& tensor, const BlockAddress& address,
                                            const Randomness& randomness) {
  if (const Result<void> checked = portable::check_stack(profile, stack); !checked) return checked.error();
  const Profile effective = stack.effective(profile);
  const auto cut = portable::cut_into_blocks(effective, tensor.shape, address.axis, address.tail);
  if (!cut) return cut.error();
  const portable::Geometry& geometry = *cut;
  if (const Result<void> there = check_block(effective, geometry, address.block); !there) return there.error();
  const Corner corner = corner_of(effective, geometry, address.block);
  const RowSpan span = rows_for(profile, stack, geometry, corner);
  const std::int64_t rows = span.last - span.first;
  CorrectionContext context;
  context.holds_all = rows == geometry.rows;
  context.shape = {rows, geometry.columns};
  if (context.holds_all) context.shape = geometry.shape;
  context.row = corner.row - span.first;
  context.column = corner.column;
  context.words.resize(static_cast<std::size_t>(rows * geometry.columns));
  context.given = context.words.size();
  const auto element_of = [&](std::size_t i) -> std::optional<std::uint64_t> {
    const std::int64_t row = span.first + static_cast<std::int64_t>(i) / geometry.columns;
    const std::int64_t column = static_cast<std::int64_t>(i) % geometry.columns;
    return static_cast<std::uint64_t>(geometry.first_element(row) + column * geometry.inner);
  };
  for (std::size_t i = 0; i < context.words.size(); ++i) {
    portable::load_words(tensor, static_cast<std::int64_t>(*element_of(i)), 1, 1, &context.words[i]);
  }
  context.source = block_text(effective, address.block, corner);
  const Result<void> added = add_random(profile, stack, randomness, element_of, context);
  if (!added) return added.error();
  return context;
}

}  // namespace fp4proof::explain
