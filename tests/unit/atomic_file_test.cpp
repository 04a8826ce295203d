#include "conformance/vectors/atomic_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "conformance/vectors/mapped_file.h"
#include "tests/unit/temporary_folder.h"

namespace fp4proof {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;
using testing::get_file;
using testing::put_file;
using testing::TemporaryFolder;

AtomicFile create(const fs::path& path) {
  auto file = AtomicFile::create(path);
  EXPECT_TRUE(file) << file.error().message;
  return std::move(*file);
}

void expect_error(const Result<void>& result, ErrorKind kind, std::string_view message) {
  ASSERT_FALSE(result) << "expected: " << message;
  EXPECT_EQ(result.error().kind, kind) << result.error().message;
  EXPECT_NE(result.error().message.find(message), std::string::npos) << result.error().message;
}

template <class T>
void expect_no_value(const Result<T>& result, ErrorKind kind, std::string_view message) {
  expect_error(result ? Result<void>() : Result<void>(result.error()), kind, message);
}

/// Lowers the limit on file sizes, the portable way to make a disk "full" half-way through a write.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    before_handler_ = ::signal(SIGXFSZ, SIG_IGN);
    EXPECT_EQ(::getrlimit(RLIMIT_FSIZE, &before_), 0);
    const rlimit lowered{bytes, before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &lowered), 0);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, before_handler_);
  }

 private:
  rlimit before_{};
  void (*before_handler_)(int) = nullptr;
};

/// Points the process's standard output elsewhere for a while.
class RedirectedOutput {
 public:
  explicit RedirectedOutput(int descriptor) : saved_(::dup(STDOUT_FILENO)) { ::dup2(descriptor, STDOUT_FILENO); }
  ~RedirectedOutput() {
    ::dup2(saved_, STDOUT_FILENO);
    ::close(saved_);
  }

 private:
  int saved_;
};

TEST(AtomicFile, AppearsOnlyOnCommit) {
  const TemporaryFolder folder;
  const fs::path path = folder / "out";
  AtomicFile file = create(path);
  EXPECT_FALSE(file.is_direct());
  EXPECT_TRUE(file.append(bytes_of("hello "s)));
  EXPECT_TRUE(file.append(bytes_of("world"s)));
  EXPECT_FALSE(fs::exists(path));
  EXPECT_EQ(folder.entries(), 1);  // the temporary
  ASSERT_TRUE(file.commit());
  EXPECT_EQ(get_file(path), "hello world");
  EXPECT_EQ(folder.entries(), 1);  // the file
}

TEST(AtomicFile, LeavesNothingWithoutCommit) {
  const TemporaryFolder folder;
  put_file(folder / "out", "old");
  {
    AtomicFile file = create(folder / "out");
    EXPECT_TRUE(file.append(bytes_of("new"s)));
    EXPECT_EQ(folder.entries(), 2);
  }
  EXPECT_EQ(folder.entries(), 1);
  EXPECT_EQ(get_file(folder / "out"), "old");
}

