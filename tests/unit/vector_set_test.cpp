// Sets on disk: written whole, sharded, read back, linted, damaged, and compared with files of answers.

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "conformance/runners/file_subject.h"
#include "conformance/runners/reference_subject.h"
#include "conformance/runners/run_backend.h"
#include "conformance/suite/generate_set.h"
#include "conformance/suite/lint_set.h"
#include "conformance/suite/reference_answers.h"
#include "conformance/vectors/atomic_file.h"
#include "conformance/vectors/mapped_file.h"
#include "conformance/vectors/safetensors.h"
#include "formats/spec_profiles.h"

namespace fp4proof {
namespace {

namespace fs = std::filesystem;
using suite::CaseGroup;
using suite::CaseTable;
using suite::CaseTensor;
using suite::GenerateRequest;
using suite::Operation;
using suite::VectorSet;

SharedProfile shared(std::string_view name) { return {SharedProfile(), find_profile(name)}; }

std::string content(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void overwrite(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

class VectorSetTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "fp4proof-vectors-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
  }
  void TearDown() override { fs::remove_all(root_); }

  fs::path at(std::string_view name) const { return root_ / name; }

  GenerateRequest request(std::string_view folder, std::string_view profile = "mxfp4/ocp") const {
    GenerateRequest made;
    made.set = suite::find_set("smoke");
    made.folder = at(folder);
    made.tool_version = "1.2.3";
    made.profile = shared(profile);
    return made;
  }

  /// Ten tables.
  GenerateRequest many_tables(std::string_view folder) const {
    GenerateRequest made = request(folder);
    made.profile = nullptr;
    made.operation = Operation::dequantize;
    return made;
  }

  void generate(const GenerateRequest& made) const {
    const Result<VectorSet> set = suite::generate_set(made);
    ASSERT_TRUE(set.ok()) << set.error().message;
  }

  std::vector<std::string> lint(std::string_view folder) const {
    const Result<std::vector<std::string>> problems = suite::lint_set(at(folder));
    EXPECT_TRUE(problems.ok()) << problems.error().message;
    return problems.ok() ? *problems : std::vector<std::string>{};
  }

  /// Files other than the wanted folders that lie beside them.
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(root_), fs::directory_iterator()));
  }

  fs::path root_;
};

std::map<std::string, std::string> files_of(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    files.emplace(entry.path().filename().string(), content(entry.path()));
  }
  return files;
}

TEST_F(VectorSetTest, ComesBackAsItWasWritten) {
  generate(request("set"));
  const Result<VectorSet> set = suite::open_set(at("set"));
  ASSERT_TRUE(set.ok()) << set.error().message;
  EXPECT_EQ(set->manifest.set, "smoke");
  EXPECT_EQ(set->manifest.tool_version, "1.2.3");
  ASSERT_EQ(set->tables.size(), 6U);
  EXPECT_EQ(set->classes, suite::class_entries());
  for (const suite::TableEntry& entry : set->tables) {
    const Result<CaseTable> read = suite::read_table(*set, entry);
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(read->case_count(), entry.cases);
    EXPECT_GT(entry.cases, 0U);
  }
  EXPECT_EQ(entries(), 1U);
}

TEST_F(VectorSetTest, SameBytesTwice) {
  generate(many_tables("one"));
  generate(many_tables("two"));
  EXPECT_EQ(files_of(at("one")), files_of(at("two")));
}

TEST_F(VectorSetTest, ShardsMakeTheWhole) {
  generate(many_tables("whole"));
  std::map<std::string, std::string> joined;
  for (const std::uint32_t index : {1U, 2U, 3U}) {
    GenerateRequest part = many_tables("part" + std::to_string(index));
    part.shard = {index, 3};
    generate(part);
    EXPECT_TRUE(lint("part" + std::to_string(index)).empty());
    for (const auto& [name, text] : files_of(part.folder)) {
      if (name == suite::manifest_name) continue;
      EXPECT_TRUE(joined.emplace(name, text).second) << name;
    }
  }
  std::map<std::string, std::string> whole = files_of(at("whole"));
  whole.erase(std::string(suite::manifest_name));
  EXPECT_EQ(joined, whole);
}

