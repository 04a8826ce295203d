#include "conformance/runners/process_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "conformance/vectors/os_error.h"

namespace fp4proof::runners {

namespace {

constexpr std::string_view mark = "#fp4proof/1";
constexpr std::size_t least_line_bytes = 4096;

// ---------------------------------------------------------------------------------------------------------------------
// Questions
// ---------------------------------------------------------------------------------------------------------------------

/// Names hold no spaces as a rule; where they do, %20 keeps a field together.
std::string as_field(std::string_view text) {
  std::string field;
  for (const char c : text) {
    const bool is_plain = c > ' ' && c != '%' && c != 0x7F;
    field += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return field;
}

std::string shapes(const std::vector<const suite::CaseTensor*>& tensors) {
  std::vector<std::string> texts;
  for (const suite::CaseTensor* tensor : tensors) {
    const std::string shape = tensor->case_shape.empty() ? "1" : fmt::format("{}", fmt::join(tensor->case_shape, "x"));
    texts.push_back(fmt::format("{}:{}:{}", tensor->name, element_name(*tensor), shape));
  }
  return fmt::format("{}", fmt::join(texts, ","));
}

std::string header(const ProcessQuestion& question) {
  const suite::GroupSpec& spec = question.group->spec;
  std::string text = fmt::format("{} op={} profile={} rows={} columns={} axis={} tail={}", mark,
                                 suite::name_of(question.operation), as_field(question.profile->name), spec.rows,
                                 spec.columns, spec.axis, spec.tail == portable::Tail::pad ? "pad" : "error");
  if (spec.other_rows != 0) text += fmt::format(" other_rows={}", spec.other_rows);
  if (!spec.accumulator.empty()) text += fmt::format(" accumulator={}", as_field(spec.accumulator));
  if (!spec.correction.empty()) text += fmt::format(" correction={}", as_field(spec.correction));
  return text + fmt::format(" count={} inputs={} outputs={}\n", question.cases.size(),
                            shapes(inputs_of(*question.group)), shapes(outputs_of(*question.group)));
}

void append_words(const suite::CaseTensor& tensor, std::size_t index, std::string& line) {
  constexpr std::string_view digits = "0123456789abcdef";
  const Bytes bytes = tensor.of_case(index);
  const std::size_t width = tensor.dtype == TensorDtype::u32 ? 4 : 1;
  for (std::size_t word = 0; word < bytes.size(); word += width) {
    if (!line.empty()) line += ' ';
    for (std::size_t b = width; b-- > 0;) {
      line += digits[bytes[word + b] >> 4U];
      line += digits[bytes[word + b] & 0xFU];
    }
  }
}

std::string case_line(const std::vector<const suite::CaseTensor*>& tensors, std::size_t index) {
  std::string line;
  for (const suite::CaseTensor* tensor : tensors) {
    if (tensor != tensors.front()) line += " |";
    append_words(*tensor, index, line);
  }
  return line + "\n";
}

// ---------------------------------------------------------------------------------------------------------------------
// Answers
// ---------------------------------------------------------------------------------------------------------------------

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (line.empty()) return words;
    const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

bool parse_count(std::string_view word, std::size_t& count) {
  constexpr std::string_view key = "count=";
  if (!word.starts_with(key)) return false;
  const auto [end, failure] = std::from_chars(word.data() + key.size(), word.data() + word.size(), count);
  return failure == std::errc() && end == word.data() + word.size();
}

/// The most bytes that a line of words can have, with room for wide gaps.
std::size_t most_line_bytes(const std::vector<const suite::CaseTensor*>& tensors) {
  std::size_t bytes = least_line_bytes;
  for (const suite::CaseTensor* tensor : tensors) bytes += 4 * (2 * tensor->case_bytes() + case_elements(*tensor));
  return bytes;
}

/// Appends the words of one tensor. What is wrong with them, or nothing.
std::string take_words(const suite::CaseTensor& tensor, std::string_view text, std::vector<std::uint8_t>& bytes) {
  const std::vector<std::string_view> words = words_of(text);
  if (words.size() != case_elements(tensor)) {
    return fmt::format("has {} words for {} where {} are due", words.size(), tensor.name, case_elements(tensor));
  }
  const std::size_t width = tensor.dtype == TensorDtype::u32 ? 4 : 1;
  for (const std::string_view word : words) {
    std::uint32_t value = 0;
    const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), value, 16);
    const bool is_word = failure == std::errc() && end == word.data() + word.size() && (width == 4 || value <= 0xFF);
    if (!is_word) {
      return fmt::format("has {} for {}, no hexadecimal {} word", quote(word), tensor.name, element_name(tensor));
    }
    for (std::size_t b = 0; b < width; ++b) bytes.push_back(static_cast<std::uint8_t>(value >> (8 * b)));
  }
  return {};
}

}  // namespace

