#include "conformance/vectors/manifest.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "conformance/vectors/sha256.h"
#include "conformance/vectors/strict_json.h"
#include "tests/unit/temporary_folder.h"

namespace fp4proof {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;
using testing::get_file;
using testing::put_file;
using testing::TemporaryFolder;

// FIPS 180-4 examples and the NIST one-million test.
const std::string digest_of_nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const std::string digest_of_abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
const std::string digest_of_million_a = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";

std::string hex(std::string_view text) {
  const auto digest = sha256(bytes_of(text));
  EXPECT_TRUE(digest);
  return to_hex(*digest);
}

TEST(Sha256, MatchesThePublishedDigests) {
  EXPECT_EQ(hex(""), digest_of_nothing);
  EXPECT_EQ(hex("abc"), digest_of_abc);
  EXPECT_EQ(hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hex(std::string(1'000'000, 'a')), digest_of_million_a);
}

TEST(Sha256, DigestsFilesLongerThanAChunk) {
  const TemporaryFolder folder;
  const std::string content(3'500'000, 'q');
  put_file(folder / "file", content);
  const auto digest = sha256_of_file(folder / "file");
  ASSERT_TRUE(digest) << digest.error().message;
  EXPECT_EQ(digest->bytes, content.size());
  EXPECT_EQ(to_hex(digest->digest), hex(content));
}

TEST(Sha256, RefusesWhatIsNoFile) {
  const TemporaryFolder folder;
  EXPECT_EQ(sha256_of_file(folder.path()).error().kind, ErrorKind::usage);
  EXPECT_EQ(sha256_of_file("/dev/zero").error().kind, ErrorKind::usage);
  EXPECT_EQ(sha256_of_file(folder / "none").error().kind, ErrorKind::io);
}

TEST(StrictJson, TakesEveryKindOfValue) {
  const auto value = parse_strict_json(R"( {"b":[1,-2,3.5,true,null,"é"],"a":{}} )", "TEXT", 2);
  ASSERT_TRUE(value) << value.error().message;
  EXPECT_EQ(value->dump(), R"({"a":{},"b":[1,-2,3.5,true,null,"é"]})");
  EXPECT_EQ(*parse_strict_json("7", "TEXT", 0), 7);
}

TEST(StrictJson, RefusesLeniencies) {
  for (const std::string& text : {""s, "{} {}"s, "[1,]"s, "// c\n1"s, "NaN"s, "01"s, "\xEF\xBB\xBF{}"s, "{}\0"s,
                                  "\"\xFF\""s, R"({"a":1,"a":1})"s, R"([{"a":[{"b":1,"b":2}]}])"s, "'a'"s}) {
    const auto value = parse_strict_json(text, "TEXT", 9);
    ASSERT_FALSE(value) << text;
    EXPECT_EQ(value.error().kind, ErrorKind::corrupt);
    EXPECT_TRUE(value.error().message.starts_with("TEXT is not acceptable JSON: ")) << value.error().message;
  }
  EXPECT_FALSE(parse_strict_json("[]", "TEXT", 0));
  EXPECT_FALSE(parse_strict_json("[[]]", "TEXT", 1));
  EXPECT_TRUE(parse_strict_json("[[],[]]", "TEXT", 2));
}

Manifest sample() {
  Manifest manifest{"0.1.0", "smoke", {}, nlohmann::json::object()};
  manifest.files["b.safetensors"] = {digest_of_abc, 3};
  manifest.files["a.safetensors"] = {digest_of_nothing, 0};
  manifest.body = {{"z", 1}, {"cases", {"x", 0.5, nullptr}}};
  return manifest;
}

const std::string sample_text = R"({
  "body": {
    "cases": [
      "x",
      0.5,
      null
    ],
    "z": 1
  },
  "files": {
    "a.safetensors": {
      "bytes": 0,
      "sha256": ")" + digest_of_nothing +
                                R"("
    },
    "b.safetensors": {
      "bytes": 3,
      "sha256": ")" + digest_of_abc +
                                R"("
    }
  },
  "format": "fp4proof-vectors/1",
  "set": "smoke",
  "tool_version": "0.1.0"
}
)";

