// Recomputes the digests of vectors/gpu_digests.json on the CPU.
// Usage: gpu_digests_cpu FILE [--all]
// Exit code 0 where every entry that is due was recomputed and agrees, and the file has all entries and no others.

#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>

#include "tests/gpu/evidence_document.h"
#include "tests/gpu/evidence_host.h"

namespace fp4proof::evidence {
namespace {

class Check {
 public:
  Check(const Document& document, bool all) : document_(document), all_(all) {}

  template <class Entry>
  void add(const std::vector<Entry>& entries) {
    const auto begin = std::chrono::steady_clock::now();
    for (const Entry& entry : entries) add(entry);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    if (!entries.empty()) std::printf("%-60s %8.1f s\n", name_of_entry(entries.back()).c_str(), seconds.count());
  }

  /// Names in a section of the file that no entry of that section has.
  void finish() {
    for (const bool by_hand : {false, true}) {
      for (const auto& [name, digest] : section(by_hand)) {
        const auto found = known_.find(name);
        if (found == known_.end() || found->second != by_hand) fail("no such entry: ", name);
      }
    }
    std::printf("%d agree, %d differ, %d left to --all\n", agree_, differ_, left_);
  }

  bool passed() const { return differ_ == 0 && agree_ > 0; }

 private:
  template <class Entry>
  static bool is_by_hand(const Entry& entry) {
    if constexpr (requires { entry.recomputed; }) return entry.recomputed == Recomputed::by_hand;
    return false;
  }

  template <class Entry>
  void add(const Entry& entry) {
    const std::string name = name_of_entry(entry);
    const bool by_hand = is_by_hand(entry);
    if (!known_.emplace(name, by_hand).second) fail("two entries have one name: ", name);
    const auto found = section(by_hand).find(name);
    if (found == section(by_hand).end()) return fail("not in the file: ", name);
    if (by_hand && !all_) {
      ++left_;
      return;
    }
    if (host_digest(entry) != found->second) return fail("differs: ", name);
    ++agree_;
  }

  const Digests& section(bool by_hand) const { return by_hand ? document_.by_hand : document_.by_ci; }

  void fail(const char* what, const std::string& name) {
    ++differ_;
    std::printf("%s%s\n", what, name.c_str());
  }

  const Document& document_;
  bool all_;
  std::map<std::string, bool> known_;  ///< name -> by_hand
  int agree_ = 0;
  int differ_ = 0;
  int left_ = 0;
};

int run(const char* path, bool all) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const Result<Document> document = read_document(path);
  if (!document) {
    std::fprintf(stderr, "%s\n", document.error().message.c_str());
    return 3;
  }
  Check check(*document, all);
  check.add(quantize_entries());
  check.add(dequantize_entries());
  check.add(gemm_entries());
  check.add(correct_entries());
  check.add(decompose_entries());
  check.add(sweep_entries());
  check.finish();
  return check.passed() ? 0 : 1;
}

}  // namespace
}  // namespace fp4proof::evidence

int main(int argc, char** argv) {
  const bool all = argc == 3 && std::strcmp(argv[2], "--all") == 0;
  if (argc != 2 && !all) {
    std::fprintf(stderr, "usage: gpu_digests_cpu FILE [--all]\n");
    return 2;
  }
  return fp4proof::evidence::run(argv[1], all);
}
