#include "tests/gpu/evidence_entries.h"

#include <array>

#include "formats/correction_rules.h"
#include "formats/spec_profiles.h"
#include "tests/gpu/sweeps.h"

namespace fp4proof::evidence {

namespace {

constexpr std::array<DType, 3> dtypes = {DType::bf16, DType::f16, DType::f32};

const Profile* profile(const char* name) { return find_profile(name); }

MatrixShape matrix(std::int64_t rows, std::int64_t columns, int axis) { return {1, rows, columns, axis}; }

std::string shape_text(const MatrixShape& shape) {
  const std::string batch = shape.batch == 1 ? "" : std::to_string(shape.batch) + "x";
  return batch + std::to_string(shape.rows) + "x" + std::to_string(shape.columns) + " axis " +
         std::to_string(shape.axis);
}

std::string input_text(const Input& input) {
  return std::string(text_of(input.dtype)) + " " + text_of(input.spread) + " " + shape_text(input.shape) + " seed " +
         std::to_string(input.seed);
}

/// The profiles whose large tensors are quantized: every family, every scale rule, tiles, tensor scales, stochastic
/// rounding.
constexpr std::array<const char*, 22> large_profiles = {
    "mxfp4/ocp",       "mxfp4/ceil",       "mxfp4/rceil",    "mxfp4/even",        "mxfp4/nearest",  "mxfp4/ocp-sr",
    "mxfp4/rceil-sr8", "mxfp4-2d/rceil",   "mxfp6-e2m3/ocp", "mxfp6-e2m3/rceil",  "mxfp6-e3m2/ocp", "mxfp6-e3m2/rceil",
    "mxfp8-e4m3/ocp",  "mxfp8-e4m3/rceil", "mxfp8-e5m2/ocp", "mxfp8-e5m2/rceil",  "hif4/gcc",       "hif4/exact",
    "hif4/gcc-sr",     "hif4-2d/gcc",      "nvfp4/direct",   "nvfp4/tensor-scale"};

/// Rows of the largest tensors of a profile, so that each family has 10^9 elements or, where the host codes element by
/// element, what it can follow in a few seconds.
std::int64_t rows_of_large(const Profile& p) {
  if (p.family == Family::nvfp4) return 16384;
  if (p.family == Family::mx) return p.element == Element::e2m1 ? 6144 : 8192;
  return p.block.is_2d() || p.rounding == Rounding::stochastic ? 2048 : 16384;
}

class QuantizeList {
 public:
  void add(const Profile* of, DType dtype, Spread spread, const MatrixShape& shape) {
    entries_.push_back(
        {Recomputed::by_ci, of, {dtype, spread, shape, next_seed()}, ScaleLayout::row_major, false, false});
  }
  QuantizeEntry& last() { return entries_.back(); }
  std::vector<QuantizeEntry> take() { return std::move(entries_); }