std::string text_describe() { return fmt::format("{} op=describe count=0\n#end count=0\n", mark); }

std::string text_question(const ProcessQuestion& question) {
  std::string text = header(question);
  const std::vector<const suite::CaseTensor*> inputs = inputs_of(*question.group);
  for (const std::size_t index : question.cases) text += case_line(inputs, index);
  return text + fmt::format("#end count={}\n", question.cases.size());
}

void TextReader::take(std::string_view bytes) {
  while (!bytes.empty()) {
    if (is_done()) {
      if (reply().kind != ProcessReply::Kind::broken)
        break_off(fmt::format("wrote {} behind its answer", quote(bytes)));
      return;
    }
    const std::size_t end = bytes.find('\n');
    partial_ += bytes.substr(0, end);
    if (partial_.size() > most_line_bytes_) {
      break_off(fmt::format("wrote a line of more than {} bytes", most_line_bytes_));
      return;
    }
    if (end == std::string_view::npos) return;
    bytes.remove_prefix(end + 1);
    if (partial_.ends_with('\r')) partial_.pop_back();
    take_line(partial_);
    partial_.clear();
  }
}

void TextReader::take_line(std::string_view line) {
  if (state_ == State::header) {
    take_header(line);
  } else if (state_ == State::body) {
    if (line.starts_with('#')) {
      break_off(fmt::format("wrote {} after {} of {} lines", quote(line), lines_taken_, count_));
      return;
    }
    ++lines_taken_;
    take_body(line);
  } else if (line == fmt::format("#end count={}", count_)) {
    finish(ProcessReply::Kind::ok);
  } else {
    break_off(fmt::format("wrote {} where \"#end count={}\" is due", quote(line), count_));
  }
  if (state_ == State::body && lines_taken_ == count_) state_ = State::end;
}

void TextReader::take_header(std::string_view line) {
  const std::vector<std::string_view> words = words_of(line);
  const bool is_marked = words.size() >= 2 && words[0] == mark;
  if (is_marked && words[1] == "unsupported" && words.size() == 2) {
    finish(ProcessReply::Kind::unsupported);
  } else if (is_marked && words[1] == "error") {
    const std::size_t text = line.find("error") + 5;
    finish(ProcessReply::Kind::error, std::string(line.substr(std::min(text + 1, line.size()))));
  } else if (is_marked && words[1] == "ok" && words.size() == 3 && parse_count(words[2], count_)) {
    if (!accepts_count(count_)) break_off(fmt::format("answered with the wrong count: {}", quote(line)));
    state_ = State::body;
  } else {
    break_off(fmt::format("wrote {} where \"{} ok count=N\" is due", quote(line), mark));
  }
}

std::string TextReader::progress() const {
  if (state_ == State::header) return partial_.empty() ? "before its answer" : "in the first line of its answer";
  return fmt::format("after {} of {} lines of its answer", lines_taken_, count_);
}

TextCaseReader::TextCaseReader(const ProcessQuestion& question)
    : TextReader(most_line_bytes(outputs_of(*question.group))),
      outputs_(outputs_of(*question.group)),
      cases_(question.cases.size()) {
  reply().outputs.resize(outputs_.size());
}

void TextCaseReader::take_body(std::string_view line) {
  for (std::size_t t = 0; t < outputs_.size(); ++t) {
    const bool is_last = t + 1 == outputs_.size();
    const std::size_t end = line.find('|');
    if ((end == std::string_view::npos) != is_last) {
      break_off(fmt::format("wrote line {} with {} | where {} are due", lines_taken(),
                            static_cast<std::size_t>(std::ranges::count(line, '|')) + t, outputs_.size() - 1));
      return;
    }
    const std::string problem = take_words(*outputs_[t], line.substr(0, end), reply().outputs[t]);
    if (!problem.empty()) {
      break_off(fmt::format("wrote line {}, which {}", lines_taken(), problem));
      return;
    }
    line.remove_prefix(is_last ? line.size() : end + 1);
  }
}

TextDescriptionReader::TextDescriptionReader() : TextReader(least_line_bytes) {}

void TextDescriptionReader::take_body(std::string_view line) {
  const std::size_t space = std::min(line.find(' '), line.size());
  const std::string_view key = line.substr(0, space);
  const std::string text(line.substr(std::min(space + 1, line.size())));
  if (key == "name") {
    reply().name = text;
  } else if (key == "version") {
    reply().version = text;
  } else if (key == "description") {
    reply().description = text;
  } else {
    break_off(fmt::format("described itself by {}; name, version and description are known", quote(line)));
  }
}

}  // namespace fp4proof::runners