TEST(Manifest, HasOneCanonicalText) {
  const auto text = manifest_text(sample());
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(*text, sample_text);
}

TEST(Manifest, IsReadBack) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_manifest(folder / "manifest.json", sample()));
  EXPECT_EQ(get_file(folder / "manifest.json"), sample_text);
  const auto read = read_manifest(folder / "manifest.json");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->tool_version, "0.1.0");
  EXPECT_EQ(read->set, "smoke");
  EXPECT_EQ(read->files, sample().files);
  EXPECT_EQ(read->body, sample().body);
}

TEST(Manifest, TakesAnotherLayout) {
  const auto read =
      parse_manifest(R"({"tool_version":"9","set":"","files":{},"format":"fp4proof-vectors/1","body":{}})", "TEXT");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->tool_version, "9");
}

/// sample_text with one part replaced.
std::string with(std::string_view part, std::string_view replacement) {
  std::string text = sample_text;
  const std::size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return text.replace(at, part.size(), replacement);
}

void expect_refused(const std::string& text, std::string_view message) {
  const auto read = parse_manifest(text, "TEXT");
  ASSERT_FALSE(read) << "accepted, expected: " << message;
  EXPECT_EQ(read.error().kind, ErrorKind::corrupt);
  EXPECT_TRUE(read.error().message.starts_with("TEXT")) << read.error().message;
  EXPECT_NE(read.error().message.find(message), std::string::npos) << read.error().message;
}

TEST(ManifestRefuses, BadFields) {
  expect_refused("", "TEXT is not acceptable JSON: ");
  expect_refused(sample_text.substr(0, sample_text.size() - 2), "TEXT is not acceptable JSON: ");
  expect_refused("[]", "the manifest is not an object");
  expect_refused("{}", R"(field "body" is missing)");
  expect_refused(with("vectors/1", "vectors/2"), "use the version that wrote it");
  expect_refused(with(R"("set": "smoke")", R"("set": 1)"), R"(field "set" is not a string)");
  expect_refused(with(R"("set": "smoke")", R"("set": "a", "set": "b")"), R"(the key "set" stands twice)");
  expect_refused(with(R"("set": "smoke",)", R"("set": "a", "sett": "b",)"), R"(unknown field "sett")");
  expect_refused(with(R"("set": "smoke",)", ""), R"(field "set" is missing)");
  expect_refused(R"({"tool_version":"","set":"","files":[],"format":"fp4proof-vectors/1","body":{}})",
                 R"("files" is not an object)");
  expect_refused(R"({"tool_version":"","set":"","files":{},"format":"fp4proof-vectors/1","body":[]})",
                 R"("body" is not an object)");
}

TEST(ManifestRefuses, BadRecords) {
  expect_refused(with(R"("bytes": 3)", R"("bytes": -3)"), "bytes is not a non-negative integer");
  expect_refused(with(R"("bytes": 3)", R"("bytes": 3.0)"), "bytes is not a non-negative integer");
  expect_refused(with(R"("bytes": 3)", R"("bytes": "3")"), "bytes is not a non-negative integer");
  expect_refused(with(R"("bytes": 3,)", ""), R"(file "b.safetensors": field "bytes" is missing)");
  expect_refused(with(R"("bytes": 3,)", R"("bytes": 3, "x": 0,)"), R"(unknown field "x")");
  expect_refused(with("\"" + digest_of_abc + "\"", "7"), "sha256 is not a string");
  expect_refused(with(digest_of_abc, digest_of_abc.substr(1)), "64 lower-case hexadecimal digits");
  expect_refused(with(digest_of_abc, "B" + digest_of_abc.substr(1)), "64 lower-case hexadecimal digits");
}