TEST(AtomicFile, ReplacesAnExistingFileAndKeepsItsMode) {
  const TemporaryFolder folder;
  const fs::path path = folder / "out";
  put_file(path, "old and longer");
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_TRUE(write_file(path, bytes_of("new"s)));
  EXPECT_EQ(get_file(path), "new");
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST(AtomicFile, GivesANewFileTheUsualMode) {
  const TemporaryFolder folder;
  const mode_t mask = ::umask(027);
  EXPECT_TRUE(write_file(folder / "out", {}));
  ::umask(mask);
  EXPECT_EQ(static_cast<unsigned>(fs::status(folder / "out").permissions()), 0640U);
}

TEST(AtomicFile, RefusesAWriteProtectedFile) {
  if (::geteuid() == 0) GTEST_SKIP() << "the superuser may write anything";
  const TemporaryFolder folder;
  put_file(folder / "out", "golden");
  fs::permissions(folder / "out", fs::perms::owner_read);
  expect_error(write_file(folder / "out", bytes_of("new"s)), ErrorKind::io, "Permission denied");
  EXPECT_EQ(get_file(folder / "out"), "golden");
}

TEST(AtomicFile, WritesAtOffsetsInAnyOrder) {
  const TemporaryFolder folder;
  AtomicFile file = create(folder / "out");
  EXPECT_TRUE(file.append(bytes_of("head"s)));
  EXPECT_TRUE(file.write_at(8, bytes_of("tail"s)));
  EXPECT_TRUE(file.append(bytes_of("er"s)));
  EXPECT_TRUE(file.write_at(0, bytes_of("H"s)));
  ASSERT_TRUE(file.commit());
  EXPECT_EQ(get_file(folder / "out"), "Header\0\0tail"s);
}

TEST(AtomicFile, ReachesBeyondFourGibibytes) {
  const TemporaryFolder folder;
  const std::uint64_t offset = std::uint64_t{5} << 30;
  AtomicFile file = create(folder / "out");
  ASSERT_TRUE(file.write_at(offset, bytes_of("z"s)));
  ASSERT_TRUE(file.commit());
  const auto mapped = MappedFile::open(folder / "out");
  ASSERT_TRUE(mapped) << mapped.error().message;
  ASSERT_EQ(mapped->bytes().size(), offset + 1);
  EXPECT_EQ(mapped->bytes()[offset], 'z');
}

TEST(AtomicFile, RefusesOffsetsNoFileReaches) {
  const TemporaryFolder folder;
  AtomicFile file = create(folder / "out");
  expect_error(file.write_at(~std::uint64_t{0}, bytes_of("z"s)), ErrorKind::io, "File too large");
}

TEST(AtomicFile, SurvivesAMove) {
  const TemporaryFolder folder;
  AtomicFile first = create(folder / "first");
  EXPECT_TRUE(first.append(bytes_of("1"s)));
  AtomicFile moved = std::move(first);
  EXPECT_TRUE(moved.append(bytes_of("2"s)));
  AtomicFile second = create(folder / "second");
  second = std::move(moved);  // drops the temporary of "second"
  EXPECT_TRUE(second.append(bytes_of("3"s)));
  ASSERT_TRUE(second.commit());
  EXPECT_EQ(get_file(folder / "first"), "123");
  EXPECT_EQ(folder.entries(), 1);
}

TEST(AtomicFile, RefusesUseAfterCommit) {
  const TemporaryFolder folder;
  AtomicFile file = create(folder / "out");
  ASSERT_TRUE(file.commit());
  expect_error(file.append(bytes_of("x"s)), ErrorKind::internal, "already committed");
  expect_error(file.commit(), ErrorKind::internal, "already committed");
  EXPECT_EQ(get_file(folder / "out"), "");
}

TEST(AtomicFile, ReportsAWriteCutShortAndKeepsTheOldFile) {
  const TemporaryFolder folder;
  put_file(folder / "out", "old");
  {
    const FileSizeLimit limit(1000);
    AtomicFile file = create(folder / "out");
    EXPECT_TRUE(file.append(bytes_of(std::string(900, 'x'))));
    expect_error(file.append(bytes_of(std::string(200, 'y'))), ErrorKind::io, "File too large");
    // The first failure sticks: a caller who checks only the end is still told.
    expect_error(file.append({}), ErrorKind::io, "File too large");
    expect_error(file.commit(), ErrorKind::io, "File too large");
  }
  EXPECT_EQ(get_file(folder / "out"), "old");
  EXPECT_EQ(folder.entries(), 1);
}

TEST(AtomicFile, ReportsAFullDevice) {
  AtomicFile file = create("/dev/full");
  EXPECT_TRUE(file.is_direct());
  expect_error(file.append(bytes_of("x"s)), ErrorKind::io, R"(cannot write to "/dev/full": No space left on device)");
  expect_error(file.commit(), ErrorKind::io, "No space left on device");
}

TEST(AtomicFile, WritesDirectlyToADevice) {
  AtomicFile file = create("/dev/null");
  EXPECT_TRUE(file.append(bytes_of("abc"s)));
  EXPECT_TRUE(file.write_at(3, bytes_of("d"s)));
  EXPECT_TRUE(file.commit());
}

TEST(AtomicFile, TakesBytesForAPipeInOrderOnly) {
  const TemporaryFolder folder;
  const fs::path path = folder / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const FileDescriptor reader(::open(path.c_str(), O_RDONLY | O_NONBLOCK));
  AtomicFile file = create(path);
  EXPECT_TRUE(file.append(bytes_of("ab"s)));
  EXPECT_TRUE(file.write_at(2, bytes_of("cd"s)));
  char received[8] = {};
  ASSERT_EQ(::read(reader.number(), received, sizeof received), 4);
  EXPECT_EQ(std::string(received), "abcd");
  expect_error(file.write_at(7, bytes_of("x"s)), ErrorKind::unsupported, "only in order: at 4, asked for 7");
  expect_error(file.commit(), ErrorKind::unsupported, "only in order");
}

TEST(AtomicFile, ReportsABrokenPipe) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  void (*const before)(int) = ::signal(SIGPIPE, SIG_IGN);
  AtomicFile file = create("/dev/fd/" + std::to_string(ends[1]));
  EXPECT_TRUE(file.is_direct());
  expect_error(file.append(bytes_of("x"s)), ErrorKind::io, "Broken pipe");
  ::signal(SIGPIPE, before);
  ::close(ends[1]);
}

