#include "conformance/verdict/exit_code.h"

#include <algorithm>
#include <array>

namespace fp4proof::verdict {

ExitCode worse_of(ExitCode a, ExitCode b) {
  using enum ExitCode;
  static constexpr std::array precedence = {internal,         usage,       corrupt,  plugin_failed, incomplete,
                                            nondeterministic, unsupported, mismatch, conformant};
  return *std::find_if(precedence.begin(), precedence.end(), [&](ExitCode code) { return code == a || code == b; });
}

ExitCode exit_code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
    case ErrorKind::data:
    case ErrorKind::io: return ExitCode::usage;
    case ErrorKind::corrupt: return ExitCode::corrupt;
    case ErrorKind::unsupported: return ExitCode::unsupported;
    case ErrorKind::backend: return ExitCode::plugin_failed;
    case ErrorKind::internal: return ExitCode::internal;
  }
  return ExitCode::internal;
}

}  // namespace fp4proof::verdict
