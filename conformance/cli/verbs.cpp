#include "conformance/cli/verbs.h"

#include <array>

namespace fp4proof::cli {

std::span<const Verb> verbs() {
  static const std::array table = {list_verb, quantize_verb, reproduce_verb};
  return table;
}

}  // namespace fp4proof::cli
