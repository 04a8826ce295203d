#pragma once
// The framed binary form of questions and answers to a program: a length, a JSON header, raw bytes. docs/plug-ins.md
// has it.

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/runners/process_protocol.h"

namespace fp4proof::runners {

/// The most bytes of a header of an answer.
inline constexpr std::size_t most_header_bytes = 64 * 1024;

std::string binary_describe();
std::string binary_question(const ProcessQuestion& question);

/// Reads the answer to a question, or to "describe".
class BinaryReader : public ReplyReader {
 public:
  BinaryReader() = default;  ///< to "describe"
  explicit BinaryReader(const ProcessQuestion& question);

  void take(std::string_view bytes) override;
  std::string progress() const override;

 private:
  void take_header();
  void take_body();

  std::vector<const suite::CaseTensor*> outputs_;
  std::size_t cases_ = 0;
  bool describes_ = true;
  std::string buffer_;
  std::optional<std::size_t> body_bytes_;  // known once the header is there
};

}  // namespace fp4proof::runners
