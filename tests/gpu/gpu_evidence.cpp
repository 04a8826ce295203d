// Computes the digests of vectors/gpu_digests.json with the CUDA path and writes that file.
// Usage: gpu_evidence FILE
//        gpu_evidence --small [KIND]    the small entries once, for compute-sanitizer; nothing is written. KIND is
//                                       quantize, dequantize, gemm, correct or decompose: those alone
// Every entry that CI recomputes is computed twice, quantization also on addresses that the fast roads do not take and
// in slices; results that differ are told, and the exit code is 1. gpu_digests_cpu judges the file.

#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>

#include "tests/gpu/evidence_device.h"
#include "tests/gpu/evidence_device_memory.h"
#include "tests/gpu/evidence_document.h"

namespace fp4proof::evidence {
namespace {

/// What an entry costs under a tool that watches every access.
std::int64_t work_of(const QuantizeEntry& entry) { return entry.input.shape.elements(); }
std::int64_t work_of(const DequantizeEntry& entry) { return entry.lines * entry.length; }
std::int64_t work_of(const GemmEntry& entry) { return entry.batch * entry.m * entry.n * entry.k / 64; }
std::int64_t work_of(const CorrectEntry& entry) { return entry.input.shape.elements(); }
std::int64_t work_of(const DecomposeEntry& entry) { return entry.input.shape.elements(); }
std::int64_t work_of(const SweepEntry&) { return std::int64_t{1} << 32; }

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Seconds above which an entry is named.
constexpr double noteworthy = 1.0;

constexpr std::int64_t most_work_of_small = std::int64_t{1} << 18;

class Evidence {
 public:
  /// `only`: the kind of entries that are computed, all where it is empty.
  Evidence(bool small, std::string_view only) : small_(small), only_(only) {}

  template <class Entry>
  void add(std::string_view kind, const std::vector<Entry>& entries) {
    if (!only_.empty() && only_ != kind) return;
    const auto begin = std::chrono::steady_clock::now();
    int count = 0;
    for (const Entry& entry : entries) {
      if (small_ && work_of(entry) > most_work_of_small) continue;
      ++count;
      const auto start = std::chrono::steady_clock::now();
      if (small_) {
        device_digest(entry);
      } else {
        add(entry);
      }
      const double seconds = seconds_since(start);
      if (seconds > noteworthy) std::printf("%.1f s: %s\n", seconds, name_of_entry(entry).c_str());
    }
    std::printf("%-12s %5d entries %7.1f s\n", std::string(kind).c_str(), count, seconds_since(begin));
    computed_ += count;
  }

  bool write(const char* path) const {
    std::ofstream file(path, std::ios::binary);
    file << text_of(document_);
    file.close();
    return static_cast<bool>(file);
  }

  int computed() const { return computed_; }
  int faults() const { return faults_; }
  int compared() const { return compared_; }
  int sliced() const { return sliced_; }

 private:
  /// Elements above which the roads are not compared.
  static constexpr std::int64_t most_compared = std::int64_t{1} << 29;

  template <class Entry>
  void add(const Entry& entry) {
    const std::string name = name_of_entry(entry);
    const std::uint64_t digest = device_digest(entry);
    bool by_hand = false;
    if constexpr (requires { entry.recomputed; }) by_hand = entry.recomputed == Recomputed::by_hand;
    if (!(by_hand ? document_.by_hand : document_.by_ci).emplace(name, digest).second) fault("two entries: ", name);
    if (!by_hand && device_digest(entry) != digest) fault("two runs differ: ", name);
    if constexpr (requires { can_be_sliced(entry); }) check_roads(entry, digest);
  }

  void check_roads(const QuantizeEntry& entry, std::uint64_t digest) {
    if (entry.input.shape.elements() > most_compared) return;
    ++compared_;
    if (device_digest_of_moved_input(entry) != digest) fault("the moved input differs: ", name_of_entry(entry));
    if (!can_be_sliced(entry)) return;
    ++sliced_;
    constexpr std::int64_t rows_of_slice = 320;
    if (device_digest_in_slices(entry, rows_of_slice) != digest) fault("slices differ: ", name_of_entry(entry));
  }

  void fault(const char* what, const std::string& name) {
    ++faults_;
    std::printf("%s%s\n", what, name.c_str());
  }

  bool small_;
  std::string_view only_;
  Document document_;
  int computed_ = 0;
  int faults_ = 0;
  int compared_ = 0;
  int sliced_ = 0;
};

int run(const char* path, bool small, std::string_view only) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  Evidence evidence(small, only);
  DeviceBytes::poisons = !small;
  evidence.add("quantize", quantize_entries());
  evidence.add("dequantize", dequantize_entries());
  evidence.add("gemm", gemm_entries());
  evidence.add("correct", correct_entries());
  evidence.add("decompose", decompose_entries());
  evidence.add("sweep", sweep_entries());
  if (small) return evidence.computed() > 0 ? 0 : 2;
  std::printf("%d entries also with the input moved, %d in slices; %d faults\n", evidence.compared(), evidence.sliced(),
              evidence.faults());
  if (!evidence.write(path)) {
    std::fprintf(stderr, "%s cannot be written\n", path);
    return 4;
  }
  return evidence.faults() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace fp4proof::evidence

int main(int argc, char** argv) {
  const bool small = argc > 1 && std::strcmp(argv[1], "--small") == 0;
  if (argc < 2 || argc > (small ? 3 : 2)) {
    std::fprintf(stderr, "usage: gpu_evidence FILE | --small [KIND]\n");
    return 2;
  }
  return fp4proof::evidence::run(argv[1], small, argc > 2 ? argv[2] : "");
}
