#include "conformance/minimize/atoms.h"

#include <algorithm>

#include "formats/packing.h"

namespace fp4proof::minimize {

namespace {

using suite::CaseTensor;
using suite::GroupSpec;

class AtomList {
 public:
  AtomList(const GroupSpec& spec, const Profile& profile) : spec_(spec), profile_(profile) {}

  void add(std::size_t input, const CaseTensor& tensor) {
    if (tensor.case_shape.empty()) {
      put(Role::tensor_scale, tensor, {{input, 0}}, 32, 0, 0);
    } else if (tensor.dtype == TensorDtype::u32) {
      add_words(input, tensor);
    } else if (tensor.name.ends_with("codes")) {
      add_codes(input, tensor);
    } else if (tensor.name.ends_with("scales") && profile_.family == Family::hif4) {
      add_hif4_scales(input, tensor);
    } else {
      add_bytes(tensor.name.ends_with("scales") ? Role::scale : Role::macro, input, tensor);
    }
  }

  std::vector<Atom> finish() { return std::move(atoms_); }

 private:
  void put(Role role, const CaseTensor& tensor, std::vector<Place> places, int bits, std::int64_t row,
           std::int64_t place, int shift = 0) {
    atoms_.push_back({role, std::move(places), shift, bits, tensor.name, row, place});
  }

  static std::size_t bytes_per_row(const CaseTensor& tensor) { return tensor.case_bytes() / tensor.case_shape.front(); }

  void add_words(std::size_t input, const CaseTensor& tensor) {
    const bool across = spec_.axis == 0;
    const std::int64_t rows = across ? spec_.columns : spec_.rows;
    const std::int64_t length = across ? spec_.rows : spec_.columns;
    const Role role = tensor.name == "random" ? Role::random : Role::word;
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t k = 0; k < length; ++k) {
        const std::int64_t index = across ? k * rows + row : row * length + k;
        put(role, tensor, {{input, static_cast<std::size_t>(4 * index)}}, 32, row, k);
      }
    }
  }

  void add_codes(std::size_t input, const CaseTensor& tensor) {
    const bool nibbles = element_spec(profile_.element).is_nibble();
    const std::size_t row_bytes = bytes_per_row(tensor);
    const std::size_t length = nibbles ? 2 * row_bytes : row_bytes;
    for (std::size_t row = 0; row < tensor.case_shape.front(); ++row) {
      for (std::size_t k = 0; k < length; ++k) {
        const std::size_t byte = row * row_bytes + (nibbles ? k / 2 : k);
        put(Role::code, tensor, {{input, byte}}, nibbles ? 4 : 8, static_cast<std::int64_t>(row),
            static_cast<std::int64_t>(k), nibbles ? static_cast<int>(4 * (k % 2)) : 0);
      }
    }
  }

  void add_hif4_scales(std::size_t input, const CaseTensor& tensor) {
    const std::size_t row_bytes = bytes_per_row(tensor);
    for (std::size_t at = 0; at < tensor.case_bytes(); at += 4) {
      const auto row = static_cast<std::int64_t>(at / row_bytes);
      const auto block = static_cast<std::int64_t>(at % row_bytes / 4);
      put(Role::e6m2, tensor, {{input, at}}, 8, row, block);
      put(Role::level_bits, tensor, {{input, at + 1}}, 24, row, block);
    }
  }

  /// Scales of MX and NVFP4, factors of macro blocks. Rows of a tile share theirs.
  void add_bytes(Role role, std::size_t input, const CaseTensor& tensor) {
    const std::size_t row_bytes = bytes_per_row(tensor);
    const auto tile = static_cast<std::size_t>(profile_.block.rows);
    const std::size_t rows = tensor.case_shape.front();
    for (std::size_t row = 0; row < rows; row += tile) {
      for (std::size_t k = 0; k < row_bytes; ++k) {
        std::vector<Place> places;
        for (std::size_t r = row; r < std::min(rows, row + tile); ++r) places.push_back({input, r * row_bytes + k});
        put(role, tensor, std::move(places), 8, static_cast<std::int64_t>(row), static_cast<std::int64_t>(k));
      }
    }
  }

  const GroupSpec& spec_;
  const Profile& profile_;
  std::vector<Atom> atoms_;
};

}  // namespace

Result<std::vector<Atom>> atoms_of(const Topic& topic, const GroupSpec& spec) {
  const Result<CorrectionStack> stack = suite::stack_of(spec);
  if (!stack) return stack.error();
  const auto tensors = suite::group_tensors(topic.operation, *topic.profile, spec);
  if (!tensors) return tensors.error();
  const Profile profile = stack->effective(*topic.profile);
  AtomList list(spec, profile);
  std::size_t input = 0;
  for (const CaseTensor& tensor : *tensors)
    if (!tensor.expected) list.add(input++, tensor);
  return list.finish();
}

std::uint32_t value_of(const Question& question, const Atom& atom) {
  const Place& place = atom.places.front();
  const std::uint8_t* bytes = question.inputs[place.input].data() + place.byte;
  switch (atom.bits) {
    case 4: return bytes[0] >> atom.shift & 0xFU;
    case 8: return bytes[0];
    case 24: return bytes[0] | std::uint32_t{bytes[1]} << 8 | std::uint32_t{bytes[2]} << 16;
    default: return load_le32(bytes);
  }
}

void set_value(Question& question, const Atom& atom, std::uint32_t value) {
  for (const Place& place : atom.places) {
    std::uint8_t* bytes = question.inputs[place.input].data() + place.byte;
    if (atom.bits == 32) {
      store_le32(value, bytes);
    } else if (atom.bits == 4) {
      *bytes = static_cast<std::uint8_t>((*bytes & ~(0xFU << atom.shift)) | value << atom.shift);
    } else {
      for (int b = 0; b < atom.bits / 8; ++b) bytes[b] = static_cast<std::uint8_t>(value >> (8 * b));
    }
  }
}

std::size_t nonzero_elements(const Question& question, const std::vector<Atom>& atoms) {
  return static_cast<std::size_t>(std::ranges::count_if(
      atoms, [&](const Atom& atom) { return atom.is_element() && value_of(question, atom) != 0; }));
}

}  // namespace fp4proof::minimize
