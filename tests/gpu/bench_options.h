#pragma once
// What a benchmark of the device is told: --runs N, --only TEXT, --json FILE.

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

namespace fp4proof::gpu {

struct BenchOptions {
  int runs = 15;
  std::string_view only;       ///< cases whose name holds it
  const char* json = nullptr;  ///< where one object a case goes
};

/// Throws std::runtime_error for a word that is no option, or one without a value.
inline BenchOptions bench_options(int count, char** words) {
  BenchOptions options;
  for (int i = 1; i < count; i += 2) {
    const std::string_view name = words[i];
    if (i + 1 == count) throw std::runtime_error("no value for " + std::string(name));
    const char* value = words[i + 1];
    if (name == "--runs") {
      options.runs = std::atoi(value);
    } else if (name == "--only") {
      options.only = value;
    } else if (name == "--json") {
      options.json = value;
    } else {
      throw std::runtime_error("unknown option " + std::string(name));
    }
  }
  if (options.runs <= 0) throw std::runtime_error("numbers start at 1");
  return options;
}

}  // namespace fp4proof::gpu
