#include <fmt/format.h>

#include <array>
#include <span>

#include "conformance/diagnose/hypothesis_rows.h"
#include "conformance/diagnose/reorder.h"
#include "conformance/diagnose/steps.h"

namespace fp4proof::diagnose {

namespace {

struct Operands {
  int mask;
  std::string_view suffix;
  std::string_view text;
  OperationSet operations;
};
constexpr auto operand_choices = std::to_array<Operands>({
    {3, "", "", writes_codes | reads_codes},
    {1, "-a", " of A", all_products},
    {2, "-b", " of B", all_products},
});
/// An order inside a block: a sum over k does not tell whose codes have it.
constexpr auto order_choices = std::to_array<Operands>({
    {3, "", "", writes_codes | dequantizes},
    {1, "-one", " of one operand", all_products},
});

void append_code_orders(std::vector<Hypothesis>& rows) {
  struct Row {
    CodeOrder order;
    std::string_view value;
    std::string_view text;
    std::span<const Operands> operands = operand_choices;
  };
  constexpr auto orders = std::to_array<Row>({
      {CodeOrder::swapped, "swapped-nibbles", "swapped nibbles", order_choices},
      {CodeOrder::split, "split-nibbles", "nibbles split into the halves of a block", order_choices},
      {CodeOrder::transposed, "transposed", "transposed codes"},
      {CodeOrder::words, "word-bytes", "exchanged bytes in each 32-bit word of codes", order_choices},
      {CodeOrder::reversed_bits, "reversed-bits", "codes with their bits in reverse order"},
      {CodeOrder::complement, "twos-complement", "codes in two's complement"},
  });
  for (const Row& row : orders) {
    for (const Operands& operands : row.operands) {
      rows.push_back({"code-order", fmt::format("{}{}", row.value, operands.suffix),
                      fmt::format("{}{}", row.text, operands.text), operands.operations, every_family, cost_of_change,
                      [](KernelModel& model, int order) {
                        model.packing.push_back({reorder_codes, order});
                      },
                      reorder_parameter(row.order, operands.mask)});
    }
  }
}

void append_scale_orders(std::vector<Hypothesis>& rows) {
  struct Row {
    ScaleOrder order;
    std::string_view dimension;
    std::string_view value;
    std::string_view text;
    FamilySet families;
    OperationSet operations = every_operation;
  };
  constexpr auto orders = std::to_array<Row>({
      {ScaleOrder::column_major, "scale-layout", "column-major", "scales column after column", every_family},
      {ScaleOrder::tiled_128x4, "scale-layout", "tiled-128x4", "scales in tiles of 128 x 4", of_mx | of_nvfp4},
      {ScaleOrder::patches_16, "scale-layout", "patches-16", "scales in patches of 16 rows", of_hif4},
      {ScaleOrder::micro_msb, "micro-order", "msb-first", "micro-exponent bits MSB first", of_hif4},
      {ScaleOrder::big_endian, "micro-order", "big-endian", "scale words in big-endian byte order", of_hif4},
      {ScaleOrder::level_bytes, "micro-order", "levels-exchanged", "level-3 bytes before the level-2 byte", of_hif4},
      {ScaleOrder::padded_last, "scale-layout", "padded-256",
       "scale rows taken to be padded to 256 elements, the last scale behind the end", every_family, reads_codes},
      {ScaleOrder::padded_zero, "scale-layout", "padded-256-zeros",
       "scale rows taken to be padded to 256 elements, zeros behind the end", every_family, reads_codes},
  });
  for (const Row& row : orders) {
    for (const Operands& operands : operand_choices) {
      rows.push_back({std::string(row.dimension), fmt::format("{}{}", row.value, operands.suffix),
                      fmt::format("{}{}", row.text, operands.text), operands.operations & row.operations, row.families,
                      cost_of_change,
                      [](KernelModel& model, int order) {
                        model.packing.push_back({reorder_scales, order});
                      },
                      reorder_parameter(row.order, operands.mask)});
    }
  }
}

void append_axes(std::vector<Hypothesis>& rows) {
  rows.push_back({"axis", "other", "blocks along the other axis", quantizes, every_family, cost_of_change,
                  [](KernelModel& model, int) { model.other_axis = true; }});
  rows.push_back({"axis", "transposed-input", "input read column after column", encodes, every_family, cost_of_change,
                  [](KernelModel& model, int) {
                    model.inputs.push_back({transpose_input, 0});
                  }});
  rows.push_back({"axis", "ignored", "blocks along the rows of memory whatever axis was asked for", quantizes,
                  every_family, cost_of_change, [](KernelModel& model, int) {
                    model.inputs.push_back({transpose_input, 1});
                  }});
  rows.push_back({"axis", "transposed-output", "output written column after column", reads_codes, every_family,
                  cost_of_change, [](KernelModel& model, int) {
                    model.outputs.push_back({transpose_values, 0});
                  }});
  rows.push_back({"operands", "exchanged", "A and B exchanged", all_products, every_family, cost_of_change,
                  [](KernelModel& model, int) {
                    model.inputs.push_back({exchange_operands, 0});
                  }});
  rows.push_back({"operands", "scales-exchanged", "the scales of A and B exchanged", all_products, every_family,
                  cost_of_change, [](KernelModel& model, int) {
                    model.inputs.push_back({exchange_operands, 1});
                  }});
}

void append_memory_faults(std::vector<Hypothesis>& rows) {
  rows.push_back({"memory", "stale", "the answer to the case before", every_operation, every_family, cost_of_change,
                  [](KernelModel& model, int) {
                    model.outputs.push_back({repeat_previous, 0});
                  },
                  0, nullptr, false});
  rows.push_back({"memory", "zeros", "outputs of zeros", every_operation, every_family, cost_of_change,
                  [](KernelModel& model, int) {
                    model.outputs.push_back({write_zeros, 0});
                  },
                  0, nullptr, false});
  struct Row {
    Unwritten arrangement;
    std::string_view value;
    std::string_view text;
  };
  constexpr auto arrangements = std::to_array<Row>({
      {Unwritten::cases, "unwritten-cases", "cases of which nothing was written"},
      {Unwritten::tensors, "unwritten-tensors", "outputs of which nothing was written"},
      {Unwritten::rows, "unwritten-rows", "the last rows not written"},
      {Unwritten::tail, "unwritten-tail", "the end of an output not written"},
      {Unwritten::scattered, "unwritten-bytes", "bytes not written here and there"},
  });
  int cost = cost_of_unwritten;
  for (const Row& row : arrangements) {
    rows.push_back({"memory", std::string(row.value), std::string(row.text), every_operation, every_family, cost++,
                    [](KernelModel& model, int parameter) {
                      model.outputs.push_back({leave_unwritten, parameter});
                    },
                    number(row.arrangement), nullptr, false});
  }
}

}  // namespace

void append_layout_rows(std::vector<Hypothesis>& rows) {
  append_axes(rows);
  append_code_orders(rows);
  append_scale_orders(rows);
  append_memory_faults(rows);
}

}  // namespace fp4proof::diagnose
