// Built with options that break strict arithmetic (see CMakeLists.txt); exit code 0 when the check refuses them.
#include <cstdio>

#include "reference/portable/environment.h"

int main() {
#if defined(__FMA__)
  if (!__builtin_cpu_supports("fma")) {
    std::puts("skipped: this processor has no fused multiply-add");
    return 77;
  }
#endif
  const fp4proof::Result<void> checked = fp4proof::portable::check_environment();
  std::puts(checked ? "accepted a build that breaks strict arithmetic" : checked.error().message.c_str());
  return checked ? 1 : 0;
}
