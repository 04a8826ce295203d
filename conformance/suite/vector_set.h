#pragma once
// A set of vectors on disk: one safetensors file for each operation and profile, and manifest.json.
// docs/vectors.md describes the form.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "conformance/suite/case_group.h"
#include "conformance/vectors/manifest.h"
#include "formats/result.h"

namespace fp4proof::suite {

inline constexpr std::string_view manifest_name = "manifest.json";

/// A group as the manifest lists it.
struct GroupEntry {
  GroupSpec spec;
  std::uint64_t cases = 0;

  bool operator==(const GroupEntry&) const = default;
};

/// One file of the set.
struct TableEntry {
  std::string file;
  Operation operation = Operation::quantize;
  SharedProfile profile;
  std::vector<std::string> aliases;  ///< other named profiles with the same answers
  std::vector<GroupEntry> groups;
  std::map<std::string, std::uint64_t> classes;  ///< cases of each class
  std::uint64_t cases = 0;
};

/// A class as the manifest lists it; vector files store its place in the list.
struct ClassEntry {
  std::string name;
  std::string bug;
  Operation operation = Operation::quantize;

  bool operator==(const ClassEntry&) const = default;
};

struct VectorSet {
  std::filesystem::path folder;
  Manifest manifest;
  std::uint64_t seed = 0;
  bool inputs_only = false;
  std::string shard;  ///< "I/N", "1/1" for a whole set
  std::vector<ClassEntry> classes;
  std::vector<TableEntry> tables;

  /// The table that holds the cases of a profile, under its own name or as an alias; nullptr when there is none.
  const TableEntry* find(Operation operation, const Profile& profile) const;
};

/// The file of a table, for example "quantize.mxfp4.ocp.safetensors".
std::string file_name(Operation operation, std::string_view profile_name);

/// The classes of this program in the form of the manifest.
std::vector<ClassEntry> class_entries();

/// The manifest's body for a set, and back. Reading is strict: a `corrupt` error that starts with `label` names the
/// field. A profile that has the name of a named one must be that one.
nlohmann::json manifest_body(const VectorSet& set);
Result<VectorSet> parse_vector_set(Manifest manifest, std::string_view label);

/// Writes one table, complete or not at all. Tensors OPERATION/PROFILE/GROUP/NAME: those of group_tensors() (without
/// the expected ones if `inputs_only`), case_id U64 [cases] and class U16 [cases].
Result<void> write_table(const std::filesystem::path& path, const CaseTable& table, bool inputs_only);

/// The manifest entry of a table.
TableEntry entry_of(const CaseTable& table);

/// Opens a set: manifest, and with `check_digests` the size and digest of every file. A folder without a manifest gives
/// a `usage` error, everything malformed a `corrupt` one.
Result<VectorSet> open_set(const std::filesystem::path& folder, bool check_digests = true);

/// Reads one table from a file that must have the digest of the manifest at that moment, so that nothing that changes
/// the file after the set was opened counts. Every tensor must be there with the dtype and shape that follow from the
/// manifest, and every case the id of its inputs (`corrupt` error). Expected tensors of an inputs-only set stay empty.
Result<CaseTable> read_table(const VectorSet& set, const TableEntry& entry);

}  // namespace fp4proof::suite
