#pragma once
// Messages between the verifier and the process that holds a plug-in: one JSON object a packet, with file descriptors.

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "conformance/vectors/file_descriptor.h"

namespace fp4proof::runners {

/// The most bytes of a message.
inline constexpr std::size_t most_message_bytes = 64 * 1024;

struct Message {
  nlohmann::json body;
  std::vector<FileDescriptor> files;
};

/// A text of a JSON value; empty where it is no object with that text. Nothing that arrives can be trusted.
std::string text_field(const nlohmann::json& body, const char* key);

/// Sends a message over a SOCK_SEQPACKET socket. False where the other side is gone or the message is too long.
bool send_message(int socket, const nlohmann::json& body, std::span<const int> files);

/// What arrived.
struct Received {
  enum class Kind { message, nonsense, end };
  Kind kind = Kind::end;
  Message message;
};

/// Receives one packet, waiting for it. `nonsense` where it is no JSON object, `end` where the other side is gone.
Received receive_message(int socket);

}  // namespace fp4proof::runners