TEST_F(VectorSetTest, ShardNames) {
  EXPECT_EQ(suite::parse_shard("2/3")->index, 2U);
  EXPECT_EQ(suite::parse_shard("2/3")->count, 3U);
  for (const char* bad : {"", "1", "0/2", "3/2", "1/0", "-1/2", "1/2/3", "a/b", "1/ 2", "4294967297/4294967298"}) {
    EXPECT_FALSE(suite::parse_shard(bad).has_value()) << bad;
  }
}

TEST_F(VectorSetTest, LeavesWhatIsThereAlone) {
  generate(request("set"));
  const auto before = files_of(at("set"));
  EXPECT_EQ(suite::generate_set(request("set", "hif4/gcc")).error().kind, ErrorKind::usage);
  EXPECT_EQ(files_of(at("set")), before);
  GenerateRequest replacing = request("set", "hif4/gcc");
  replacing.force = true;
  generate(replacing);
  EXPECT_NE(files_of(at("set")), before);
  EXPECT_EQ(entries(), 1U);

  fs::create_directory(at("empty"));
  generate(request("empty"));
  fs::create_directory(at("mine"));
  overwrite(at("mine") / "thesis.tex", "do not delete");
  GenerateRequest careless = request("mine");
  careless.force = true;
  EXPECT_EQ(suite::generate_set(careless).error().kind, ErrorKind::usage);
  EXPECT_EQ(content(at("mine") / "thesis.tex"), "do not delete");
  overwrite(at("file"), "x");
  EXPECT_EQ(suite::generate_set(request("file")).error().kind, ErrorKind::usage);
  EXPECT_EQ(suite::generate_set(request("no/such/parent")).error().kind, ErrorKind::io);
}

TEST_F(VectorSetTest, InputsOnlyLacksNothingElse) {
  GenerateRequest inputs = request("inputs");
  inputs.inputs_only = true;
  generate(inputs);
  generate(request("whole"));
  EXPECT_TRUE(lint("inputs").empty());
  const auto file = SafetensorsFile::open(at("inputs") / "quantize.mxfp4.ocp.safetensors");
  ASSERT_TRUE(file.ok());
  EXPECT_NE(file->find("quantize/mxfp4/ocp/1x32/input"), nullptr);
  EXPECT_EQ(file->find("quantize/mxfp4/ocp/1x32/codes"), nullptr);
  const auto whole = SafetensorsFile::open(at("whole") / "quantize.mxfp4.ocp.safetensors");
  const auto bytes = [](const SafetensorsFile& of) { return of.bytes(*of.find("quantize/mxfp4/ocp/1x32/input")); };
  EXPECT_TRUE(std::ranges::equal(bytes(*file), bytes(*whole)));
}

TEST_F(VectorSetTest, FreshSetsAreClean) {
  generate(many_tables("set"));
  EXPECT_TRUE(lint("set").empty());
}

TEST_F(VectorSetTest, LintFindsDamage) {
  const auto broken = [&](const std::string& what, const std::function<void(const fs::path&)>& damage) {
    GenerateRequest made = request("set");
    made.force = true;
    generate(made);
    damage(at("set"));
    EXPECT_FALSE(lint("set").empty()) << what;
  };
  const std::string table = "quantize.mxfp4.ocp.safetensors";
  broken("layout of the manifest",
         [](const fs::path& set) { overwrite(set / "manifest.json", content(set / "manifest.json") + "\n"); });
  broken("extra file", [](const fs::path& set) { overwrite(set / "notes.txt", "x"); });
  broken("flipped bit", [&](const fs::path& set) {
    std::string text = content(set / table);
    text[text.size() - 3] = static_cast<char>(text[text.size() - 3] ^ 1);
    overwrite(set / table, text);
  });
  broken("missing file", [&](const fs::path& set) { fs::remove(set / table); });
  broken("errata", [](const fs::path& set) { overwrite(set / "ERRATA.json", "{}"); });
}

