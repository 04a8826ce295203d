#include "conformance/export/group_files.h"

#include "conformance/export/array_files.h"
#include "conformance/export/names.h"
#include "conformance/export/sidecar.h"
#include "conformance/vectors/manifest.h"
#include "conformance/vectors/pending_folder.h"

namespace fp4proof::exports {

using nlohmann::json;

namespace {

/// Writes the files of a group and remembers what they are.
class GroupWriter {
 public:
  GroupWriter(const GroupColumns& group, std::span<const std::string> class_names, std::filesystem::path folder)
      : group_(group), class_names_(class_names), folder_(std::move(folder)), stem_(file_stem(*group.group)) {}

  Result<void> write(Format format, std::span<const ColumnWords> columns, const json& set) {
    switch (format) {
      case Format::hex:
        return each_column(columns, ".hex", format, [&](const ColumnWords& c) { return hex_text(group_, c); });
      case Format::npy:
        return each_column(columns, ".npy", format,
                           [&](const ColumnWords& c) { return npy_content(group_.cases(), c.words); });
      case Format::csv: return text_file(".csv", format, csv_text(group_, class_names_, columns));
      case Format::c_header: return text_file(".h", format, c_header_text(group_, class_names_, columns));
      case Format::safetensors: {
        const std::string name = stem_ + ".safetensors";
        if (const Result<void> written = write_native_safetensors(folder_ / name, group_, metadata(set)); !written) {
          return written;
        }
        return remember(name, format, {});
      }
    }
    return {};
  }

  Result<std::vector<std::string>> finish(json sidecar) {
    sidecar["files"] = files_;
    const std::string name = stem_ + ".json";
    if (const Result<void> written = write_pending_file(folder_ / name, bytes_of(sidecar.dump(2) + "\n")); !written) {
      return written.error();
    }
    names_.push_back(name);
    return std::move(names_);
  }

 private:
  SafetensorsMetadata metadata(const json& set) const {
    return {{"format", std::string(sidecar_format)},
            {"operation", std::string(suite::name_of(group_.operation))},
            {"profile", std::string(group_.profile->name)},
            {"group", suite::group_name(group_.group->spec)},
            {"set", set.at("source").get<std::string>()}};
  }

  template <class Content>
  Result<void> each_column(std::span<const ColumnWords> columns, const char* ending, Format format,
                           const Content& content) {
    for (const ColumnWords& column : columns) {
      const std::string name = stem_ + "." + column.column->name + ending;
      if (const Result<void> written = write_pending_file(folder_ / name, bytes_of(content(column))); !written)
        return written;
      if (const Result<void> noted = remember(name, format, column.column->name); !noted) return noted;
    }
    return {};
  }

  Result<void> text_file(const char* ending, Format format, const std::string& text) {
    const std::string name = stem_ + ending;
    if (const Result<void> written = write_pending_file(folder_ / name, bytes_of(text)); !written) return written;
    return remember(name, format, {});
  }

  Result<void> remember(const std::string& name, Format format, const std::string& column) {
    const Result<FileRecord> record = record_file(folder_ / name);
    if (!record) return record.error();
    json entry = {{"format", name_of(format)}, {"sha256", record->sha256}, {"bytes", record->bytes}};
    if (!column.empty()) entry["column"] = column;
    files_[name] = std::move(entry);
    names_.push_back(name);
    return {};
  }

  const GroupColumns& group_;
  std::span<const std::string> class_names_;
  std::filesystem::path folder_;
  std::string stem_;
  json files_ = json::object();
  std::vector<std::string> names_;
};

}  // namespace

Result<std::vector<std::string>> write_group(const ExportRequest& request, const json& set,
                                             std::span<const std::string> class_names, const GroupColumns& group,
                                             const std::filesystem::path& folder) {
  std::vector<ColumnWords> columns;
  for (const Column& column : group.columns) columns.push_back({&column, words_of(group, column, request.words)});
  GroupWriter writer(group, class_names, folder);
  for (const Format format : request.formats) {
    if (const Result<void> written = writer.write(format, columns, set); !written) return written.error();
  }
  Result<json> sidecar = group_json(request, group, class_names, columns);
  if (!sidecar) return sidecar.error();
  (*sidecar)["set"] = set;
  return writer.finish(std::move(*sidecar));
}

}  // namespace fp4proof::exports
