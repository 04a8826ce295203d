#pragma once
// A question to a plug-in as the two processes exchange it.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "conformance/runners/shared_tensors.h"
#include "conformance/suite/case_group.h"

namespace fp4proof::runners {

/// The words of the protocol.
namespace ask {
inline constexpr std::string_view open = "open";          ///< load the library -> `backend`
inline constexpr std::string_view supports = "supports";  ///< `call`, tensors without data -> `status`
inline constexpr std::string_view run = "run";            ///< `call`, files: inputs, outputs -> `status`
inline constexpr std::string_view close = "close";        ///< the last message
}  // namespace ask

/// What `call` holds about a group: every field of fp4proof_call but the tensors' places. `profile` is the one that is
/// asked about; the cases may be kept under another profile with the same answers.
nlohmann::json call_body(suite::Operation operation, const Profile& profile, const suite::CaseGroup& group);

/// Adds the places of the tensors in their memory files.
void add_places(nlohmann::json& call, const TensorFile& inputs, const TensorFile& outputs);

}  // namespace fp4proof::runners
