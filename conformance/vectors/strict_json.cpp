#include "conformance/vectors/strict_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "conformance/vectors/os_error.h"

namespace fp4proof {
namespace {

using nlohmann::json;

// An overflowing number is quoted whole by the parser, however long it is.
constexpr std::size_t longest_problem = 200;

/// Receives the parser's events and builds the document; returning false stops the parser.
class StrictBuilder : public nlohmann::json_sax<json> {
 public:
  explicit StrictBuilder(std::size_t deepest) : deepest_(deepest) {}

  bool null() override { return add(nullptr) != nullptr; }
  bool boolean(bool value) override { return add(value) != nullptr; }
  bool number_integer(number_integer_t value) override { return add(value) != nullptr; }
  bool number_unsigned(number_unsigned_t value) override { return add(value) != nullptr; }
  bool number_float(number_float_t value, const string_t&) override { return add(value) != nullptr; }
  bool string(string_t& value) override { return add(std::move(value)) != nullptr; }
  bool binary(binary_t&) override { return refuse("binary value"); }
  bool start_object(std::size_t) override { return open(json::object()); }
  bool start_array(std::size_t) override { return open(json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    if (open_.back()->contains(name)) return refuse(fmt::format("the key {} stands twice in one object", quote(name)));
    key_ = std::move(name);
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const json::exception& exception) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: ...; last read: 'RAW TEXT'; expected ..."
    const std::string_view text = exception.what();
    const std::size_t begin = text.find("] ") + 2;
    const std::size_t length = std::min(text.find("; last read") - begin, longest_problem);
    return refuse(std::string(text.substr(begin, length)));
  }

  const std::string& problem() const { return problem_; }
  json take() { return std::move(document_); }

 private:
  json* add(json value) {
    if (open_.empty()) return &(document_ = std::move(value));
    json& parent = *open_.back();
    if (parent.is_object()) return &(parent[std::move(key_)] = std::move(value));
    parent.push_back(std::move(value));
    return &parent.back();
  }

  bool open(json container) {
    if (open_.size() == deepest_) return refuse(fmt::format("it is nested deeper than {} levels", deepest_));
    open_.push_back(add(std::move(container)));
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  bool refuse(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }

  std::size_t deepest_;
  json document_;
  std::vector<json*> open_;  // the containers around the current place, outermost first
  std::string key_;
  std::string problem_;
};

}  // namespace

Result<json> parse_strict_json(std::string_view text, std::string_view label, std::size_t deepest) {
  const auto corrupt = [label](std::string_view problem) {
    return Error{ErrorKind::corrupt, fmt::format("{} is not acceptable JSON: {}", label, problem)};
  };
  // The parser would skip a byte order mark and take NUL for the end of the text.
  if (text.starts_with("\xEF\xBB\xBF")) return corrupt("it starts with a byte order mark; remove it");
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
    return corrupt(fmt::format("byte {}: NUL", nul + 1));
  }
  StrictBuilder builder(deepest);
  if (!json::sax_parse(text.begin(), text.end(), &builder)) return corrupt(builder.problem());
  return builder.take();
}

}  // namespace fp4proof
