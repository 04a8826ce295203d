#include "conformance/verdict/invocation.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace fp4proof::verdict {

namespace {

constexpr std::array<std::string_view, 5> with_value = {"--json", "--report", "--shard", "--resume", "--threads"};
constexpr std::string_view alone = "--timing";

bool is_left_out(std::string_view name) { return std::ranges::find(with_value, name) != with_value.end(); }

}  // namespace

std::vector<std::string> asking_arguments(const std::vector<std::string>& arguments) {
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == alone) continue;
    if (is_left_out(argument)) {
      ++i;
      continue;
    }
    const std::size_t equals = argument.find('=');
    if (equals != std::string::npos && is_left_out(std::string_view(argument).substr(0, equals))) continue;
    kept.push_back(argument);
  }
  return kept;
}

}  // namespace fp4proof::verdict