TEST(ManifestRefuses, NamesThatLeaveTheFolder) {
  for (const char* name : {"", ".", "..", "../b", "x/b", "/b", "x\\\\b", "..b", "a\\u0000b", "a\\nb", "\\u007f"}) {
    expect_refused(with("b.safetensors", name), "must be a plain name");
  }
}

TEST(ManifestRefuses, DepthBombs) {
  expect_refused(std::string(1'000'000, '['), "nested deeper than 64 levels");
  std::string nest;
  for (int i = 0; i < 63; ++i) nest += '[';
  expect_refused(with("0.5", nest + std::string(63, ']')), "nested deeper than 64 levels");
}

TEST(ManifestRefuses, ToWriteWhatItWouldNotRead) {
  const auto refused = [](const Manifest& manifest, std::string_view message) {
    const auto text = manifest_text(manifest);
    ASSERT_FALSE(text) << message;
    EXPECT_EQ(text.error().kind, ErrorKind::usage);
    EXPECT_NE(text.error().message.find(message), std::string::npos) << text.error().message;
  };
  Manifest manifest = sample();
  manifest.body = nlohmann::json::array();
  refused(manifest, "not an object");
  manifest.body = {{"x", std::numeric_limits<double>::quiet_NaN()}};
  refused(manifest, "without a JSON form");
  manifest.body = {{"x", std::numeric_limits<double>::infinity()}};
  refused(manifest, "without a JSON form");
  manifest.body = {{"x", nlohmann::json::binary({1})}};
  refused(manifest, "without a JSON form");
  manifest.body = {{"x", "\xFF"}};
  refused(manifest, "UTF-8");
  nlohmann::json deep = nlohmann::json::array();
  for (int i = 0; i < 62; ++i) deep = nlohmann::json::array({deep});
  manifest.body = {{"x", deep}};
  refused(manifest, "nested deeper than 64 levels");
  manifest = sample();
  manifest.files["a/b"] = {digest_of_abc, 1};
  refused(manifest, "plain name");
  manifest = sample();
  manifest.files["c"] = {"", 1};
  refused(manifest, "hexadecimal");
}

TEST(CheckFiles, AcceptsTheRecordedFiles) {
  const TemporaryFolder folder;
  put_file(folder / "a.safetensors", "");
  put_file(folder / "b.safetensors", "abc");
  put_file(folder / "other", "not ours");
  const auto checked = check_files(folder.path(), sample());
  EXPECT_TRUE(checked) << checked.error().message;
  const auto record = record_file(folder / "b.safetensors");
  ASSERT_TRUE(record);
  EXPECT_EQ(*record, sample().files["b.safetensors"]);
}

TEST(CheckFiles, NamesEveryDifference) {
  const TemporaryFolder folder;
  Manifest manifest = sample();
  manifest.files["c"] = {digest_of_abc, 3};
  manifest.files["d"] = {digest_of_abc, 4};
  put_file(folder / "b.safetensors", "abd");
  fs::create_directory(folder / "c");
  put_file(folder / "d", "abc");
  const auto checked = check_files(folder.path(), manifest);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().kind, ErrorKind::corrupt);
  const std::string& message = checked.error().message;
  EXPECT_NE(message.find("4 of the 4 files"), std::string::npos) << message;
  EXPECT_NE(message.find(R"("a.safetensors": it is missing)"), std::string::npos) << message;
  EXPECT_NE(message.find(R"("b.safetensors": its sha256 is )"), std::string::npos) << message;
  EXPECT_NE(message.find("is a folder"), std::string::npos) << message;
  EXPECT_NE(message.find(R"("d": it has 3 bytes, not 4)"), std::string::npos) << message;
}

TEST(CheckFiles, DoesNotLeaveTheFolder) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "set");
  put_file(folder / "secret", "abc");
  Manifest manifest = sample();
  manifest.files = {{"../secret", {digest_of_abc, 3}}};
  const auto checked = check_files(folder / "set", manifest);
  ASSERT_FALSE(checked);
  EXPECT_NE(checked.error().message.find("plain name"), std::string::npos) << checked.error().message;
}

}  // namespace
}  // namespace fp4proof