/// Writes the set of the request again with one table changed, digests and all.
void rewrite_table(const fs::path& folder, const std::function<void(CaseTable&)>& change) {
  Result<VectorSet> set = suite::open_set(folder);
  ASSERT_TRUE(set.ok());
  const suite::TableEntry entry = set->tables.front();
  Result<CaseTable> table = suite::read_table(*set, entry);
  ASSERT_TRUE(table.ok());
  change(*table);
  ASSERT_TRUE(suite::write_table(folder / entry.file, *table, false).ok());
  set->manifest.files[entry.file] = *record_file(folder / entry.file);
  ASSERT_TRUE(write_manifest(folder / suite::manifest_name, set->manifest).ok());
}

TEST_F(VectorSetTest, LintRecomputesIdsAndCounts) {
  generate(request("ids"));
  rewrite_table(at("ids"), [](CaseTable& table) { table.groups[0].ids[3] ^= 1; });
  EXPECT_EQ(lint("ids").size(), 1U);
  generate(request("input"));
  rewrite_table(at("input"), [](CaseTable& table) { table.groups[0].find("input")->bytes[9] ^= 1; });
  EXPECT_EQ(lint("input").size(), 1U);
  generate(request("class"));
  rewrite_table(at("class"), [](CaseTable& table) { table.groups[0].classes[0] = table.groups[0].classes.back(); });
  EXPECT_EQ(lint("class").size(), 1U);
  generate(request("twice"));
  rewrite_table(at("twice"), [](CaseTable& table) {
    table.groups[0].ids[1] = table.groups[0].ids[0];
    CaseTensor& input = *table.groups[0].find("input");
    std::copy_n(input.bytes.begin(), input.case_bytes(),
                input.bytes.begin() + static_cast<std::ptrdiff_t>(input.case_bytes()));
  });
  EXPECT_EQ(lint("twice").size(), 1U);
}

TEST_F(VectorSetTest, OpeningRefusesDamage) {
  EXPECT_EQ(suite::open_set(at("nothing")).error().kind, ErrorKind::usage);
  generate(request("set"));
  const fs::path manifest = at("set") / "manifest.json";
  const std::string good = content(manifest);
  const auto kind_after = [&](std::string_view from, std::string_view to) {
    std::string text = good;
    const std::size_t place = text.find(from);
    EXPECT_NE(place, std::string::npos) << from;
    overwrite(manifest, text.replace(place, from.size(), to));
    const Result<VectorSet> set = suite::open_set(at("set"));
    return set.ok() ? ErrorKind::usage : set.error().kind;
  };
  EXPECT_EQ(kind_after("\"cases\": ", "\"cases\": -"), ErrorKind::corrupt);
  EXPECT_EQ(kind_after("\"operation\": \"quantize\"", "\"operation\": \"guess\""), ErrorKind::corrupt);
  EXPECT_EQ(kind_after("\"name\": \"1x32\"", "\"name\": \"1x33\""), ErrorKind::corrupt);
  EXPECT_EQ(kind_after("\"scale_rule\": \"floor\"", "\"scale_rule\": \"ceil\""), ErrorKind::corrupt);
  EXPECT_EQ(kind_after("\"seed\": ", "\"sead\": "), ErrorKind::corrupt);
  EXPECT_EQ(kind_after("\"tail\": \"error\"", "\"tail\": \"cat\""), ErrorKind::corrupt);
  EXPECT_EQ(kind_after("\"inputs_only\": false", "\"inputs_only\": 0"), ErrorKind::corrupt);
  overwrite(manifest, good);
  EXPECT_TRUE(suite::open_set(at("set")).ok());
}

/// A file of answers made of the expected outputs of one table.
class Answers {
 public:
  explicit Answers(const fs::path& folder, Operation operation = Operation::quantize) {
    const Result<VectorSet> set = suite::open_set(folder);
    for (const suite::TableEntry& entry : set->tables) {
      if (entry.operation == operation) table_ = std::move(*suite::read_table(*set, entry));
    }
  }

  CaseTable& table() { return table_; }
  CaseGroup& blocks() { return table_.groups.front(); }

  std::string name(const CaseGroup& group, std::string_view tensor) const {
    return tensor_name(table_, group.spec, tensor);
  }