 private:
  std::uint64_t next_seed() const { return 1000 + entries_.size(); }
  std::vector<QuantizeEntry> entries_;
};

/// Every format of input and both axes under the profiles above.
void add_large(QuantizeList& list) {
  for (const char* name : large_profiles) {
    const Profile& p = *profile(name);
    const std::int64_t rows = rows_of_large(p);
    for (const DType dtype : dtypes) {
      for (const int axis : {1, 0}) {
        list.add(&p, dtype, axis == 1 ? Spread::bell : Spread::outliers, matrix(rows, 4096, axis));
        list.add(&p, dtype, Spread::wide, matrix(rows / 4, 4096, axis));
        list.add(&p, dtype, Spread::bits, matrix(512, 2048, axis));
      }
    }
  }
}

/// Every named profile, shapes with incomplete blocks, single rows and columns, batches.
void add_every_profile(QuantizeList& list) {
  constexpr std::array<MatrixShape, 8> shapes = {{{1, 1, 64, 1},
                                                  {1, 64, 1, 0},
                                                  {1, 1, 1, 1},
                                                  {1, 129, 1027, 1},
                                                  {1, 1027, 129, 0},
                                                  {3, 70, 515, 1},
                                                  {3, 515, 70, 0},
                                                  {2, 64, 8192, 1}}};
  for (const Profile& p : profiles()) {
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      for (const DType dtype : dtypes) list.add(&p, dtype, i % 2 == 0 ? Spread::wide : Spread::bits, shapes.at(i));
    }
  }
}

void add_layouts(QuantizeList& list) {
  for (const char* name : {"mxfp4/rceil", "mxfp4/ocp-sr", "mxfp6-e3m2/ocp", "mxfp8-e4m3/rceil", "nvfp4/direct"}) {
    for (const MatrixShape& shape : {matrix(1024, 4096, 1), matrix(4096, 1024, 0), matrix(333, 1184, 1)}) {
      list.add(profile(name), DType::bf16, Spread::bell, shape);
      list.last().layout = ScaleLayout::tiled_128x4;
    }
  }
  for (const char* name : {"hif4/gcc", "hif4/exact"}) {
    for (const MatrixShape& shape : {matrix(1024, 4096, 1), matrix(4096, 1024, 0), matrix(333, 1184, 1)}) {
      list.add(profile(name), DType::bf16, Spread::bell, shape);
      list.last().layout = ScaleLayout::patches_16;
    }
  }
}

void add_both_axes(QuantizeList& list) {
  for (const char* name : {"mxfp4/ocp", "mxfp4/rceil", "mxfp4/even", "mxfp4/ocp-sr", "mxfp6-e2m3/ocp", "mxfp8-e4m3/ocp",
                           "mxfp8-e5m2/rceil", "hif4/gcc", "nvfp4/direct", "nvfp4/tensor-scale", "mxfp4-2d/rceil"}) {
    for (const DType dtype : dtypes) {
      for (const MatrixShape& shape : {matrix(2048, 4096, 1), matrix(321, 1250, 1), MatrixShape{2, 192, 704, 1}}) {
        list.add(profile(name), dtype, Spread::bell, shape);
        list.last().both_axes = true;
      }
    }
  }
}

void add_three_quarters(QuantizeList& list) {
  for (const char* name : {"mxfp4/ocp", "mxfp4/ocp-sr", "mxfp8-e4m3/ocp"}) {
    for (const DType dtype : dtypes) {
      list.add(profile(name), dtype, Spread::bell, matrix(1024, 2080, 1));
      list.last().three_quarters = true;
    }
  }
}

/// More than 2^31 elements, so that no index has 32 bits.
void add_beyond_31_bits(QuantizeList& list) {
  list.add(profile("mxfp4/rceil"), DType::bf16, Spread::bell, matrix(524352, 4096, 1));
  list.add(profile("mxfp4/rceil"), DType::bf16, Spread::bell, matrix(524352, 4096, 0));
  for (const char* name : {"mxfp4/ocp", "mxfp4/ocp-sr", "mxfp8-e4m3/ocp", "hif4/gcc", "nvfp4/tensor-scale"}) {
    for (const int axis : {1, 0}) {
      list.add(profile(name), DType::bf16, Spread::outliers, matrix(1048640, 4096, axis));
      list.last().recomputed = Recomputed::by_hand;
    }
  }
}

}  // namespace

std::vector<QuantizeEntry> quantize_entries() {
  QuantizeList list;
  add_large(list);
  add_every_profile(list);
  add_layouts(list);
  add_both_axes(list);
  add_three_quarters(list);
  add_beyond_31_bits(list);
  return list.take();
}

std::vector<DequantizeEntry> dequantize_entries() {
  std::vector<DequantizeEntry> entries;
  for (const char* name : {"mxfp4/ocp", "mxfp6-e2m3/ocp", "mxfp6-e3m2/ocp", "mxfp8-e4m3/ocp", "mxfp8-e5m2/ocp",
                           "hif4/gcc", "hifx3/gcc", "hifx5/gcc", "nvfp4/direct", "nvfp4/tensor-scale"}) {
    for (const DType dtype : dtypes) {
      for (const std::int64_t length : {4096, 1027}) {
        entries.push_back({profile(name), dtype, ScaleSpread::mixed, 515, length, 5000 + entries.size()});
      }
    }
  }
  return entries;
}

