// libFuzzer target: any bytes as a manifest.

#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/container_properties.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fp4proof::fuzz::Outcome outcome = fp4proof::fuzz::check_manifest({data, size});
  if (outcome.broken.empty()) return 0;
  std::fprintf(stderr, "broken promise: %s\n", outcome.broken.c_str());
  std::abort();
}
