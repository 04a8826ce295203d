#include <fmt/format.h>

#include "conformance/diagnose/hypothesis_rows.h"
#include "conformance/diagnose/steps.h"
#include "reference/portable/accumulator.h"

namespace fp4proof::diagnose {

namespace {

void append_scale_readings(std::vector<Hypothesis>& rows) {
  struct Row {
    ScaleReading reading;
    std::string_view value;
    std::string_view text;
    FamilySet families;
    int cost = cost_of_change;
  };
  constexpr auto readings = std::to_array<Row>({
      {ScaleReading::zero_is_zero, "zero-is-zero", "scale code 0 decoded to 0", of_mx},
      {ScaleReading::nan_is_infinity, "nan-is-infinity", "scale code 255 decoded to infinity", of_mx},
      {ScaleReading::both, "exponent-field", "scale codes shifted into the exponent field: 0 is 0, 255 infinity", of_mx,
       cost_of_variant},
      {ScaleReading::nan_in_number, "nan-in-number", "NaN looked for in the number: code 134 NaN, 255 infinity", of_mx,
       cost_of_variant},
      {ScaleReading::inverse_flushed, "reciprocal-flushed",
       "scale code 254 decoded to infinity, its subnormal reciprocal flushed to zero", of_mx},
      {ScaleReading::nan_is_number, "nan-is-number", "the NaN scale decoded as a number", every_family},
      {ScaleReading::raw, "raw-byte", "the raw scale byte used as the scale", every_family},
      {ScaleReading::exponent_only, "exponent-only", "the mantissa of the scale ignored", of_hif4 | of_nvfp4},
      {ScaleReading::subnormal_flushed, "subnormal-flushed", "subnormal block scales flushed to zero", of_nvfp4},
  });
  for (const Row& row : readings) {
    rows.push_back({"scale-decode", std::string(row.value), std::string(row.text), decodes, row.families, row.cost,
                    [](KernelModel& model, int reading) { model.decode.scale = static_cast<ScaleReading>(reading); },
                    number(row.reading)});
  }
  for (const int shift : {-2, -1, 1, 2}) {
    rows.push_back({"scale-offset", fmt::format("{:+}", shift),
                    fmt::format("scale exponents off by {:+} (for E8M0 a bias of {})", shift, e8m0_bias - shift),
                    decodes, every_family, cost_of_change,
                    [](KernelModel& model, int value) { model.decode.scale_shift = value; }, shift});
  }
}

void append_levels(std::vector<Hypothesis>& rows) {
  struct Row {
    LevelReading reading;
    std::string_view value;
    std::string_view text;
  };
  constexpr auto readings = std::to_array<Row>({
      {LevelReading::none, "ignored", "micro-exponents ignored"},
      {LevelReading::level2_only, "level2-only", "level-3 micro-exponents ignored"},
      {LevelReading::level3_only, "level3-only", "level-2 micro-exponents ignored"},
      {LevelReading::strided, "strided", "micro-exponents over strided elements, i mod 8 in place of i div 8"},
  });
  for (const Row& row : readings) {
    rows.push_back({"levels", std::string(row.value), std::string(row.text), decodes, of_hif4, cost_of_change,
                    [](KernelModel& model, int reading) { model.decode.levels = static_cast<LevelReading>(reading); },
                    number(row.reading)});
  }
}

void append_decoder_grids(std::vector<Hypothesis>& rows) {
  for (std::size_t i = 0; i < element_count; ++i) {
    const std::string name = element_spec(static_cast<Element>(i)).name;
    rows.push_back({"element", name, fmt::format("elements read as {}", name), decodes, every_family, cost_of_change,
                    [](KernelModel& model, int grid) { model.decode.grid = static_cast<Element>(grid); },
                    static_cast<int>(i),
                    [](const Profile& profile) -> std::string_view { return element_spec(profile.element).name; }});
  }
}

void append_value_changes(std::vector<Hypothesis>& rows) {
  struct Row {
    ValueChange change;
    std::string_view dimension;
    std::string_view value;
    std::string_view text;
    OperationSet operations;
  };
  constexpr auto changes = std::to_array<Row>({
      {ValueChange::bf16, "output", "bf16", "outputs rounded to bfloat16", writes_values},
      {ValueChange::binary16, "output", "binary16", "outputs rounded to binary16", writes_values},
      {ValueChange::flushed, "output", "flushed", "subnormal outputs flushed to zero", writes_values},
      {ValueChange::zero_unsigned, "zero-sign", "output-dropped", "every zero of the output positive", writes_values},
      {ValueChange::nan_zero, "nan", "output-zero", "zero in place of NaN", writes_values},
      {ValueChange::nan_infinity, "nan", "output-infinity", "infinity in place of NaN", writes_values},
      {ValueChange::overflow_clamped, "infinity", "output-largest", "the largest finite number in place of infinity",
       writes_values},
  });
  for (const Row& row : changes) {
    rows.push_back({std::string(row.dimension), std::string(row.value), std::string(row.text), row.operations,
                    every_family, cost_of_change,
                    [](KernelModel& model, int change) {
                      model.outputs.push_back({change_values, change});
                    },
                    number(row.change)});
  }
  rows.push_back({"product", "scales-first", "block and tensor scale multiplied in binary32 first", dequantizes,
                  of_nvfp4, cost_of_change,
                  [](KernelModel& model, int) { model.decode.rounding = ValueRounding::scales_first; }});
}

void append_accumulators(std::vector<Hypothesis>& rows) {
  for (std::size_t i = 0; i < portable::accumulators.size(); ++i) {
    const std::string name(fp4proof::name_of(portable::accumulators[i]));
    rows.push_back(
        {"accumulation", name, fmt::format("accumulator {}", name), all_products, every_family, cost_of_change,
         [](KernelModel& model, int index) {
           model.sum.accumulator = fp4proof::name_of(portable::accumulators[static_cast<std::size_t>(index)]);
         },
         static_cast<int>(i)});
    // GM18: dots of blocks of four-bit elements are exact under the model, which then is seq512.
    if (portable::accumulators[i] == portable::Accumulator::tc_hopper_fp16) {
      rows.back().applies = [](const Profile& profile) { return !element_spec(profile.element).is_nibble(); };
    }
  }
}

void append_sums(std::vector<Hypothesis>& rows) {
  for (const int chunk : {64, 128, 256, 1024, 2048}) {
    // Longer than the chunk of the rules: one sum over all of K is the plainer explanation where K does not tell.
    const int cost = chunk > portable::chunk_elements ? cost_of_variant : cost_of_change;
    rows.push_back({"accumulation", fmt::format("chunk-{}", chunk), fmt::format("sums in chunks of {} elements", chunk),
                    multiplies, every_family, cost,
                    [](KernelModel& model, int elements) { model.sum.chunk = elements; }, chunk});
  }
  struct OrderRow {
    SumOrder order;
    std::string_view value;
    std::string_view text;
  };
  constexpr auto orders = std::to_array<OrderRow>({
      {SumOrder::reversed, "reversed", "blocks added from the last to the first"},
      {SumOrder::pairwise, "pairwise", "blocks added pairwise"},
      {SumOrder::elements, "elements", "products of elements added one by one in binary32"},
  });
  for (const OrderRow& row : orders) {
    rows.push_back(
        {"accumulation", std::string(row.value), std::string(row.text), multiplies, every_family, cost_of_change,
         [](KernelModel& model, int order) { model.sum.order = static_cast<SumOrder>(order); }, number(row.order)});
  }
  rows.push_back({"zero-sign", "sum-kept", "the first product copied, so a sum of -0 stays -0", multiplies,
                  every_family, cost_of_change, [](KernelModel& model, int) { model.sum.from_first = true; }});
  struct ProductRow {
    ProductRounding rounding;
    std::string_view value;
    std::string_view text;
  };
  constexpr auto products = std::to_array<ProductRow>({
      {ProductRounding::none, "unrounded", "products of blocks not rounded before they are added"},
      {ProductRounding::bf16, "bf16", "products rounded to bfloat16"},
      {ProductRounding::binary16, "binary16", "products rounded to binary16"},
  });
  for (const ProductRow& row : products) {
    rows.push_back(
        {"product", std::string(row.value), std::string(row.text), multiplies, every_family, cost_of_change,
         [](KernelModel& model, int rounding) { model.sum.product = static_cast<ProductRounding>(rounding); },
         number(row.rounding)});
  }
  struct SumRow {
    SumRounding rounding;
    std::string_view value;
    std::string_view text;
  };
  constexpr auto sums = std::to_array<SumRow>({
      {SumRounding::flushed, "flushed", "subnormal sums flushed to zero"},
      {SumRounding::bf16, "bf16", "sums kept in bfloat16"},
      {SumRounding::binary16, "binary16", "sums kept in binary16"},
      {SumRounding::binary64, "binary64", "sums kept in binary64"},
  });
  for (const SumRow& row : sums) {
    rows.push_back({"sum", std::string(row.value), std::string(row.text), multiplies, every_family, cost_of_change,
                    [](KernelModel& model, int rounding) { model.sum.sum = static_cast<SumRounding>(rounding); },
                    number(row.rounding)});
  }
}

}  // namespace

void append_decoder_rows(std::vector<Hypothesis>& rows) {
  append_scale_readings(rows);
  append_levels(rows);
  append_decoder_grids(rows);
  rows.push_back({"tensor-scale", "ignored", "tensor scale ignored", decodes, of_nvfp4, cost_of_change,
                  [](KernelModel& model, int) { model.decode.without_tensor_scale = true; }});
  rows.push_back({"block-size", "doubled", "one scale taken for two blocks", decodes, every_family, cost_of_change,
                  [](KernelModel& model, int blocks) { model.decode.blocks_a_scale = blocks; }, 2});
  append_accumulators(rows);
  append_sums(rows);
  append_value_changes(rows);
}

}  // namespace fp4proof::diagnose
