#include "conformance/explain/block_source.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "conformance/explain/block_corner.h"
#include "conformance/explain/element_randomness.h"
#include "reference/portable/quantize.h"

namespace fp4proof::explain {

namespace {

/// Sets the random words; `address(i)` is the index in its tensor of element i of the block.
Result<void> add_random(const Profile& profile, const Randomness& randomness, const ElementAddress& address,
                        BlockQuestion& question) {
  auto drawn = random_words(profile, randomness, question.given, question.words.size(), address);
  if (!drawn) return drawn.error();
  question.random = std::move(drawn->words);
  question.random_source = std::move(drawn->source);
  return {};
}

float scale_of_tensor(const Profile& profile, std::span<const std::uint32_t> words) {
  const std::array<std::int64_t, 1> shape = {static_cast<std::int64_t>(words.size())};
  return portable::tensor_scale_of(profile,
                                   {portable::DType::f32, shape, reinterpret_cast<const std::byte*>(words.data())});
}

Result<void> add_tensor_scale(const Profile& profile, std::optional<float> tensor_scale, BlockQuestion& question) {
  const bool takes_one = profile.family == Family::nvfp4 && profile.tensor_scale;
  if (!takes_one) {
    if (!tensor_scale) return {};
    return Error{ErrorKind::usage, fmt::format("{} has no tensor scale", profile.name)};
  }
  question.tensor_scale = tensor_scale ? *tensor_scale : scale_of_tensor(profile, question.words);
  question.tensor_scale_source = tensor_scale ? "as given" : "amax / 2688 of these values as the whole tensor";
  return {};
}

std::string corner_text(const Profile& profile, const Corner& corner, const BlockAddress& address) {
  const std::int64_t last = corner.column + corner.columns - 1;
  const std::string rows = profile.block.is_2d() ? fmt::format("rows {}..{}", corner.row, corner.row + corner.rows - 1)
                                                 : fmt::format("row {}", corner.row);
  return fmt::format("block {}: {}, columns {}..{}", address.block, rows, corner.column, last);
}

}  // namespace

Result<BlockQuestion> block_of_values(const Profile& profile, std::span<const std::uint32_t> values,
                                      const Randomness& randomness, std::optional<float> tensor_scale) {
  const auto size = static_cast<std::size_t>(profile.block.size());
  if (values.size() > size) {
    return Error{ErrorKind::usage,
                 fmt::format("{} values are more than a block of {} holds: {}; explain one block at a time",
                             values.size(), profile.name, size)};
  }
  BlockQuestion question;
  question.words.assign(values.begin(), values.end());
  question.words.resize(size);
  question.given = values.size();
  if (const Result<void> added = add_tensor_scale(profile, tensor_scale, question); !added) return added.error();
  const auto own_index = [](std::size_t i) { return std::optional<std::uint64_t>(i); };
  if (const Result<void> added = add_random(profile, randomness, own_index, question); !added) return added.error();
  return question;
}

Result<BlockQuestion> block_of_tensor(const Profile& profile, const portable::TensorView& tensor,
                                      const BlockAddress& address, const Randomness& randomness) {
  const auto cut = portable::cut_into_blocks(profile, tensor.shape, address.axis, address.tail);
  if (!cut) return cut.error();
  const portable::Geometry& geometry = *cut;
  if (const Result<void> there = check_block(profile, geometry, address.block); !there) return there.error();
  const Corner corner = corner_of(profile, geometry, address.block);
  const int columns = profile.block.cols;
  const auto element_of = [&](std::size_t i) -> std::optional<std::uint64_t> {
    const std::int64_t row = static_cast<std::int64_t>(i) / columns;
    const std::int64_t column = static_cast<std::int64_t>(i) % columns;
    if (row >= corner.rows || column >= corner.columns) return std::nullopt;
    return static_cast<std::uint64_t>(geometry.first_element(corner.row + row) +
                                      (corner.column + column) * geometry.inner);
  };
  BlockQuestion question;
  question.words.resize(static_cast<std::size_t>(profile.block.size()));
  question.given = question.words.size();
  for (std::size_t i = 0; i < question.words.size(); ++i) {
    const std::optional<std::uint64_t> element = element_of(i);
    if (element) portable::load_words(tensor, static_cast<std::int64_t>(*element), 1, 1, &question.words[i]);
  }
  question.source = corner_text(profile, corner, address);
  if (corner.rows < profile.block.rows || corner.columns < columns) question.source += ", the rest filled with zeros";
  question.tensor_scale = portable::tensor_scale_of(profile, tensor);
  if (profile.tensor_scale) question.tensor_scale_source = "amax / 2688 of the tensor";
  if (const Result<void> added = add_random(profile, randomness, element_of, question); !added) return added.error();
  return question;
}

}  // namespace fp4proof::explain
