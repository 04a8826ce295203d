// Kernels that go wrong as a whole.

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <vector>

#include "tests/plugin/kernels/call.h"
#include "tests/plugin/kernels/faults.h"

namespace kernels {

namespace {

std::size_t bytes_of(const fp4proof_tensor& tensor) {
  std::size_t bytes = tensor.dtype == FP4PROOF_U32 ? 4 : 1;
  for (std::int32_t i = 0; i < tensor.rank; ++i) bytes *= static_cast<std::size_t>(tensor.shape[i]);
  return bytes;
}

/// Says that it offers everything and writes zeros.
bool write_zeros(const fp4proof_call& call) {
  for (std::int32_t i = 0; i < call.output_count; ++i) {
    const fp4proof_tensor* output = fp4proof_tensor_at(&call, call.outputs, i);
    std::memset(output->data, 0, bytes_of(*output));
  }
  return true;
}

/// Keeps memory that it never releases.
void keep(std::size_t bytes) {
  static std::vector<std::unique_ptr<char[]>> kept;
  kept.push_back(std::make_unique_for_overwrite<char[]>(bytes));
  kept.back()[0] = 1;
}

bool leak_a_little(const fp4proof_call&) {
  keep(std::size_t{1} << 16);
  return false;
}

/// Takes no more than 256 MiB on top of what the process has, so that the machine does not suffer.
void limit_memory() {
  std::ifstream pages("/proc/self/statm");
  rlim_t count = 0;
  pages >> count;
  const rlim_t limit = count * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + (rlim_t{256} << 20);
  const rlimit wanted{limit, limit};
  ::setrlimit(RLIMIT_AS, &wanted);
}

bool leak_memory(const fp4proof_call&) {
  static const bool is_limited = (limit_memory(), true);
  static_cast<void>(is_limited);
  keep(std::size_t{64} << 20);
  return false;
}

/// Opens files and never closes them.
bool leak_descriptors(const fp4proof_call&) {
  for (int i = 0; i < 4096; ++i)
    if (::open("/dev/null", O_RDONLY | O_CLOEXEC) < 0) throw std::runtime_error("too many open files");
  return false;
}

constexpr std::array table = {
    Fault{"nothing-written", [](Kernel& k) { k.conduct = [](const fp4proof_call&) { return true; }; }},
    Fault{"last-row-unwritten", [](Kernel& k) { k.rows_forgotten = 1; }},
    Fault{"offers-and-writes-zeros", [](Kernel& k) { k.conduct = write_zeros; }},
    Fault{"leaks-a-little", [](Kernel& k) { k.conduct = leak_a_little; }},
    Fault{"leaks-memory", [](Kernel& k) { k.conduct = leak_memory; }},
    Fault{"leaks-descriptors", [](Kernel& k) { k.conduct = leak_descriptors; }},
    Fault{"answer-of-the-case-before", [](Kernel& k) { k.is_stale = true; }},
    Fault{"sum-order-by-chance",
          [](Kernel& k) {
            k.sum = [](const std::vector<double>& products, std::size_t) {
              float sum = 0;
              for (std::size_t i = products.size(); i-- > 0;) sum += static_cast<float>(products[i]);
              return sum;
            };
            k.alternates = true;
          }},
    Fault{"stochastic-own-words",
          [](Kernel& k) {
            k.stochastic = [](double y, std::uint32_t, const Format& f) {
              static std::uint32_t state = 1;
              state = state * 1664525U + 1013904223U;
              return (state >> 31) != 0 ? nearest_even(y, f) : code_below(y, f);
            };
          }},
};

}  // namespace

std::span<const Fault> conduct_faults() { return table; }

}  // namespace kernels
