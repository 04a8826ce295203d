#include "conformance/suite/lint_set.h"

#include <fmt/format.h>

#include <set>
#include <unordered_map>

#include "conformance/suite/errata.h"
#include "conformance/suite/shared_rules.h"
#include "conformance/suite/vector_set.h"
#include "conformance/vectors/folder_entries.h"
#include "conformance/vectors/mapped_file.h"

namespace fp4proof::suite {

namespace fs = std::filesystem;

namespace {

class Linter {
 public:
  explicit Linter(const VectorSet& set) : set_(set) {}

  std::vector<std::string> run() {
    lint_manifest_text();
    lint_folder();
    lint_classes();
    if (const Result<void> digests = check_files(set_.folder, set_.manifest); !digests) {
      report(digests.error().message);
      return problems_;
    }
    for (const TableEntry& entry : set_.tables) lint_table(entry);
    if (const Result<Errata> errata = errata_of_set(set_.folder); !errata) report(errata.error().message);
    return problems_;
  }

 private:
  void report(std::string problem) { problems_.push_back(std::move(problem)); }

  void lint_manifest_text() {
    const Result<std::string> canonical = manifest_text(set_.manifest);
    const Result<MappedFile> file = MappedFile::open(set_.folder / manifest_name);
    if (!canonical || !file || *canonical != text_of(file->bytes())) {
      report(fmt::format("{} is not in canonical form", manifest_name));
    }
  }

  void lint_folder() {
    const auto entries = folder_entries(set_.folder);
    if (!entries) return report(entries.error().message);
    for (const fs::directory_entry& entry : *entries) {
      const std::string name = entry.path().filename().string();
      if (name == manifest_name || name == errata_name || set_.manifest.files.contains(name)) continue;
      report(fmt::format("{} stands in the folder but not in the manifest", name));
    }
    std::set<std::string> tables;
    for (const TableEntry& entry : set_.tables) tables.insert(entry.file);
    if (tables.size() != set_.tables.size()) report("two tables share a file");
    if (tables.size() != set_.manifest.files.size()) report("the manifest lists files that belong to no table");
  }

  void lint_classes() {
    std::set<std::string> names;
    for (const ClassEntry& entry : set_.classes) {
      if (entry.bug.empty()) report(fmt::format("class {} names no bug", entry.name));
      if (!names.insert(entry.name).second) report(fmt::format("class {} is listed twice", entry.name));
    }
  }

  void lint_table(const TableEntry& entry) {
    const Result<CaseTable> table = read_table(set_, entry);
    if (!table) return report(table.error().message);
    lint_names(entry);
    std::map<std::string, std::uint64_t> counts;
    for (const CaseGroup& group : table->groups) lint_group(entry, group, counts);
    if (counts != entry.classes) report(fmt::format("{}: the counts of the classes are not those listed", entry.file));
    if (table->case_count() != entry.cases) report(fmt::format("{}: has not {} cases", entry.file, entry.cases));
  }

  void lint_names(const TableEntry& entry) {
    if (entry.file != file_name(entry.operation, entry.profile->name)) {
      report(fmt::format("{}: is not named after its operation and profile", entry.file));
    }
    const std::vector<std::string_view> known = aliases(entry.operation, *entry.profile);
    if (std::vector<std::string>(known.begin(), known.end()) != entry.aliases) {
      report(fmt::format("{}: the aliases are not those that this program knows", entry.file));
    }
  }

  void lint_group(const TableEntry& entry, const CaseGroup& group, std::map<std::string, std::uint64_t>& counts) {
    for (std::size_t i = 0; i < group.size(); ++i) {
      const ClassEntry& of_class = set_.classes[group.classes[i]];
      ++counts[of_class.name];
      if (of_class.operation != entry.operation) {
        report(fmt::format("{}: class {} is for another operation", entry.file, of_class.name));
      }
      const auto [place, is_new] = seen_.emplace(group.ids[i], entry.file);
      if (!is_new) {
        report(fmt::format("{}: case {} is also in {}", entry.file, id_text(group.ids[i]), place->second));
      }
    }
  }

  const VectorSet& set_;
  std::vector<std::string> problems_;
  std::unordered_map<std::uint64_t, std::string> seen_;
};

}  // namespace

Result<std::vector<std::string>> lint_set(const fs::path& folder) {
  const Result<VectorSet> set = open_set(folder, false);
  if (!set) return set.error();
  return Linter(*set).run();
}

}  // namespace fp4proof::suite