std::vector<GemmEntry> gemm_entries() {
  std::vector<GemmEntry> entries;
  const CorrectionStack* none = find_correction_stack("none");
  const auto add = [&](const char* name, Operands operands, ScaleSpread scales, std::int64_t m, std::int64_t n,
                       std::int64_t k) -> GemmEntry& {
    GemmEntry entry;
    entry.profile = profile(name);
    entry.operands = operands;
    entry.scales = scales;
    entry.stack = none;
    entry.m = m;
    entry.n = n;
    entry.k = k;
    entry.seed = 3000 + 100 * entries.size();
    entries.push_back(entry);
    return entries.back();
  };
  for (const char* name : {"mxfp4/ocp", "hif4/gcc"}) {
    add(name, Operands::codes, ScaleSpread::near, 2048, 2048, 2048);
    add(name, Operands::codes, ScaleSpread::mixed, 2048, 2048, 2048);
    add(name, Operands::codes, ScaleSpread::near, 1000, 777, 4224).one_chunk = true;
    add(name, Operands::codes, ScaleSpread::mixed, 129, 257, 1000);
    add(name, Operands::codes, ScaleSpread::near, 1, 1, 64);
    add(name, Operands::codes, ScaleSpread::near, 1, 4096, 4096);
    add(name, Operands::codes, ScaleSpread::mixed, 200, 136, 1088).batch = 3;
    add(name, Operands::forward, ScaleSpread::near, 1024, 1024, 2048);
    add(name, Operands::gradient_x, ScaleSpread::near, 1024, 768, 1280);
    add(name, Operands::gradient_w, ScaleSpread::near, 768, 1280, 1024);
    add(name, Operands::codes, ScaleSpread::near, 8192, 8192, 8192).tiles = 64;
    add(name, Operands::codes, ScaleSpread::mixed, 8192, 8192, 8192).tiles = 64;
    add(name, Operands::codes, ScaleSpread::mixed, 8192, 8192, 8192).recomputed = Recomputed::by_hand;
  }
  for (const char* name : {"mxfp4-2d/rceil", "mxfp6-e2m3/ocp", "mxfp6-e3m2/ocp", "mxfp8-e4m3/ocp", "mxfp8-e5m2/ocp",
                           "hifx3/gcc", "hifx5/gcc", "nvfp4/direct", "nvfp4/tensor-scale"}) {
    add(name, Operands::codes, ScaleSpread::near, 512, 512, 512);
    add(name, Operands::codes, ScaleSpread::mixed, 131, 67, 1088);
    add(name, Operands::forward, ScaleSpread::near, 192, 256, 1152);
  }
  for (const char* stack : {"resq", "fallback", "rfq", "mbs", "mbs-32", "mbs+resq", "tile-8", "tile-16",
                            "hadamard-16+resq", "resq-tiles"}) {
    add("mxfp4/rceil", Operands::forward, ScaleSpread::near, 512, 384, 1024).stack = find_correction_stack(stack);
  }
  add("mxfp4/ocp", Operands::forward, ScaleSpread::near, 512, 384, 1024).stack =
      find_correction_stack("three-quarters-rn");
  add("hif4/gcc", Operands::forward, ScaleSpread::near, 512, 384, 1024).stack = find_correction_stack("resq");
  add("mxfp8-e4m3/ocp", Operands::forward, ScaleSpread::near, 256, 192, 512).stack = find_correction_stack("resq");
  return entries;
}

std::vector<CorrectEntry> correct_entries() {
  std::vector<CorrectEntry> entries;
  const auto add = [&](const Profile* of, const CorrectionStack& stack, DType dtype, Spread spread,
                       const MatrixShape& shape) {
    entries.push_back({of, &stack, {dtype, spread, shape, 7000 + entries.size()}});
  };
  for (const CorrectionStack& stack : correction_stacks()) {
    for (const char* name :
         {"mxfp4/rceil", "mxfp4/ocp", "mxfp4/even", "hif4/gcc", "nvfp4/direct", "mxfp8-e4m3/rceil"}) {
      if (stack_refusal(*profile(name), stack) != nullptr) continue;
      add(profile(name), stack, DType::bf16, Spread::outliers, matrix(256, 2048, 1));
      add(profile(name), stack, DType::f32, Spread::wide, matrix(512, 192, 0));
      add(profile(name), stack, DType::f16, Spread::bits, {2, 96, 320, 1});
    }
  }
  return entries;
}

