#include "conformance/vectors/folder_entries.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/temporary_folder.h"

namespace fp4proof {
namespace {

TEST(FolderEntries, EverythingInTheOrderOfNames) {
  const testing::TemporaryFolder folder;
  for (const char* name : {"b", ".hidden", "a", "c"}) testing::put_file(folder / name, "");
  std::filesystem::create_directory(folder / "ab");
  std::filesystem::create_symlink("nowhere", folder / "d");
  const auto entries = folder_entries(folder.path());
  ASSERT_TRUE(entries);
  std::vector<std::string> names;
  for (const auto& entry : *entries) names.push_back(entry.path().filename().string());
  EXPECT_EQ(names, (std::vector<std::string>{".hidden", "a", "ab", "b", "c", "d"}));
}

TEST(FolderEntries, AnErrorWhereThereIsNoFolder) {
  const testing::TemporaryFolder folder;
  testing::put_file(folder / "file", "");
  for (const char* name : {"missing", "file"}) {
    const auto entries = folder_entries(folder / name);
    ASSERT_FALSE(entries);
    EXPECT_EQ(entries.error().kind, ErrorKind::io);
    EXPECT_NE(entries.error().message.find("cannot read the folder"), std::string::npos);
    EXPECT_NE(entries.error().message.find(name), std::string::npos);
  }
}

}  // namespace
}  // namespace fp4proof
