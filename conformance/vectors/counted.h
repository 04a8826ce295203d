#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fp4proof {

/// A count and what is counted, for example "1 tensor" and "2 tensors".
inline std::string counted(std::uint64_t count, std::string_view what) {
  return std::to_string(count) + " " + std::string(what) + (count == 1 ? "" : "s");
}

}  // namespace fp4proof
