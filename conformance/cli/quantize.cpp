// fp4proof quantize: the float tensors of a file to codes and scales.

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "conformance/cli/common_options.h"
#include "conformance/cli/correct_option.h"
#include "conformance/cli/corrected_tensor.h"
#include "conformance/cli/error_report.h"
#include "conformance/cli/original_order.h"
#include "conformance/cli/profile_option.h"
#include "conformance/cli/quantize_stream.h"
#include "conformance/cli/quantized_file.h"
#include "conformance/cli/row_packing.h"
#include "conformance/cli/same_file.h"
#include "conformance/cli/stored_corrections.h"
#include "conformance/cli/tensor_source.h"
#include "conformance/cli/verbs.h"
#include "conformance/cli/version.h"
#include "conformance/vectors/os_error.h"
#include "reference/portable/dequantize.h"

namespace fp4proof::cli {

namespace {

using portable::Geometry;

struct Options {
  std::string input;
  std::string output;
  ProfileOption profile;
  int axis = -1;
  std::string tail = "error";
  std::uint64_t seed = 0;
  std::string packing = "canonical";
  std::string stack;
  std::optional<std::uint32_t> product;
  bool pack_residual = false;
  bool dequantize = false;
  std::vector<std::string> tensors;
  std::string report;
};

/// A tensor with its place in the output.
struct Work {
  TensorSource source;
  Geometry geometry;  ///< as it is stored
  TensorPlan plan;    ///< as it is worked on
};

class Quantizer {
 public:
  Quantizer(const Options& options, Session& session) : options_(options), session_(session) {
    settings_.axis = options.axis;
    settings_.tail = tail_of(options.tail);
    settings_.seed = options.seed;
    file_.packing = options.packing == "profile" ? Packing::profile : Packing::canonical;
    file_.seed = options.seed;
  }

  Result<ExitCode> run() {
    const Result<SharedProfile> profile = options_.profile.resolve();
    if (!profile) return profile.error();
    file_.profile = *profile;
    if (const Result<void> chosen = choose_corrections(); !chosen) return chosen.error();
    for (const std::string& source : {options_.input, options_.profile.name, options_.stack}) {
      if (const Result<void> apart = refuse_same_file(source, options_.output); !apart) return apart.error();
    }
    const std::string label = quote_path(options_.input);
    const Result<SafetensorsFile> input = SafetensorsFile::open(options_.input);
    if (!input) return input.error();
    Result<std::vector<TensorSource>> sources = float_tensors(*input, label, options_.tensors, session_);
    if (!sources) return sources.error();
    if (sources->empty()) {
      session_.complain({ErrorKind::usage, fmt::format("{} holds no F32, F16 or BF16 tensor: nothing was quantized, {} "
                                                       "was not written",
                                                       label, quote_path(options_.output))});
      return ExitCode::incomplete;
    }
    if (const Result<void> planned = plan(*std::move(sources)); !planned) return planned.error();
    if (const Result<void> written = write(); !written) return written.error();
    report();
    return ExitCode::conformant;
  }

 private:
  Result<void> choose_corrections() {
    const Result<SharedStack> stack = stack_for(*file_.profile, options_.stack);
    if (!stack) return stack.error();
    if (const Result<void> sound = check_product(options_.product, has_fresh_signs(*stack)); !sound) return sound;
    if (options_.pack_residual && (*stack == nullptr || !can_be_packed(*file_.profile, **stack))) {
      return Error{
          ErrorKind::usage,
          fmt::format("--pack-residual stores a 2:4 residual of 4-bit elements, which {} under profile {} does "
                      "not have; choose a stack such as resq on a 4-bit profile, or remove --pack-residual",
                      *stack == nullptr ? "plain quantization" : fmt::format("stack {}", (*stack)->name),
                      file_.profile->name)};
    }
    if (*stack == nullptr) return {};
    file_.corrections = {*stack, options_.product.value_or(0),
                         options_.pack_residual ? ResidualForm::packed : ResidualForm::codes};
    return {};
  }

  Result<void> plan(std::vector<TensorSource> sources) {
    const Profile coded = file_.coded();
    for (TensorSource& source : sources) {
      auto geometry = portable::cut_into_blocks(coded, source.shape, settings_.axis, settings_.tail);
      if (!geometry) {
        return Error{geometry.error().kind, fmt::format("tensor {}: {}", quote(source.name), geometry.error().message)};
      }
      file_.tensors.push_back({source.name, source.dtype, source.shape, geometry->axis, settings_.tail});
      Geometry working =
          file_.corrections || keeps_rows(file_) ? *geometry : with_short_rows(*file_.profile, *geometry);
      work_.push_back({std::move(source), *geometry, {std::move(working), 1.0F}});
    }
    return {};
  }

