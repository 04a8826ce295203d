#include "conformance/export/sidecar.h"

#include "conformance/export/array_files.h"
#include "conformance/export/names.h"
#include "conformance/profiles/profile_json.h"
#include "conformance/vectors/sha256.h"

namespace fp4proof::exports {

using nlohmann::json;

namespace {

json with_cases(const GroupColumns& group, const std::vector<std::uint64_t>& case_shape) {
  json shape = json::array({group.cases()});
  for (const std::uint64_t extent : case_shape) shape.push_back(extent);
  return shape;
}

json column_json(const GroupColumns& group, const ColumnWords& column, Granularity granularity) {
  const Column& of = *column.column;
  const Words& words = column.words;
  return {{"name", of.name},
          {"role", name_of(of.role)},
          {"content", of.content},
          {"dtype", of.dtype},
          {"bits", of.bits},
          {"shape", with_cases(group, of.shape)},
          {"order", "row-major, the last dimension fastest"},
          {"words",
           {{"granularity", name_of(granularity)},
            {"width", words.width()},
            {"slots", words.slots},
            {"slot_bits", words.slot_bits},
            {"packing", words.packing()},
            {"shape", with_cases(group, words.shape)},
            {"per_case", words.per_case()},
            {"count", words.count()}}},
          {"native", {{"dtype", name_of(of.native_dtype)}, {"shape", with_cases(group, of.native_shape)}}}};
}

Result<std::string> digest_of_cases(const GroupColumns& group) {
  std::vector<std::uint8_t> all;
  for (const Column& column : group.columns) all.insert(all.end(), column.bytes.begin(), column.bytes.end());
  const Result<Sha256Digest> digest = sha256(all);
  if (!digest) return digest.error();
  return to_hex(*digest);
}

json parameters(const suite::GroupSpec& spec) {
  return {{"rows", spec.rows},
          {"columns", spec.columns},
          {"other_rows", spec.other_rows},
          {"axis", spec.axis},
          {"tail", spec.tail == portable::Tail::pad ? "pad" : "error"},
          {"accumulator", spec.accumulator},
          {"correction", spec.correction}};
}

}  // namespace

Result<json> source_json(const ExportRequest& request) {
  json source = {{"source", request.cases->label()}, {"manifest_sha256", nullptr}};
  if (request.set_folder) {
    const Result<FileDigest> digest = sha256_of_file(*request.set_folder / suite::manifest_name);
    if (!digest) return digest.error();
    source["source"] = "folder " + request.set_folder->lexically_normal().filename().string();
    source["manifest_sha256"] = to_hex(digest->digest);
  }
  return source;
}

Result<json> group_json(const ExportRequest& request, const GroupColumns& group,
                        std::span<const std::string> class_names, std::span<const ColumnWords> columns) {
  const Result<std::string> digest = digest_of_cases(group);
  if (!digest) return digest.error();
  json described = json::array();
  for (const ColumnWords& column : columns) described.push_back(column_json(group, column, request.words));
  json ids = json::array();
  json classes = json::array();
  for (std::size_t i = 0; i < group.cases(); ++i) {
    ids.push_back(suite::id_text(group.group->ids[i]));
    classes.push_back(class_names[group.group->classes[i]]);
  }
  return json{{"format", sidecar_format},
              {"tool_version", request.tool_version},
              {"operation", suite::name_of(group.operation)},
              {"profile", profile_to_json(*group.profile)},
              {"group", suite::group_name(group.group->spec)},
              {"parameters", parameters(group.group->spec)},
              {"block", {{"rows", group.effective.block.rows}, {"columns", group.effective.block.cols}}},
              {"cases", group.cases()},
              {"cases_sha256", *digest},
              {"case_ids", std::move(ids)},
              {"classes", std::move(classes)},
              {"columns", std::move(described)}};
}

}  // namespace fp4proof::exports
