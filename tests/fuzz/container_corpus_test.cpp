// Replays the corpus of the fuzzers without a fuzzer. Files named valid-* must be accepted, hostile-* refused; the
// rest was found by fuzzing and only has to keep the promises.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "conformance/vectors/safetensors.h"
#include "tests/fuzz/container_properties.h"
#include "tests/unit/temporary_folder.h"

namespace fp4proof::fuzz {
namespace {

namespace fs = std::filesystem;
using testing::get_file;

std::vector<fs::path> corpus(std::string_view kind) {
  const fs::path folder = fs::path(FP4PROOF_SOURCE_DIR) / "tests/fuzz/corpus" / kind;
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

bool is_named(const fs::path& path, std::string_view prefix) { return path.filename().string().starts_with(prefix); }

void replay(std::string_view kind, Outcome (*check)(Bytes)) {
  std::size_t valid = 0;
  std::size_t hostile = 0;
  for (const fs::path& path : corpus(kind)) {
    const std::string content = get_file(path);
    const Outcome outcome = check(bytes_of(content));
    EXPECT_EQ(outcome.broken, "") << path;
    if (is_named(path, "valid-")) {
      ++valid;
      EXPECT_TRUE(outcome.accepted) << path;
    }
    if (is_named(path, "hostile-")) {
      ++hostile;
      EXPECT_FALSE(outcome.accepted) << path;
    }
  }
  EXPECT_GE(valid, 5U);
  EXPECT_GE(hostile, 10U);
}

TEST(ContainerCorpus, SafetensorsKeepTheirPromises) { replay("safetensors", check_safetensors); }

TEST(ContainerCorpus, ManifestsKeepTheirPromises) { replay("manifest", check_manifest); }

TEST(ContainerCorpus, ValidFilesSurviveTheDisk) {
  const testing::TemporaryFolder folder;
  for (const fs::path& path : corpus("safetensors")) {
    if (!is_named(path, "valid-")) continue;
    const auto read = SafetensorsFile::open(path);
    ASSERT_TRUE(read) << read.error().message;
    std::vector<TensorData> tensors;
    for (const TensorEntry& tensor : read->tensors()) tensors.push_back({tensor.spec, read->bytes(tensor)});
    const auto written = write_safetensors(folder / "copy", tensors, read->metadata());
    ASSERT_TRUE(written) << written.error().message;
    const auto copy = SafetensorsFile::open(folder / "copy");
    ASSERT_TRUE(copy) << copy.error().message;
    EXPECT_EQ(copy->metadata(), read->metadata());
    for (const TensorEntry& tensor : read->tensors()) {
      const auto other = copy->require(tensor.spec.name);
      ASSERT_TRUE(other) << other.error().message;
      EXPECT_EQ((*other)->spec, tensor.spec);
      EXPECT_TRUE(std::ranges::equal(copy->bytes(**other), read->bytes(tensor))) << path << " " << tensor.spec.name;
    }
  }
}

}  // namespace
}  // namespace fp4proof::fuzz