  /// Writes them, but for the tensors in `without`; the first group has `cases` answers only.
  void write(const fs::path& path, std::optional<std::size_t> cases = {}, const std::string& without = {},
             TensorDtype scales = TensorDtype::u8) {
    std::vector<TensorData> tensors;
    for (const CaseGroup& group : table_.groups) {
      const std::size_t count = cases && &group == &table_.groups.front() ? *cases : group.size();
      for (const CaseTensor& tensor : group.tensors) {
        if (!tensor.expected || name(group, tensor.name) == without) continue;
        std::vector<std::uint64_t> shape = {count};
        shape.insert(shape.end(), tensor.case_shape.begin(), tensor.case_shape.end());
        const TensorDtype dtype = tensor.name == "scales" ? scales : tensor.dtype;
        tensors.push_back(
            {{name(group, tensor.name), dtype, shape}, Bytes(tensor.bytes).first(count * tensor.case_bytes())});
      }
    }
    if (!ids_.empty())
      tensors.push_back({{name(blocks(), "case_id"), TensorDtype::u64, {ids_.size()}}, bytes_of(ids_)});
    ASSERT_TRUE(write_safetensors(path, tensors).ok());
  }

  void state_ids(std::vector<std::uint64_t> ids) { ids_ = std::move(ids); }

 private:
  CaseTable table_;
  std::vector<std::uint64_t> ids_;
};

fs::path committed(std::string_view name) { return fs::path(FP4PROOF_SOURCE_DIR) / "vectors" / name; }

TEST_F(VectorSetTest, CommittedSetsAreClean) {
  for (const char* name : {"smoke", "quick"}) {
    const Result<std::vector<std::string>> problems = suite::lint_set(committed(name));
    ASSERT_TRUE(problems.ok()) << problems.error().message;
    EXPECT_TRUE(problems->empty()) << problems->front();
  }
}

TEST_F(VectorSetTest, CommittedSetsComeOutAgain) {
  for (const char* name : {"smoke", "quick"}) {
    GenerateRequest made = request(name);
    made.set = suite::find_set(name);
    made.profile = nullptr;
    const Result<VectorSet> fresh = suite::generate_set(made);
    ASSERT_TRUE(fresh.ok()) << fresh.error().message;
    const Result<VectorSet> kept = suite::open_set(committed(name));
    ASSERT_TRUE(kept.ok()) << kept.error().message;
    EXPECT_EQ(fresh->manifest.files, kept->manifest.files) << name;
    EXPECT_EQ(fresh->manifest.body, kept->manifest.body) << name;
  }
}

/// A part of the full set against the committed digests of all of it.
TEST_F(VectorSetTest, FullSetHasItsDigests) {
  const Result<Manifest> kept = read_manifest(committed("full.json"));
  ASSERT_TRUE(kept.ok()) << kept.error().message;
  GenerateRequest made = many_tables("full");
  made.set = suite::find_set("full");
  const Result<VectorSet> part = suite::generate_set(made);
  ASSERT_TRUE(part.ok()) << part.error().message;
  EXPECT_EQ(part->tables.size(), 10U);
  for (const auto& [file, record] : part->manifest.files) {
    ASSERT_TRUE(kept->files.contains(file)) << file;
    EXPECT_EQ(record, kept->files.at(file)) << file;
  }
}

class VerifySetTest : public VectorSetTest {
 protected:
  void SetUp() override {
    VectorSetTest::SetUp();
    generate(request("set"));
  }

  Result<runners::RunReport> ask() const {
    const Result<runners::CaseSource> cases = runners::CaseSource::folder(at(folder_));
    if (!cases) return cases.error();
    if (by_reference_) {
      runners::ReferenceSubject subject;
      return ask(subject, *cases);
    }
    Result<SafetensorsFile> answers = SafetensorsFile::open(at("actual.safetensors"));
    if (!answers) return answers.error();
    runners::FileSubject subject(std::move(*answers), *cases->vector_set());
    return ask(subject, *cases);
  }

  verify::VerifyReport run() const {
    const Result<runners::RunReport> report = ask();
    EXPECT_TRUE(report.ok()) << report.error().message;
    return report.ok() ? report->verify_report() : verify::VerifyReport{};
  }

