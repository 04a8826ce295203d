#include "tests/fuzz/container_properties.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "conformance/vectors/manifest.h"
#include "conformance/vectors/safetensors.h"

namespace fp4proof::fuzz {
namespace {

constexpr std::size_t longest_message = 4000;

Outcome accepted(std::string broken) { return {true, std::move(broken)}; }

Outcome refused(const Error& error) {
  const bool printable =
      std::ranges::none_of(error.message, [](char c) { return static_cast<unsigned char>(c) < 32 || c == 127; });
  if (error.kind != ErrorKind::corrupt) return {false, "refused with another kind than corrupt: " + error.message};
  if (!error.message.starts_with("INPUT")) return {false, "message without the label: " + error.message};
  if (!printable || error.message.size() > longest_message) return {false, "message unfit to print: " + error.message};
  return {false, ""};
}

/// Reads every byte, so that a span outside the input meets the address sanitizer.
std::uint64_t sum(Bytes bytes) { return std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0}); }

std::vector<TensorSpec> specs_of(const SafetensorsFile& file) {
  std::vector<TensorSpec> specs;
  for (const TensorEntry& tensor : file.tensors()) specs.push_back(tensor.spec);
  return specs;
}

/// The file that the layout describes, with the tensors of `source`.
std::string assemble(const SafetensorsLayout& layout, const SafetensorsFile& source) {
  std::string file = layout.head;
  for (const TensorEntry& tensor : layout.header.tensors) {
    file += text_of(source.bytes(*source.find(tensor.spec.name)));
  }
  return file;
}

std::string compare(const SafetensorsFile& one, const SafetensorsFile& two) {
  if (one.metadata() != two.metadata()) return "metadata changed";
  if (one.tensors().size() != two.tensors().size()) return "number of tensors changed";
  for (const TensorEntry& tensor : one.tensors()) {
    const TensorEntry* other = two.find(tensor.spec.name);
    if (other == nullptr) return "tensor lost";
    if (!(other->spec == tensor.spec)) return "tensor description changed";
    if (sum(one.bytes(tensor)) != sum(two.bytes(*other))) return "tensor sum changed";
    if (!std::ranges::equal(one.bytes(tensor), two.bytes(*other))) return "tensor bytes changed";
  }
  return "";
}

}  // namespace

Outcome check_safetensors(Bytes file) {
  const Result<SafetensorsFile> read = SafetensorsFile::parse(file, "INPUT");
  if (!read) return refused(read.error());
  const Result<SafetensorsLayout> layout = plan_safetensors(specs_of(*read), read->metadata());
  if (!layout) return accepted("cannot be laid out again: " + layout.error().message);
  const std::string rewritten = assemble(*layout, *read);
  const Result<SafetensorsFile> again = SafetensorsFile::parse(bytes_of(rewritten), "REWRITTEN");
  if (!again) return accepted("rewritten form is refused: " + again.error().message);
  if (std::string difference = compare(*read, *again); !difference.empty()) return accepted(std::move(difference));
  const Result<SafetensorsLayout> settled = plan_safetensors(specs_of(*again), again->metadata());
  if (!settled || settled->head != layout->head) return accepted("rewriting does not settle");
  return accepted("");
}

Outcome check_manifest(Bytes text) {
  const Result<Manifest> read = parse_manifest(text_of(text), "INPUT");
  if (!read) return refused(read.error());
  const Result<std::string> rewritten = manifest_text(*read);
  if (!rewritten) return accepted("cannot be written again: " + rewritten.error().message);
  const Result<Manifest> again = parse_manifest(*rewritten, "REWRITTEN");
  if (!again) return accepted("rewritten form is refused: " + again.error().message);
  if (again->tool_version != read->tool_version || again->set != read->set) return accepted("header changed");
  if (again->files != read->files) return accepted("files changed");
  if (again->body != read->body) return accepted("body changed");
  const Result<std::string> settled = manifest_text(*again);
  if (!settled || *settled != *rewritten) return accepted("rewriting does not settle");
  return accepted("");
}

}  // namespace fp4proof::fuzz
