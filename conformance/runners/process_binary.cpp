#include "conformance/runners/process_binary.h"

#include <fmt/format.h>

#include <algorithm>

#include "conformance/profiles/profile_json.h"
#include "conformance/runners/message.h"
#include "conformance/vectors/os_error.h"
#include "conformance/vectors/strict_json.h"

namespace fp4proof::runners {

namespace {

using nlohmann::json;

constexpr std::size_t length_bytes = 4;
constexpr std::size_t deepest_header = 8;
constexpr const char* format_name = "fp4proof/1";

std::string framed(const json& header) {
  const std::string text = header.dump(-1, ' ', true, json::error_handler_t::replace);
  std::string frame;
  for (std::size_t b = 0; b < length_bytes; ++b) frame += static_cast<char>(text.size() >> (8 * b) & 0xFFU);
  return frame + text;
}

json tensor_list(const std::vector<const suite::CaseTensor*>& tensors) {
  json list = json::array();
  for (const suite::CaseTensor* tensor : tensors)
    list.push_back({{"name", tensor->name}, {"dtype", element_name(*tensor)}, {"shape", tensor->case_shape}});
  return list;
}

std::size_t bytes_of_cases(const std::vector<const suite::CaseTensor*>& tensors, std::size_t cases) {
  std::size_t bytes = 0;
  for (const suite::CaseTensor* tensor : tensors) bytes += cases * tensor->case_bytes();
  return bytes;
}

std::size_t length_of(std::string_view frame) {
  std::size_t length = 0;
  for (std::size_t b = 0; b < length_bytes; ++b) length |= std::size_t{static_cast<unsigned char>(frame[b])} << (8 * b);
  return length;
}

bool has_number(const json& header, const char* key, std::size_t number) {
  return header.contains(key) && header[key].is_number_unsigned() && header[key] == number;
}

}  // namespace

std::string binary_describe() {
  return framed({{"format", format_name}, {"op", "describe"}, {"count", 0}, {"bytes", 0}});
}

std::string binary_question(const ProcessQuestion& question) {
  const suite::GroupSpec& spec = question.group->spec;
  const std::vector<const suite::CaseTensor*> inputs = inputs_of(*question.group);
  std::string frame = framed({{"format", format_name},
                              {"op", suite::name_of(question.operation)},
                              {"profile", question.profile->name},
                              {"profile_fields", profile_to_json(*question.profile)},
                              {"rows", spec.rows},
                              {"columns", spec.columns},
                              {"other_rows", spec.other_rows},
                              {"axis", spec.axis},
                              {"tail", spec.tail == portable::Tail::pad ? "pad" : "error"},
                              {"accumulator", spec.accumulator},
                              {"correction", spec.correction},
                              {"count", question.cases.size()},
                              {"inputs", tensor_list(inputs)},
                              {"outputs", tensor_list(outputs_of(*question.group))},
                              {"bytes", bytes_of_cases(inputs, question.cases.size())}});
  for (const suite::CaseTensor* tensor : inputs) {
    for (const std::size_t index : question.cases) {
      const Bytes bytes = tensor->of_case(index);
      frame.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
  }
  return frame;
}

BinaryReader::BinaryReader(const ProcessQuestion& question)
    : outputs_(outputs_of(*question.group)), cases_(question.cases.size()), describes_(false) {
  reply().outputs.resize(outputs_.size());
}

void BinaryReader::take(std::string_view bytes) {
  if (is_done() && reply().kind == ProcessReply::Kind::broken) return;
  buffer_ += bytes;
  if (!is_done() && !body_bytes_) take_header();
  if (!is_done() && body_bytes_ && buffer_.size() >= *body_bytes_) take_body();
  if (is_done() && reply().kind != ProcessReply::Kind::broken && !buffer_.empty()) {
    break_off(fmt::format("wrote {} bytes behind its answer", buffer_.size()));
  }
}

void BinaryReader::take_header() {
  if (buffer_.size() < length_bytes) return;
  const std::size_t length = length_of(buffer_);
  if (length > most_header_bytes) {
    break_off(fmt::format("announced a header of {} bytes; {} is the most (as text, those four bytes are {})", length,
                          most_header_bytes, quote(buffer_.substr(0, length_bytes))));
    return;
  }
  if (buffer_.size() < length_bytes + length) return;
  const std::string text = buffer_.substr(length_bytes, length);
  buffer_.erase(0, length_bytes + length);
  const Result<json> parsed = parse_strict_json(text, "the header", deepest_header);
  const json header = parsed ? *parsed : json();
  if (!header.is_object() || text_field(header, "format") != format_name) {
    break_off(fmt::format("wrote the header {}, no JSON object with \"format\": \"{}\"{}", quote(text), format_name,
                          parsed ? "" : ": " + parsed.error().message));
    return;
  }
  const std::string status = text_field(header, "status");
  const std::size_t due = bytes_of_cases(outputs_, cases_);
  if (status == "unsupported") {
    finish(ProcessReply::Kind::unsupported);
  } else if (status == "error") {
    finish(ProcessReply::Kind::error, text_field(header, "error"));
  } else if (status != "ok") {
    break_off(fmt::format("wrote the header {} without a known status", quote(text)));
  } else if (describes_) {
    reply().name = text_field(header, "name");
    reply().version = text_field(header, "version");
    reply().description = text_field(header, "description");
    finish(ProcessReply::Kind::ok);
  } else if (!has_number(header, "count", cases_) || !has_number(header, "bytes", due)) {
    break_off(fmt::format("wrote the header {} where count {} and bytes {} are due", quote(text), cases_, due));
  } else {
    body_bytes_ = due;
  }
}

void BinaryReader::take_body() {
  std::size_t offset = 0;
  for (std::size_t t = 0; t < outputs_.size(); ++t) {
    const std::size_t bytes = cases_ * outputs_[t]->case_bytes();
    const auto begin = buffer_.begin() + static_cast<std::ptrdiff_t>(offset);
    reply().outputs[t].assign(begin, begin + static_cast<std::ptrdiff_t>(bytes));
    offset += bytes;
  }
  buffer_.erase(0, offset);
  finish(ProcessReply::Kind::ok);
}

std::string BinaryReader::progress() const {
  if (body_bytes_) return fmt::format("after {} of {} bytes of its answer", buffer_.size(), *body_bytes_);
  return buffer_.empty() ? "before its answer" : "in the header of its answer";
}

}  // namespace fp4proof::runners
