// libFuzzer target: any bytes as a safetensors file.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "tests/fuzz/container_properties.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fp4proof::fuzz::Outcome outcome = fp4proof::fuzz::check_safetensors({data, size});
  if (outcome.broken.empty()) return 0;
  std::fprintf(stderr, "broken promise: %s\n", outcome.broken.c_str());
  std::abort();
}

/// Mostly sets the header length to end behind the last brace: without that, nearly every mutation dies at the length.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned int seed) {
  size = LLVMFuzzerMutate(data, size, max_size);
  if (size < 8 || seed % 8 == 0) return size;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 8, size - 8);
  const std::size_t brace = rest.rfind('}');
  const std::uint64_t length = brace == std::string_view::npos ? rest.size() : brace + 1;
  std::memcpy(data, &length, 8);
  return size;
}
