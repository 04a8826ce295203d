#pragma once
// Where the cases of a run come from: a set made in memory by its name, or one in a folder.

#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "conformance/suite/errata.h"
#include "conformance/suite/sets.h"
#include "conformance/suite/vector_set.h"
#include "formats/result.h"

namespace fp4proof::runners {

class CaseSource {
 public:
  /// A set that this program makes.
  static CaseSource named(const suite::SetPlan& plan);

  /// A set on disk, its digests checked, with its errata: those of `errata`, else errata_of_set().
  static Result<CaseSource> folder(const std::filesystem::path& path,
                                   const std::optional<std::filesystem::path>& errata = {});

  /// "set quick", "folder vectors/quick".
  const std::string& label() const { return label_; }
  const std::vector<suite::ClassEntry>& classes() const { return classes_; }
  const suite::Errata& errata() const { return errata_; }

  /// The name of the set: "quick".
  std::string_view set_name() const;
  std::uint64_t seed() const;

  /// Of the manifest, 64 hexadecimal digits; empty for a set that was made in memory.
  const std::string& manifest_sha256() const { return manifest_sha256_; }

  /// Which part of the set is there: "1/1" is all of it.
  std::string_view part() const;

  /// The set on disk; nullptr for one that was made in memory.
  const suite::VectorSet* vector_set() const { return std::get_if<suite::VectorSet>(&set_); }

  /// The profiles under whose names the cases of an operation are kept.
  std::vector<SharedProfile> kept_profiles(suite::Operation operation) const;

  /// Whether there are cases that ask about the operation under the profile.
  bool asks(suite::Operation operation, const Profile& profile) const;

  /// The cases that ask about the operation under the profile, kept under it or under one with the same answers;
  /// nothing where there are none. Expected outputs may be missing until answer().
  Result<std::optional<suite::CaseTable>> questions(suite::Operation operation, const SharedProfile& profile) const;

  /// Fills the expected outputs: those of the folder, or the answers of the CPU reference.
  Result<void> answer(suite::CaseTable& table) const;

 private:
  using Set = std::variant<const suite::SetPlan*, suite::VectorSet>;
  CaseSource(Set set, std::string label) : set_(std::move(set)), label_(std::move(label)) {}

  Set set_;
  std::string label_;
  std::vector<suite::ClassEntry> classes_;
  suite::Errata errata_;
  std::string manifest_sha256_;
};

}  // namespace fp4proof::runners
