// NVFP4: the E4M3 block scale and the binary32 scale above it.

#include <array>
#include <cmath>

#include "conformance/suite/class_tables.h"
#include "conformance/suite/drafts.h"
#include "formats/scale_codes.h"

namespace fp4proof::suite {

namespace {

Words row_of_block_maximum(const Profile& profile, std::uint32_t amax, std::size_t position) {
  Words row(row_length(profile), 0);
  const double value = double{float_from_bits(amax)};
  for (std::size_t i = 0; i < row.size(); ++i) {
    row[i] = word_of(value * (static_cast<double>(i) - 7.5) / 16.0);
  }
  row[position % row.size()] = amax;
  return row;
}

void add_maxima(const Profile& profile, double amax, Blocks& rows) {
  for (const int ulps : {0, 1, -1}) {
    rows.push_back(row_of_block_maximum(profile, ulps_away(word_of(amax), ulps), rows.size()));
  }
}

Blocks scale_ties(const CaseContext& context) {
  Blocks rows;
  const std::vector<double> ties = grid_ties(Element::e4m3);
  const std::size_t stride = context.level == Level::full ? 1 : context.level == Level::quick ? 9 : 41;
  for (std::size_t i = 7; i < ties.size(); i += stride) add_maxima(context.profile, 6.0 * ties[i], rows);
  return rows;
}

Blocks scale_subnormal(const CaseContext& context) {
  Blocks rows;
  for (int eighths = 1; eighths <= 16; ++eighths) {
    add_maxima(context.profile, 6.0 * std::ldexp(eighths, -10), rows);
  }
  return rows;
}

Blocks scale_zero(const CaseContext& context) {
  Blocks rows;
  for (const double amax : {6.0 * 0x1p-10, 3.0 * 0x1p-10, 1e-6, 1e-30, 0x1p-149}) {
    add_maxima(context.profile, amax, rows);
  }
  return rows;
}

Blocks scale_saturated(const CaseContext& context) {
  Blocks rows;
  for (const double amax : {2688.0, 6.0 * 464.0, 6.0 * 480.0, 1e5, 1e30, 0x1.fffffep127}) {
    add_maxima(context.profile, amax, rows);
  }
  return rows;
}

constexpr std::int64_t tensor_columns = 128;

GroupSpec tensor_spec() {
  GroupSpec spec;
  spec.columns = tensor_columns;
  return spec;
}

/// Tensors whose scale is no power of two: blocks over many binades below the largest.
std::vector<CaseInput> tensor_scale(const CaseContext& context) {
  CaseRandom random(context);
  std::vector<CaseInput> cases;
  for (std::size_t turn = 0; turn < context.wanted; ++turn) {
    const int binade = static_cast<int>(random.below(turn % 4 == 3 ? 240 : 20)) - (turn % 4 == 3 ? 120 : 10);
    Words words;
    for (std::int64_t i = 0; i < tensor_columns; ++i) {
      const int block_binade = binade - static_cast<int>(i / 16) * (turn % 2 == 0 ? 1 : 3);
      words.push_back(word_of(std::ldexp(random.normal(), block_binade)));
    }
    cases.push_back(matrix_case(tensor_spec(), words));
  }
  return cases;
}

/// Ties under tensor scales that are no powers of two. The input is the binary32 number next to the tie, so the
/// quotient misses the tie by less than half a unit in the last place: a quotient rounded to binary32 is the tie.
std::vector<CaseInput> tensor_scale_ties(const CaseContext& context) {
  std::vector<CaseInput> cases;
  const std::vector<double> ties = grid_ties(context.profile.element);
  for (const float amax : {1000.0F, 3.3F, 0.7F, 51234.5F, 1e-20F, 7e15F}) {
    const double scale = double{amax / 2688.0F};
    Words words;
    for (std::size_t block = 0; block < 8; ++block) {
      const double unit =
          double{decode_e4m3_scale(static_cast<std::uint8_t>(block == 0 ? e4m3_scale_max : 0x5B + 3 * block))} * scale;
      Words row(row_length(context.profile), 0);
      row[0] = block == 0 ? float_bits(amax) : word_of(6.0 * unit);
      for (std::size_t i = 0; i + 1 < ties.size(); ++i) {
        row[1 + i] = word_of(ties[i] * unit);
        row[8 + i] = ulps_away(negative(word_of(ties[i] * unit)), i % 2 == 0 ? 1 : -1);
      }
      words.insert(words.end(), row.begin(), row.end());
    }
    cases.push_back(matrix_case(tensor_spec(), words));
  }
  return cases;
}

/// Where the tensor scale itself is at an end: zero, subnormal, from the largest number, beside NaN and infinity.
std::vector<CaseInput> tensor_scale_ends(const CaseContext&) {
  std::vector<CaseInput> cases;
  const auto add = [&](const Words& words) { cases.push_back(matrix_case(tensor_spec(), words)); };
  const auto filled = [](std::uint32_t fill, std::uint32_t first, std::uint32_t middle) {
    Words words(tensor_columns, fill);
    words[0] = first;
    words[70] = middle;
    return words;
  };
  add(filled(0, 0, 0));
  add(filled(0x80000000U, 0, 0));
  add(filled(1, 0x80000001U, 3));
  add(filled(0, word_of(2688.0 * 0x1p-149), 1));
  add(filled(0x00000100U, word_of(2688.0 * 0x1p-128), 0x00012345U));
  add(filled(0x7F7FFFFFU, 0xFF7FFFFFU, 0x3F800000U));
  add(filled(0x3F800000U, 0x7FC00000U, 0x42280000U));
  add(filled(0x3F800000U, 0xFF800000U, 0x42280000U));
  add(filled(0x3F800000U, word_of(2688.0), word_of(1e-3)));
  return cases;
}

constexpr bool has_tensor_scale(const Profile& profile) { return is_nvfp4(profile) && profile.tensor_scale; }

constexpr std::array nvfp4_table = {
    CaseClass{"nvfp4-scale-ties", "Ties of the E4M3 block scale do not go to the even code.", Operation::quantize,
              is_nvfp4, rows_of<scale_ties>},
    CaseClass{"nvfp4-scale-subnormal", "Subnormal block scales are flushed or a binade off.", Operation::quantize,
              is_nvfp4, rows_of<scale_subnormal>},
    CaseClass{"nvfp4-scale-zero", "A block scale that rounds to zero divides by zero.", Operation::quantize, is_nvfp4,
              rows_of<scale_zero>},
    CaseClass{"nvfp4-scale-saturated", "A block scale beyond 448 becomes NaN.", Operation::quantize, is_nvfp4,
              rows_of<scale_saturated>},
    CaseClass{"nvfp4-tensor-scale", "The tensor scale is left out, rounded to another type, or applied twice.",
              Operation::quantize, has_tensor_scale, tensor_scale},
    CaseClass{"nvfp4-tensor-scale-ties",
              "The quotient by the two scales is rounded before it meets the element's ties.", Operation::quantize,
              has_tensor_scale, tensor_scale_ties},
    CaseClass{"nvfp4-tensor-scale-ends", "A tensor scale of zero, NaN or infinity spoils the whole tensor.",
              Operation::quantize, has_tensor_scale, tensor_scale_ends},
};

}  // namespace

std::span<const CaseClass> nvfp4_classes() { return nvfp4_table; }

}  // namespace fp4proof::suite
