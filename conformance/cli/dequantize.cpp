// fp4proof dequantize: codes and scales back to binary32.

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "conformance/cli/common_options.h"
#include "conformance/cli/corrected_tensor.h"
#include "conformance/cli/original_order.h"
#include "conformance/cli/progress.h"
#include "conformance/cli/quantized_rows.h"
#include "conformance/cli/same_file.h"
#include "conformance/cli/verbs.h"
#include "conformance/cli/version.h"
#include "conformance/vectors/os_error.h"
#include "formats/spec_profiles.h"
#include "reference/portable/dequantize.h"

namespace fp4proof::cli {

namespace {

struct Options {
  std::string input;
  std::string output;
  std::vector<std::string> tensors;
};

/// The records that the user asked for: all of them, or those of `names`.
Result<std::vector<TensorRecord>> chosen_records(const QuantizedFile& file, const std::vector<std::string>& names,
                                                 std::string_view label) {
  if (names.empty()) return file.tensors;
  std::vector<TensorRecord> chosen;
  for (const std::string& name : names) {
    const Result<const TensorRecord*> record = record_named(file, name, label);
    if (!record) return record.error();
    chosen.push_back(**record);
  }
  return chosen;
}

Result<void> write_tensor(SafetensorsWriter& writer, const QuantizedRows& rows, Progress& progress) {
  const portable::Geometry& geometry = rows.geometry();
  if (geometry.columns == 0) return {};
  std::vector<float> values;
  QuantizedRows::Buffers buffers;
  for (std::int64_t begin = 0; begin < geometry.rows;) {
    const RowRange range = next_chunk(rows.profile(), geometry, begin);
    const QuantizedRows::Canonical canonical = rows.read(range, buffers);
    values.resize(static_cast<std::size_t>(range.count() * geometry.columns));
    portable::dequantize_rows(rows.profile(), geometry, rows.tensor_scale(), range.count(), canonical.codes,
                              canonical.scales, values);
    Result<void> written = write_in_original_order(writer, rows.name(), geometry, range, values);
    if (!written) return written;
    progress.advance(static_cast<std::uint64_t>(values.size()));
    begin = range.end;
  }
  return {};
}

/// A corrected tensor, which is read whole.
Result<void> write_corrected_values(SafetensorsWriter& writer, const QuantizedFile& file, const TensorRecord& record,
                                    const SafetensorsFile& input, std::string_view label, Progress& progress) {
  const auto corrected = read_corrected(file, record, input, label);
  if (!corrected) return corrected.error();
  const portable::Geometry& geometry = corrected->geometry();
  const std::vector<float> values = portable::dequantize(*corrected);
  progress.advance(static_cast<std::uint64_t>(values.size()));
  return write_in_original_order(writer, record.name, geometry, {0, geometry.rows}, values);
}

Result<ExitCode> dequantize(const Options& options, Session& session) {
  if (const Result<void> apart = refuse_same_file(options.input, options.output); !apart) return apart.error();
  const std::string label = quote_path(options.input);
  const Result<SafetensorsFile> input = SafetensorsFile::open(options.input);
  if (!input) return input.error();
  const Result<QuantizedFile> file = read_quantized_file(*input, label);
  if (!file) return file.error();
  const Result<std::vector<TensorRecord>> records = chosen_records(*file, options.tensors, label);
  if (!records) return records.error();
  if (records->empty()) {
    session.complain({ErrorKind::usage, fmt::format("{} records no tensor: nothing was dequantized", label)});
    return ExitCode::incomplete;
  }
  std::vector<QuantizedRows> tensors;
  std::vector<TensorSpec> specs;
  std::uint64_t total = 0;
  for (const TensorRecord& record : *records) {
    Result<QuantizedRows> rows = QuantizedRows::open(*file, record, *input, label);
    if (!rows) return rows.error();
    total += static_cast<std::uint64_t>(rows->geometry().rows * rows->geometry().columns);
    tensors.push_back(*std::move(rows));
    specs.push_back({record.name, TensorDtype::f32, container_shape(record.shape)});
  }
  Result<SafetensorsWriter> writer = SafetensorsWriter::create(options.output, specs, dequantized_metadata(*file));
  if (!writer) return writer.error();
  Progress progress("dequantizing", total);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Result<void> written = file->corrections
                                     ? write_corrected_values(*writer, *file, (*records)[i], *input, label, progress)
                                     : write_tensor(*writer, tensors[i], progress);
    if (!written) return written.error();
  }
  if (const Result<void> committed = writer->commit(); !committed) return committed.error();
  return ExitCode::conformant;
}

constexpr const char* help =
    "Examples:\n"
    "  fp4proof quantize in.safetensors q.safetensors --profile hif4/gcc\n"
    "  fp4proof dequantize q.safetensors back.safetensors\n"
    "The profile, the axis and the original shapes come from the metadata of IN. Each tensor is written as F32 under\n"
    "its original name, in its original order and shape, without padding. A value is element * scale, rounded once\n"
    "to binary32; blocks under a NaN scale give NaN (0x7fc00000). Corrected tensors (quantize --correct) give the\n"
    "corrected value; they are held in memory.";

Action add(CLI::App& command, Session& session) {
  auto options = std::make_shared<Options>();
  command.description("Turn a file of 'fp4proof quantize' back into binary32 tensors.");
  command.footer(help);
  command.add_option("IN", options->input, "File to read")->required()->type_name("FILE");
  command.add_option("OUT", options->output, "File to write; it appears complete or not at all")
      ->required()
      ->type_name("FILE");
  add_tensor_option(command, options->tensors);
  session.add_threads_option(command);
  return [options, &session] { return dequantize(*options, session); };
}

}  // namespace

const Verb dequantize_verb{"dequantize", add};

}  // namespace fp4proof::cli