  ErrorKind error_kind() const {
    const Result<runners::RunReport> report = ask();
    EXPECT_FALSE(report.ok());
    return report.ok() ? ErrorKind::internal : report.error().kind;
  }

  std::string folder_ = "set";
  bool by_reference_ = false;
  SharedProfile profile_;
  std::optional<Operation> operation_ = Operation::quantize;
  std::string accumulator_;

 private:
  Result<runners::RunReport> ask(runners::Subject& subject, const runners::CaseSource& cases) const {
    runners::RunRequest wanted;
    wanted.subject = &subject;
    wanted.cases = &cases;
    wanted.kept_profiles_only = true;
    if (profile_) wanted.profiles = {profile_};
    wanted.operation = operation_;
    wanted.accumulator = accumulator_;
    return runners::run_backend(wanted);
  }
};

TEST_F(VerifySetTest, RightAnswersPass) {
  Answers answers(at("set"));
  answers.write(at("actual.safetensors"));
  const verify::VerifyReport report = run();
  EXPECT_EQ(report.total().passed, answers.table().case_count());
  EXPECT_EQ(report.total().failed + report.total().skipped, 0U);
  EXPECT_FALSE(report.has_missing());
  EXPECT_EQ(to_text(report.total()), std::to_string(answers.table().case_count()) + " passed, 0 failed, 0 skipped");
}

TEST_F(VerifySetTest, OneWrongBitFails) {
  Answers answers(at("set"));
  for (const char* tensor : {"codes", "scales"}) {
    answers.blocks().find(tensor)->bytes[1] ^= 4;
    answers.write(at("actual.safetensors"));
    EXPECT_EQ(run().total().failed, 1U) << tensor;
    EXPECT_EQ(run().mismatches.size(), 1U);
    answers.blocks().find(tensor)->bytes[1] ^= 4;
  }
}

TEST_F(VerifySetTest, AliasesFindTheirCases) {
  Answers answers(at("set"));
  answers.write(at("actual.safetensors"));
  profile_ = shared("mxfp4/torchao-2026-08-floor");
  EXPECT_EQ(run().total().passed, answers.table().case_count());
  profile_ = shared("hif4/gcc");
  const Result<runners::RunReport> report = ask();
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_TRUE(report->tables.empty());
  ASSERT_EQ(report->absent.size(), 1U);
  EXPECT_EQ(report->absent[0].profile, "hif4/gcc");
}

TEST_F(VerifySetTest, MissingTensorsAndCasesCount) {
  Answers answers(at("set"));
  answers.write(at("actual.safetensors"), {}, answers.name(answers.blocks(), "scales"));
  verify::VerifyReport report = run();
  EXPECT_TRUE(report.has_missing());
  EXPECT_EQ(report.total().skipped, answers.blocks().size());
  EXPECT_EQ(report.tables[0].missing_tensors.size(), 1U);

  answers.write(at("actual.safetensors"), answers.blocks().size() - 4);
  report = run();
  EXPECT_EQ(report.tables[0].missing, 4U);
  EXPECT_EQ(report.total().failed, 0U);

  operation_.reset();
  EXPECT_TRUE(run().has_missing());
}

TEST_F(VerifySetTest, CaseIdsOrderTheAnswers) {
  Answers answers(at("set"));
  CaseGroup& blocks = answers.blocks();
  // The second case, then the first.
  for (const char* name : {"codes", "scales"}) {
    CaseTensor& tensor = *blocks.find(name);
    std::rotate(tensor.bytes.begin(), tensor.bytes.begin() + static_cast<std::ptrdiff_t>(tensor.case_bytes()),
                tensor.bytes.begin() + static_cast<std::ptrdiff_t>(2 * tensor.case_bytes()));
  }
  answers.state_ids({blocks.ids[1], blocks.ids[0]});
  answers.write(at("actual.safetensors"), 2);
  const verify::VerifyReport report = run();
  EXPECT_EQ(report.total().failed, 0U);
  EXPECT_EQ(report.total().skipped, blocks.size() - 2);
  answers.state_ids({blocks.ids[1], 12345});
  answers.write(at("actual.safetensors"), 2);
  EXPECT_EQ(error_kind(), ErrorKind::usage);
  answers.state_ids({blocks.ids[1], blocks.ids[1]});
  answers.write(at("actual.safetensors"), 2);
  EXPECT_EQ(error_kind(), ErrorKind::usage);
}