  std::vector<TensorSpec> output_specs() const {
    std::vector<TensorSpec> specs;
    for (const Work& work : work_) {
      const auto quantized = quantized_specs(file_, work.source.name, work.geometry);
      specs.insert(specs.end(), quantized.begin(), quantized.end());
      if (options_.dequantize) {
        specs.push_back({dequantized_name(work.source.name), TensorDtype::f32, container_shape(work.source.shape)});
      }
    }
    return specs;
  }

  Result<void> write() {
    Result<SafetensorsWriter> writer = SafetensorsWriter::create(options_.output, output_specs(), metadata_of(file_));
    if (!writer) return writer.error();
    std::uint64_t total = 0;
    for (const Work& work : work_) total += static_cast<std::uint64_t>(work.geometry.rows * work.geometry.columns);
    Progress progress("quantizing", total);
    for (Work& work : work_) {
      const Result<void> written =
          file_.corrections ? write_corrected_tensor(*writer, work) : write_tensor(*writer, work, progress);
      if (!written) return written;
      if (file_.corrections) progress.advance(static_cast<std::uint64_t>(work.geometry.rows * work.geometry.columns));
    }
    return writer->commit();
  }

  Result<void> write_corrected_tensor(SafetensorsWriter& writer, const Work& work) {
    auto corrected = correct_tensor(file_, work.source, settings_);
    if (!corrected) return corrected.error();
    if (const Result<void> done = write_corrected(writer, file_, work.source, settings_, *corrected); !done)
      return done;
    if (!options_.dequantize && options_.report.empty()) return {};
    const std::vector<float> values = portable::dequantize(*corrected);
    if (!options_.report.empty()) {
      errors_.emplace_back(work.source.name, corrected_errors(file_, work.source, *corrected, values));
    }
    if (!options_.dequantize) return {};
    return write_in_original_order(writer, dequantized_name(work.source.name), work.geometry, {0, work.geometry.rows},
                                   values);
  }

  Result<void> write_tensor(SafetensorsWriter& writer, Work& work, Progress& progress) {
    const Profile& profile = *file_.profile;
    const std::string& name = work.source.name;
    work.plan.tensor_scale = portable::tensor_scale_of(profile, work.source.view());
    ErrorSums sums;
    sums.bytes = stored_bytes(profile, work.geometry);
    if (profile.tensor_scale) {
      const std::vector<float> scale = {work.plan.tensor_scale};
      if (Result<void> written = writer.write(tensor_scale_name(name), 0, bytes_of(scale)); !written) return written;
    }
    ScalePacker packer(profile, work.plan.geometry, [&](std::uint64_t offset, Bytes bytes) {
      return writer.write(scales_name(name), offset, bytes);
    });
    Result<void> done =
        quantize_in_chunks(profile, work.source, work.plan, settings_, progress,
                           [&](const QuantizedChunk& chunk) { return write_chunk(writer, work, chunk, packer, sums); });
    if (done) errors_.emplace_back(name, sums);
    return done;
  }

  Result<void> write_chunk(SafetensorsWriter& writer, const Work& work, const QuantizedChunk& chunk,
                           ScalePacker& packer, ErrorSums& sums) {
    const Profile& profile = *file_.profile;
    const Geometry& geometry = work.plan.geometry;
    if (options_.dequantize || !options_.report.empty()) {
      values_.resize(static_cast<std::size_t>(chunk.rows.count() * geometry.columns));
      portable::dequantize_rows(profile, geometry, work.plan.tensor_scale, chunk.rows.count(), chunk.codes,
                                chunk.scales, values_);
    }
    if (!options_.report.empty()) sums.add(chunk_errors(profile, work.source, geometry, chunk, values_));
    if (options_.dequantize) {
      const std::string name = dequantized_name(work.source.name);
      Result<void> written = write_in_original_order(writer, name, geometry, chunk.rows, values_);
      if (!written) return written;
    }
    if (Result<void> written = write_scales(writer, work, chunk, packer); !written) return written;
    if (file_.packing == Packing::profile) pack_code_rows(profile, chunk.codes);
    const auto offset = static_cast<std::uint64_t>(chunk.rows.begin * geometry.code_bytes_per_row);
    return writer.write(codes_name(work.source.name), offset, chunk.codes);
  }

