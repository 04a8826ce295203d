// Preloaded into the command by environment_test.py: turns on flush-to-zero before main(), as some libraries do.
#include <xmmintrin.h>

namespace {

[[gnu::constructor]] void flush_to_zero() { _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON); }

}  // namespace
