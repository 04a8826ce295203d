// AtomicFile when the operating system misbehaves. The linker routes the system calls through the wrappers below
// (--wrap in CMakeLists.txt), which fail on demand.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/types.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "conformance/vectors/atomic_file.h"
#include "tests/unit/temporary_folder.h"

namespace {

/// What the wrapped calls do; zero leaves them alone.
struct Faults {
  std::size_t longest_write = 0;  ///< a write takes at most this many bytes
  int interruptions = 0;          ///< how many writes fail with EINTR first
  int write_error = 0;
  int flush_error = 0;
  int close_error = 0;
  int rename_error = 0;
};

Faults faults;
int writes = 0;

int fail(int number) {
  errno = number;
  return -1;
}

template <class Call>
ssize_t write_with_faults(std::size_t size, Call call) {
  ++writes;
  if (faults.interruptions > 0) {
    --faults.interruptions;
    return fail(EINTR);
  }
  if (faults.write_error != 0) return fail(faults.write_error);
  return call(faults.longest_write == 0 ? size : std::min(size, faults.longest_write));
}

}  // namespace

extern "C" {
ssize_t __real_pwrite(int descriptor, const void* data, std::size_t size, off_t offset);
ssize_t __real_write(int descriptor, const void* data, std::size_t size);
int __real_fsync(int descriptor);
int __real_close(int descriptor);
int __real_rename(const char* from, const char* to);

ssize_t __wrap_pwrite(int descriptor, const void* data, std::size_t size, off_t offset) {
  return write_with_faults(size, [&](std::size_t taken) { return __real_pwrite(descriptor, data, taken, offset); });
}

ssize_t __wrap_write(int descriptor, const void* data, std::size_t size) {
  return write_with_faults(size, [&](std::size_t taken) { return __real_write(descriptor, data, taken); });
}

int __wrap_fsync(int descriptor) {
  return faults.flush_error != 0 ? fail(faults.flush_error) : __real_fsync(descriptor);
}

int __wrap_close(int descriptor) {
  const int outcome = __real_close(descriptor);
  return faults.close_error != 0 ? fail(faults.close_error) : outcome;
}

int __wrap_rename(const char* from, const char* to) {
  return faults.rename_error != 0 ? fail(faults.rename_error) : __real_rename(from, to);
}
}

namespace fp4proof {
namespace {

using namespace std::string_literals;
using testing::get_file;
using testing::put_file;
using testing::TemporaryFolder;

class AtomicFileFaults : public ::testing::Test {
 protected:
  AtomicFileFaults() {
    put_file(folder_ / "out", "old");
    faults = {};
    writes = 0;
  }
  ~AtomicFileFaults() override { faults = {}; }

  /// Writes "new" under `injected` and expects the error, the old content, and no temporary.
  void expect_failure(const Faults& injected, std::string_view message) {
    faults = injected;
    const Result<void> written = write_file(folder_ / "out", bytes_of("new"s));
    faults = {};
    ASSERT_FALSE(written) << message;
    EXPECT_EQ(written.error().kind, ErrorKind::io);
    EXPECT_NE(written.error().message.find(message), std::string::npos) << written.error().message;
    EXPECT_EQ(get_file(folder_ / "out"), "old");
    EXPECT_EQ(folder_.entries(), 1);
  }

  TemporaryFolder folder_;
};

TEST_F(AtomicFileFaults, ReportsEveryFailedCallAndKeepsTheOldFile) {
  expect_failure({.write_error = EIO}, "Input/output error; the device reports a fault");
  expect_failure({.write_error = ENOSPC}, "No space left on device; free some space");
  expect_failure({.write_error = EDQUOT}, "quota");
  expect_failure({.flush_error = EIO}, "cannot finish writing to");
  expect_failure({.flush_error = EINVAL}, "Invalid argument");
  expect_failure({.close_error = ENOSPC}, "cannot finish writing to");
  expect_failure({.rename_error = EACCES}, "cannot rename the finished temporary file to");
}

TEST_F(AtomicFileFaults, ContinuesAfterShortAndInterruptedWrites) {
  faults = {.longest_write = 3, .interruptions = 2};
  EXPECT_TRUE(write_file(folder_ / "out", bytes_of("0123456789"s)));
  EXPECT_EQ(get_file(folder_ / "out"), "0123456789");
  EXPECT_EQ(writes, 6);  // 2 interrupted, then 3 + 3 + 3 + 1 bytes
}

TEST_F(AtomicFileFaults, ContinuesAfterShortAndInterruptedWritesToADevice) {
  faults = {.longest_write = 3, .interruptions = 2};
  EXPECT_TRUE(write_file("/dev/null", bytes_of("0123456789"s)));
  EXPECT_EQ(writes, 6);
}

TEST_F(AtomicFileFaults, ReportsADeviceThatCannotBeFlushedOrClosed) {
  const auto write_null = [](const Faults& injected) {
    faults = injected;
    const Result<void> written = write_file("/dev/null", bytes_of("x"s));
    faults = {};
    return written;
  };
  EXPECT_TRUE(write_null({.flush_error = EINVAL}));  // pipes and terminals have nothing to flush
  EXPECT_FALSE(write_null({.flush_error = EIO}));
  EXPECT_FALSE(write_null({.close_error = EIO}));
}

}  // namespace
}  // namespace fp4proof