  Result<void> write_scales(SafetensorsWriter& writer, const Work& work, const QuantizedChunk& chunk,
                            ScalePacker& packer) const {
    if (file_.packing == Packing::profile) return packer.add(chunk.scales);
    const auto offset = static_cast<std::uint64_t>(chunk.rows.begin * work.plan.geometry.scale_bytes_per_row);
    return writer.write(scales_name(work.source.name), offset, chunk.scales);
  }

  void report() {
    if (options_.report == "table") session_.print(error_table(errors_));
    if (options_.report != "json") return;
    nlohmann::json tensors = nlohmann::json::object();
    for (const auto& [name, sums] : errors_) tensors[name] = to_json(sums);
    nlohmann::json report = {{"format", "fp4proof-errors/1"},
                             {"profile", file_.profile->name},
                             {"tensors", tensors},
                             {"tool_version", tool_version}};
    if (file_.corrections) report["corrections"] = stack_to_json(*file_.corrections->stack);
    session_.print_json(report);
  }

  const Options& options_;
  Session& session_;
  portable::QuantizeOptions settings_;
  QuantizedFile file_;
  std::vector<Work> work_;
  std::vector<NamedErrors> errors_;
  std::vector<float> values_;
};

constexpr const char* help =
    "Examples:\n"
    "  fp4proof quantize in.safetensors out.safetensors --profile mxfp4/ocp\n"
    "  fp4proof quantize in.safetensors out.safetensors --profile hif4/gcc --tail pad --report table\n"
    "  fp4proof quantize in.safetensors out.safetensors --profile mxfp4/rceil-sr --seed 7 --dequantize\n"
    "  fp4proof quantize in.safetensors out.safetensors --profile mxfp4/ocp --set nan=error --tensor layer.weight\n"
    "  fp4proof quantize in.safetensors out.safetensors --profile mxfp4/rceil --correct resq --pack-residual\n"
    "For each tensor T, OUT holds T.codes and T.scales (U8), T.tensor_scale (F32) where the profile has one, and with\n"
    "--dequantize T.dequantized (F32, in the order of T). Two 4-bit codes a byte, the even element in the low nibble.\n"
    "With --correct also T.macro (macro bytes), T.residual.codes, T.residual.scales, T.residual.macro, and in place "
    "of\n"
    "T.residual.codes with --pack-residual T.residual.packed_codes and T.residual.places; codes mean the corrected "
    "value.\n"
    "A corrected tensor is held in memory, with up to 20 bytes an element; others are worked on in chunks.\n"
    "The report gives |e|^2/|x|^2 and its root, the largest |e| in the tensor's own unit, the shares of elements that\n"
    "became zero or lie beyond the largest value under their scale, and stored bits per element.\n"
    "docs/file-format.md describes OUT.";

Action add(CLI::App& command, Session& session) {
  auto options = std::make_shared<Options>();
  command.description("Quantize the float tensors (F32, F16, BF16) of a safetensors file to codes and scales.");
  command.footer(help);
  command.add_option("IN", options->input, "File to read")->required()->type_name("FILE");
  command.add_option("OUT", options->output, "File to write; it appears complete or not at all")
      ->required()
      ->type_name("FILE");
  options->profile.add_to(command);
  add_axis_option(command, options->axis);
  add_tail_option(command, options->tail);
  add_seed_option(command, options->seed);
  command
      .add_option("--packing", options->packing,
                  "Bytes in the order all profiles share (canonical, default), or profile")
      ->check(CLI::IsMember({"canonical", "profile"}))
      ->option_text("canonical|profile");
  add_correct_option(command, options->stack);
  add_product_option(command, options->product);
  command.add_flag("--pack-residual", options->pack_residual,
                   "Store a 2:4 residual as sparse tensor cores take it: kept codes and their places");
  command.add_flag("--dequantize", options->dequantize, "Also write what the codes mean, T.dequantized");
  add_tensor_option(command, options->tensors);
  command.add_option("--report", options->report, "Print the errors of each tensor")
      ->check(CLI::IsMember({"table", "json"}))
      ->option_text("table|json");
  session.add_threads_option(command);
  return [options, &session] { return Quantizer(*options, session).run(); };
}

}  // namespace

const Verb quantize_verb{"quantize", add};

}  // namespace fp4proof::cli