TEST_F(VerifySetTest, OtherDtypesOfTheSameWidthWill) {
  Answers answers(at("set"));
  answers.write(at("actual.safetensors"), {}, {}, TensorDtype::f8_e8m0);
  EXPECT_EQ(run().total().failed, 0U);
}

TEST_F(VerifySetTest, RefusesOtherShapes) {
  const std::vector<std::uint8_t> bytes(64);
  const std::vector<TensorData> tensors = {{{"quantize/mxfp4/ocp/1x32/codes", TensorDtype::u8, {64}}, bytes}};
  ASSERT_TRUE(write_safetensors(at("actual.safetensors"), tensors).ok());
  EXPECT_EQ(error_kind(), ErrorKind::usage);
}

TEST_F(VerifySetTest, DamageIsNotAMismatch) {
  Answers answers(at("set"));
  answers.write(at("actual.safetensors"));
  const std::string good = content(at("actual.safetensors"));
  overwrite(at("actual.safetensors"), good.substr(0, good.size() - 10));
  EXPECT_EQ(error_kind(), ErrorKind::corrupt);
  overwrite(at("actual.safetensors"), good);
  const fs::path table = at("set") / "quantize.mxfp4.ocp.safetensors";
  std::string text = content(table);
  text[text.size() - 1] = static_cast<char>(text[text.size() - 1] ^ 1);
  overwrite(table, text);
  EXPECT_EQ(error_kind(), ErrorKind::corrupt);
}

TEST_F(VerifySetTest, WithdrawnCasesAreSkipped) {
  Answers answers(at("set"));
  answers.blocks().find("codes")->bytes[0] ^= 1;
  answers.write(at("actual.safetensors"));
  EXPECT_EQ(run().total().failed, 1U);
  overwrite(at("ERRATA.json"), R"({"format": "fp4proof-errata/1", "withdrawn": [{"case_id": ")" +
                                   suite::id_text(answers.blocks().ids[0]) +
                                   R"(", "reason": "a test", "since": "0.1.0"}]})");
  EXPECT_EQ(run().total().failed, 0U);
  EXPECT_EQ(run().total().skipped, 1U);
  EXPECT_EQ(run().tables[0].withdrawn, 1U);
  EXPECT_FALSE(run().has_missing());
  overwrite(at("ERRATA.json"), "[]");
  EXPECT_EQ(error_kind(), ErrorKind::corrupt);
}

TEST_F(VerifySetTest, TheReferenceChecksTheSet) {
  by_reference_ = true;
  operation_.reset();
  EXPECT_EQ(run().total().failed, 0U);
  rewrite_table(at("set"), [](CaseTable& table) { table.groups[0].find("codes")->bytes[0] ^= 1; });
  EXPECT_EQ(run().total().failed, 1U);
}

TEST_F(VerifySetTest, SetsWithoutAnswersAreAnsweredByTheReference) {
  Answers answers(at("set"));
  answers.write(at("actual.safetensors"));
  GenerateRequest inputs = request("inputs");
  inputs.inputs_only = true;
  generate(inputs);
  folder_ = "inputs";
  EXPECT_EQ(run().total().passed, answers.table().case_count());
}

TEST_F(VerifySetTest, ProductsUnderOneAccumulator) {
  Answers answers(at("set"), Operation::gemm);
  std::erase_if(answers.table().groups, [](const CaseGroup& group) { return group.spec.accumulator != "seq512"; });
  ASSERT_FALSE(answers.table().groups.empty());
  answers.write(at("actual.safetensors"));
  operation_ = Operation::gemm;
  accumulator_ = "seq512";
  EXPECT_FALSE(run().has_missing());
  EXPECT_EQ(run().total().passed, answers.table().case_count());
  accumulator_.clear();
  EXPECT_TRUE(run().has_missing());
  accumulator_ = "exact";
  EXPECT_EQ(run().total().passed, 0U);
}

}  // namespace
}  // namespace fp4proof
