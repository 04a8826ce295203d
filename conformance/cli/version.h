#pragma once

#include <string_view>

namespace fp4proof::cli {

/// The version of this program, for example "0.1.0".
inline constexpr std::string_view tool_version = FP4PROOF_VERSION;

}  // namespace fp4proof::cli
