#pragma once
// The text form of questions and answers to a program: one case a line, hexadecimal words. docs/plug-ins.md has it.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/runners/process_protocol.h"

namespace fp4proof::runners {

std::string text_describe();
std::string text_question(const ProcessQuestion& question);

/// What the lines of an answer are read by.
class TextReader : public ReplyReader {
 public:
  void take(std::string_view bytes) override;
  std::string progress() const override;

 protected:
  explicit TextReader(std::size_t most_line_bytes) : most_line_bytes_(most_line_bytes) {}

  /// Takes one line of the body.
  virtual void take_body(std::string_view line) = 0;

  /// Whether the answer may have so many lines.
  virtual bool accepts_count(std::size_t count) const = 0;

  std::size_t lines_taken() const { return lines_taken_; }

 private:
  enum class State : std::uint8_t { header, body, end };

  void take_line(std::string_view line);
  void take_header(std::string_view line);

  std::size_t most_line_bytes_;
  std::string partial_;
  State state_ = State::header;
  std::size_t count_ = 0;
  std::size_t lines_taken_ = 0;
};

/// Reads the cases of a question.
class TextCaseReader : public TextReader {
 public:
  explicit TextCaseReader(const ProcessQuestion& question);

 private:
  void take_body(std::string_view line) override;
  bool accepts_count(std::size_t count) const override { return count == cases_; }

  std::vector<const suite::CaseTensor*> outputs_;
  std::size_t cases_;
};

/// Reads "name TEXT", "version TEXT", "description TEXT".
class TextDescriptionReader : public TextReader {
 public:
  TextDescriptionReader();

 private:
  void take_body(std::string_view line) override;
  bool accepts_count(std::size_t count) const override { return count <= 3; }
};

}  // namespace fp4proof::runners
