#include "conformance/verdict/drawn_group.h"

#include <algorithm>

#include "conformance/suite/case_class.h"
#include "conformance/suite/reference_answers.h"
#include "conformance/suite/sets.h"
#include "formats/packing.h"
#include "formats/philox.h"

namespace fp4proof::verdict {

namespace {

using suite::CaseGroup;
using suite::CaseTensor;

constexpr int word_bits = 32;

CaseGroup first_cases(const CaseGroup& group, std::size_t cases) {
  const auto count = static_cast<std::ptrdiff_t>(cases);
  CaseGroup part{group.spec,
                 {group.ids.begin(), group.ids.begin() + count},
                 {group.classes.begin(), group.classes.begin() + count},
                 {}};
  for (const CaseTensor& tensor : group.tensors) {
    CaseTensor cut{tensor.name, tensor.dtype, tensor.case_shape, tensor.expected, {}};
    if (!tensor.expected) {
      const Bytes bytes = Bytes(tensor.bytes).first(cases * tensor.case_bytes());
      cut.bytes.assign(bytes.begin(), bytes.end());
    }
    part.tensors.push_back(std::move(cut));
  }
  return part;
}

std::vector<std::uint8_t> unpacked(const Profile& profile, Bytes codes) {
  if (!element_spec(profile.element).is_nibble()) return {codes.begin(), codes.end()};
  std::vector<std::uint8_t> elements;
  elements.reserve(codes.size() * 2);
  for (const std::uint8_t byte : codes) {
    elements.push_back(byte & 0xF);
    elements.push_back(byte >> 4);
  }
  return elements;
}

}  // namespace

Result<DrawnGroup> DrawnGroup::prepare(const Profile& profile, const CaseGroup& group, std::size_t cases) {
  DrawnGroup drawn(profile, first_cases(group, cases));
  drawn.profile_.random_bits = word_bits;
  if (const Result<void> found = drawn.find_probabilities(); !found) return found.error();
  return drawn;
}

std::uint64_t DrawnGroup::draw_words(std::uint64_t first) {
  std::vector<std::uint8_t>& bytes = group_.find("random")->bytes;
  const std::uint64_t count = bytes.size() / 4;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint32_t word =
        random_word(suite::suite_seed, Stream::cases, suite::class_step("statistical"), first + i);
    store_le32(word, bytes.data() + 4 * i);
  }
  return count;
}

std::vector<std::uint8_t> DrawnGroup::codes_of(const std::vector<std::vector<std::uint8_t>>& outputs) const {
  std::size_t output = 0;
  for (const CaseTensor& tensor : group_.tensors) {
    if (!tensor.expected) continue;
    if (tensor.name == "codes") return unpacked(profile_, outputs[output]);
    ++output;
  }
  return {};
}

bool DrawnGroup::has_right_scales(const std::vector<std::vector<std::uint8_t>>& outputs, std::size_t index) const {
  std::size_t output = 0;
  for (const CaseTensor& tensor : group_.tensors) {
    if (!tensor.expected) continue;
    const Bytes actual = Bytes(outputs[output++]).subspan(index * tensor.case_bytes(), tensor.case_bytes());
    if (tensor.name != "codes" && !std::ranges::equal(actual, tensor.of_case(index))) return false;
  }
  return true;
}

/// Also leaves the scales of the answer in the expected tensors.
Result<std::vector<std::uint8_t>> DrawnGroup::codes_under(const std::vector<std::uint32_t>& words) {
  CaseTensor& random = *group_.find("random");
  for (std::size_t i = 0; i < words.size(); ++i) store_le32(words[i], random.bytes.data() + 4 * i);
  suite::CaseTable table;
  table.profile = SharedProfile(SharedProfile(), &profile_);
  table.groups.push_back(std::move(group_));
  const Result<void> answered = suite::answer_by_reference(table);
  group_ = std::move(table.groups.front());
  if (!answered) return answered.error();
  return unpacked(profile_, group_.find("codes")->bytes);
}

std::vector<std::optional<std::size_t>> DrawnGroup::word_places() const {
  const CaseTensor& codes = *group_.find("codes");
  const bool nibbles = element_spec(profile_.element).is_nibble();
  const std::size_t code_columns = codes.case_shape.back() * (nibbles ? 2 : 1);
  const std::size_t code_rows = codes.case_bytes() / codes.case_shape.back();
  const auto rows = static_cast<std::size_t>(group_.spec.rows);
  const auto columns = static_cast<std::size_t>(group_.spec.columns);
  const bool along_rows = group_.spec.axis == 0;
  std::vector<std::optional<std::size_t>> places;
  for (std::size_t i = 0; i < group_.size(); ++i) {
    for (std::size_t row = 0; row < code_rows; ++row) {
      for (std::size_t column = 0; column < code_columns; ++column) {
        const std::size_t r = along_rows ? column : row;
        const std::size_t c = along_rows ? row : column;
        const bool is_there = r < rows && c < columns;
        places.push_back(is_there ? std::optional((i * rows + r) * columns + c) : std::nullopt);
      }
    }
  }
  return places;
}

Result<void> DrawnGroup::find_probabilities() {
  const std::vector<std::optional<std::size_t>> places = word_places();
  const std::size_t word_count = group_.find("random")->bytes.size() / 4;
  const Result<std::vector<std::uint8_t>> low = codes_under(std::vector<std::uint32_t>(word_count, 0));
  if (!low) return low.error();
  const Result<std::vector<std::uint8_t>> high = codes_under(std::vector<std::uint32_t>(word_count, 0xFFFF'FFFFU));
  if (!high) return high.error();
  // The smallest word that goes up, bit by bit from the top: the largest word that stays, plus one.
  std::vector<std::uint32_t> stays(word_count, 0);
  for (int bit = word_bits - 1; bit >= 0; --bit) {
    std::vector<std::uint32_t> tried = stays;
    for (std::uint32_t& word : tried) word |= 1U << bit;
    const Result<std::vector<std::uint8_t>> codes = codes_under(tried);
    if (!codes) return codes.error();
    for (std::size_t i = 0; i < places.size(); ++i)
      if (places[i] && (*codes)[i] == (*low)[i]) stays[*places[i]] = tried[*places[i]];
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    DrawnElement& element = elements_.emplace_back(DrawnElement{(*low)[i], (*high)[i]});
    if (!places[i] || !element.is_drawn()) continue;
    element.probability = (4294967295.0 - stays[*places[i]]) / 4294967296.0;
  }
  return {};
}

}  // namespace fp4proof::verdict