TEST(AtomicFile, ContinuesARedirectedStandardOutput) {
  const TemporaryFolder folder;
  put_file(folder / "log", "before ");
  fs::create_symlink("/dev/stdout", folder / "link");
  const FileDescriptor log(::open((folder / "log").c_str(), O_WRONLY | O_APPEND));
  ASSERT_TRUE(log.is_open());
  for (const fs::path& name : {fs::path("/dev/stdout"), fs::path("/proc/self/fd/1"), folder / "link"}) {
    const RedirectedOutput redirected(log.number());
    const auto written = write_file(name, bytes_of("x"s));
    EXPECT_TRUE(written) << written.error().message;
  }
  EXPECT_EQ(get_file(folder / "log"), "before xxx");
  EXPECT_EQ(folder.entries(), 2);
}

TEST(AtomicFile, FollowsLinks) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "disk");
  fs::create_symlink("disk/data", folder / "link");
  EXPECT_TRUE(write_file(folder / "link", bytes_of("1"s)));  // the link dangles
  EXPECT_TRUE(write_file(folder / "link", bytes_of("2"s)));
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(get_file(folder.path() / "disk" / "data"), "2");
  fs::create_symlink("loop", folder / "loop");
  expect_error(write_file(folder / "loop", {}), ErrorKind::io, "symbolic links");
}

TEST(AtomicFile, RefusesImpossibleTargets) {
  const TemporaryFolder folder;
  put_file(folder / "file", "");
  expect_no_value(AtomicFile::create(""), ErrorKind::usage, "empty");
  expect_no_value(AtomicFile::create(folder.path()), ErrorKind::usage, "it is a folder");
  expect_no_value(AtomicFile::create(folder.path() / ""), ErrorKind::usage, "it is a folder");
  expect_no_value(AtomicFile::create(folder.path() / "none" / "out"), ErrorKind::io, "No such file or directory");
  expect_no_value(AtomicFile::create(folder.path() / "file" / "out"), ErrorKind::io, "Not a directory");
  expect_no_value(AtomicFile::create(folder / std::string(300, 'n')), ErrorKind::io, "File name too long");
  EXPECT_EQ(folder.entries(), 1);
}

TEST(AtomicFile, AcceptsTheLongestName) {
  const TemporaryFolder folder;
  EXPECT_TRUE(write_file(folder / std::string(255, 'n'), bytes_of("x"s)));
  EXPECT_EQ(folder.entries(), 1);
}

TEST(AtomicFile, LeavesNothingWhenTheNameIsTakenByAFolder) {
  const TemporaryFolder folder;
  {
    AtomicFile file = create(folder / "out");
    EXPECT_TRUE(file.append(bytes_of("x"s)));
    fs::create_directory(folder / "out");
    expect_error(file.commit(), ErrorKind::io, "cannot rename the finished temporary file to");
  }
  EXPECT_TRUE(fs::is_directory(folder / "out"));
  EXPECT_EQ(folder.entries(), 1);
}

TEST(MappedFile, ShowsTheContent) {
  const TemporaryFolder folder;
  put_file(folder / "file", "content");
  auto mapped = MappedFile::open(folder / "file");
  ASSERT_TRUE(mapped) << mapped.error().message;
  const std::uint8_t* address = mapped->bytes().data();
  MappedFile moved = std::move(*mapped);
  EXPECT_EQ(moved.bytes().data(), address);
  EXPECT_EQ(text_of(moved.bytes()), "content");
  EXPECT_TRUE(mapped->bytes().empty());
}

TEST(MappedFile, KeepsItsContentWhenTheFileIsRewritten) {
  const TemporaryFolder folder;
  put_file(folder / "file", "old");
  const auto mapped = MappedFile::open(folder / "file");
  ASSERT_TRUE(mapped);
  EXPECT_TRUE(write_file(folder / "file", {}));
  EXPECT_EQ(text_of(mapped->bytes()), "old");
}

TEST(MappedFile, TakesAnEmptyFile) {
  const TemporaryFolder folder;
  put_file(folder / "file", "");
  const auto mapped = MappedFile::open(folder / "file");
  ASSERT_TRUE(mapped);
  EXPECT_TRUE(mapped->bytes().empty());
}

TEST(MappedFile, RefusesWhatCannotBeMapped) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  expect_no_value(MappedFile::open(folder / "pipe"), ErrorKind::usage, "not a regular file");  // and does not wait
  expect_no_value(MappedFile::open("/dev/zero"), ErrorKind::usage, "not a regular file");
  expect_no_value(MappedFile::open(folder.path()), ErrorKind::usage, "is a folder");
  expect_no_value(MappedFile::open(folder / "none"), ErrorKind::io, "No such file or directory");
}

}  // namespace
}  // namespace fp4proof
