#include "conformance/suite/vector_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "conformance/suite/case_class.h"
#include "conformance/suite/shared_rules.h"
#include "conformance/vectors/checked_file.h"
#include "conformance/vectors/os_error.h"
#include "conformance/vectors/safetensors.h"

namespace fp4proof::suite {

namespace {

struct StoredTensor {
  TensorSpec spec;
  Bytes bytes;
};

std::vector<std::uint64_t> with_cases(std::uint64_t cases, const std::vector<std::uint64_t>& case_shape) {
  std::vector<std::uint64_t> shape = {cases};
  shape.insert(shape.end(), case_shape.begin(), case_shape.end());
  return shape;
}

Error corrupt(const std::filesystem::path& path, std::string_view problem) {
  return {ErrorKind::corrupt, fmt::format("{}: {}", quote(path.string()), problem)};
}

/// The bytes of a tensor that must have this dtype and shape.
Result<Bytes> require_tensor(const SafetensorsFile& file, const std::filesystem::path& path, const TensorSpec& wanted) {
  const Result<const TensorEntry*> entry = file.require(wanted.name);
  if (!entry) return entry.error();
  if ((*entry)->spec != wanted) {
    return corrupt(path,
                   fmt::format("tensor {} has not the dtype and shape that the manifest promises", quote(wanted.name)));
  }
  return file.bytes(**entry);
}

Result<CaseGroup> read_group(const SafetensorsFile& file, const std::filesystem::path& path, const CaseTable& table,
                             const GroupEntry& entry, bool inputs_only) {
  Result<std::vector<CaseTensor>> tensors = group_tensors(table.operation, *table.profile, entry.spec);
  if (!tensors) return corrupt(path, tensors.error().message);
  CaseGroup group{entry.spec, {}, {}, std::move(*tensors)};
  const auto bytes_of_tensor = [&](std::string_view name, TensorDtype dtype,
                                   const std::vector<std::uint64_t>& case_shape) {
    return require_tensor(file, path,
                          {tensor_name(table, entry.spec, name), dtype, with_cases(entry.cases, case_shape)});
  };
  const Result<Bytes> ids = bytes_of_tensor("case_id", TensorDtype::u64, {});
  if (!ids) return ids.error();
  group.ids = copy_elements<std::uint64_t>(*ids);
  const Result<Bytes> classes = bytes_of_tensor("class", TensorDtype::u16, {});
  if (!classes) return classes.error();
  group.classes = copy_elements<std::uint16_t>(*classes);
  for (CaseTensor& tensor : group.tensors) {
    if (tensor.expected && inputs_only) continue;
    const Result<Bytes> bytes = bytes_of_tensor(tensor.name, tensor.dtype, tensor.case_shape);
    if (!bytes) return bytes.error();
    tensor.bytes.assign(bytes->begin(), bytes->end());
  }
  return group;
}

/// A case is named after its question: another question under the same name would be another case.
Result<void> check_ids(const std::filesystem::path& path, const CaseTable& table, const CaseGroup& group) {
  for (std::size_t i = 0; i < group.size(); ++i) {
    const Result<std::uint64_t> id = case_id(table, group, i);
    if (!id) return id.error();
    if (*id == group.ids[i]) continue;
    return corrupt(path, fmt::format("case {} of group {} has not the id of its inputs: it is called {}, they give {}",
                                     i, group_name(group.spec), id_text(group.ids[i]), id_text(*id)));
  }
  return {};
}

}  // namespace

const TableEntry* VectorSet::find(Operation operation, const Profile& profile) const {
  for (const TableEntry& entry : tables) {
    if (entry.operation == operation && same_rule(operation, *entry.profile, profile)) return &entry;
  }
  return nullptr;
}

std::string file_name(Operation operation, std::string_view profile_name) {
  std::string name(profile_name);
  std::ranges::replace(name, '/', '.');
  return fmt::format("{}.{}.safetensors", name_of(operation), name);
}

std::vector<ClassEntry> class_entries() {
  std::vector<ClassEntry> entries;
  for (const CaseClass& of_class : case_classes()) {
    entries.push_back({std::string(of_class.name), std::string(of_class.bug), of_class.operation});
  }
  return entries;
}

TableEntry entry_of(const CaseTable& table) {
  TableEntry entry;
  entry.file = file_name(table.operation, table.profile->name);
  entry.operation = table.operation;
  entry.profile = table.profile;
  for (const std::string_view alias : aliases(table.operation, *table.profile)) entry.aliases.emplace_back(alias);
  for (const CaseGroup& group : table.groups) {
    entry.groups.push_back({group.spec, group.size()});
    for (const std::uint16_t index : group.classes) ++entry.classes[std::string(case_classes()[index].name)];
  }
  entry.cases = table.case_count();
  return entry;
}

Result<void> write_table(const std::filesystem::path& path, const CaseTable& table, bool inputs_only) {
  std::vector<TensorData> tensors;
  for (const CaseGroup& group : table.groups) {
    const auto add = [&](std::string_view name, TensorDtype dtype, const std::vector<std::uint64_t>& case_shape,
                         Bytes bytes) {
      tensors.push_back({{tensor_name(table, group.spec, name), dtype, with_cases(group.size(), case_shape)}, bytes});
    };
    add("case_id", TensorDtype::u64, {}, fp4proof::bytes_of(group.ids));
    add("class", TensorDtype::u16, {}, fp4proof::bytes_of(group.classes));
    for (const CaseTensor& tensor : group.tensors) {
      if (!tensor.expected || !inputs_only) add(tensor.name, tensor.dtype, tensor.case_shape, tensor.bytes);
    }
  }
  const SafetensorsMetadata metadata = {{"format", std::string(manifest_format)},
                                        {"operation", std::string(name_of(table.operation))},
                                        {"profile", profile_to_json(*table.profile).dump()}};
  return write_safetensors(path, tensors, metadata);
}

Result<VectorSet> open_set(const std::filesystem::path& folder, bool check_digests) {
  const std::filesystem::path path = folder / manifest_name;
  std::error_code status;
  if (!std::filesystem::exists(path, status)) {
    return Error{ErrorKind::usage, fmt::format("{}: not a vector set, {} is missing; 'fp4proof generate' makes one",
                                               quote(folder.string()), manifest_name)};
  }
  Result<Manifest> manifest = read_manifest(path);
  if (!manifest) return manifest.error();
  Result<VectorSet> set = parse_vector_set(std::move(*manifest), quote(path.string()));
  if (!set) return set;
  set->folder = folder;
  if (check_digests) {
    const Result<void> checked = check_files(folder, set->manifest);
    if (!checked) return checked.error();
  }
  return set;
}

Result<CaseTable> read_table(const VectorSet& set, const TableEntry& entry) {
  const std::filesystem::path path = set.folder / entry.file;
  const Result<std::vector<std::uint8_t>> bytes = read_checked_file(set.folder, set.manifest, entry.file);
  if (!bytes) return bytes.error();
  const Result<SafetensorsFile> file = SafetensorsFile::parse(*bytes, quote(path.string()));
  if (!file) return file.error();
  CaseTable table;
  table.operation = entry.operation;
  table.profile = entry.profile;
  std::size_t tensors = 0;
  for (const GroupEntry& group_entry : entry.groups) {
    Result<CaseGroup> group = read_group(*file, path, table, group_entry, set.inputs_only);
    if (!group) return group.error();
    if (const Result<void> named = check_ids(path, table, *group); !named) return named.error();
    const auto out_of_table = [&](std::uint16_t index) { return index >= set.classes.size(); };
    if (std::ranges::any_of(group->classes, out_of_table)) {
      return corrupt(path,
                     fmt::format("group {} has a class that the manifest does not list", group_name(group->spec)));
    }
    tensors += 2 + static_cast<std::size_t>(std::ranges::count_if(
                       group->tensors, [&](const CaseTensor& tensor) { return !tensor.expected || !set.inputs_only; }));
    table.groups.push_back(std::move(*group));
  }
  if (tensors != file->tensors().size()) return corrupt(path, "the file has tensors that the manifest does not name");
  return table;
}

}  // namespace fp4proof::suite