std::vector<DecomposeEntry> decompose_entries() {
  std::vector<DecomposeEntry> entries;
  const auto add = [&](const char* name, DType dtype, Spread spread, const MatrixShape& shape, bool with_terms) {
    entries.push_back({profile(name), {dtype, spread, shape, 9000 + entries.size()}, with_terms});
  };
  for (const char* name : {"mxfp4/ocp", "mxfp4/rceil", "mxfp4/even", "mxfp4/ocp-sr", "mxfp4-2d/rceil", "mxfp8-e4m3/ocp",
                           "mxfp6-e3m2/ocp", "hif4/gcc", "hif4-2d/gcc", "nvfp4/direct", "nvfp4/tensor-scale"}) {
    for (const DType dtype : dtypes) {
      add(name, dtype, Spread::outliers, matrix(256, 4100, 1), true);
      add(name, dtype, Spread::wide, matrix(1024, 96, 0), true);
      add(name, dtype, Spread::bits, {2, 64, 1024, 1}, true);
    }
  }
  for (const char* name : {"mxfp4/ocp", "mxfp4/rceil", "hif4/gcc"}) {
    add(name, DType::bf16, Spread::bell, matrix(4096, 8192, 1), false);
  }
  return entries;
}

std::vector<SweepEntry> sweep_entries() {
  std::vector<SweepEntry> entries;
  for (const sweeps::Sweep& sweep : sweeps::sweeps()) {
    const std::string_view name = sweep.name;
    const bool is_slow = name == "silu" || name == "rsqrt";  // on the host
    entries.push_back({is_slow ? Recomputed::by_hand : Recomputed::by_ci, entries.size(), sweep.name});
  }
  return entries;
}

Input input_a(const GemmEntry& entry) {
  const bool along_rows = entry.operands == Operands::gradient_w;
  const MatrixShape shape =
      along_rows ? MatrixShape{entry.batch, entry.k, entry.m, 0} : MatrixShape{entry.batch, entry.m, entry.k, 1};
  return {DType::bf16, Spread::outliers, shape, entry.seed};
}

Input input_b(const GemmEntry& entry) {
  const MatrixShape shape = entry.operands == Operands::forward ? MatrixShape{entry.batch, entry.n, entry.k, 1}
                                                                : MatrixShape{entry.batch, entry.k, entry.n, 0};
  return {DType::bf16, Spread::bell, shape, entry.seed + 1};
}

std::string name_of_entry(const QuantizeEntry& entry) {
  const std::string kind = entry.both_axes        ? "quantize both axes "
                           : entry.three_quarters ? "quantize 3/4 "
                                                  : "quantize ";
  const std::string layout =
      entry.layout == ScaleLayout::row_major ? "" : " " + std::string(fp4proof::name_of(entry.layout));
  return kind + std::string(entry.profile->name) + " " + input_text(entry.input) + layout;
}

std::string name_of_entry(const DequantizeEntry& entry) {
  return "dequantize " + std::string(entry.profile->name) + " to " + text_of(entry.dtype) + " " +
         std::to_string(entry.lines) + "x" + std::to_string(entry.length) + " seed " + std::to_string(entry.seed);
}

std::string name_of_entry(const GemmEntry& entry) {
  constexpr std::array<const char*, 4> operands = {"codes", "forward", "gradient-x", "gradient-w"};
  const std::string batch = entry.batch == 1 ? "" : std::to_string(entry.batch) + "x";
  const std::string tiles = entry.tiles == 0 ? "" : " " + std::to_string(entry.tiles) + " tiles";
  return "gemm " + std::string(entry.profile->name) + " " + std::string(entry.stack->name) + " " + batch +
         std::to_string(entry.m) + "x" + std::to_string(entry.n) + "x" + std::to_string(entry.k) + " " +
         operands.at(static_cast<std::size_t>(entry.operands)) +
         (entry.scales == ScaleSpread::mixed ? " mixed scales" : "") + (entry.one_chunk ? " seq" : " seq512") + tiles +
         " seed " + std::to_string(entry.seed);
}

std::string name_of_entry(const CorrectEntry& entry) {
  return "correct " + std::string(entry.profile->name) + " " + std::string(entry.stack->name) + " " +
         input_text(entry.input);
}

std::string name_of_entry(const DecomposeEntry& entry) {
  return "decompose " + std::string(entry.profile->name) + " " + input_text(entry.input) +
         (entry.with_terms ? "" : " sums alone");
}

std::string name_of_entry(const SweepEntry& entry) { return std::string("sweep ") + entry.name; }

}  // namespace fp4proof::evidence
