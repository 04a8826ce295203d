#include "conformance/cli/common_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

namespace fp4proof::cli {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

CLI::Validator decimal_number(bool negative) {
  return CLI::Validator(
      [negative](std::string& text) -> std::string {
        const bool minus = negative && text.starts_with('-');
        const std::string digits = text.substr(minus ? 1 : 0);
        if (digits.empty() || !std::all_of(digits.begin(), digits.end(), is_digit)) {
          return fmt::format("'{}' is no {}", text, negative ? "whole number" : "whole number from 0 up");
        }
        std::uint64_t magnitude = 0;
        const char* end = digits.data() + digits.size();
        if (std::from_chars(digits.data(), end, magnitude).ec != std::errc()) {
          return fmt::format("{} is more than 2^64 - 1", text);
        }
        text = fmt::format("{}{}", minus ? "-" : "", magnitude);  // a leading zero would mean octal
        return {};
      },
      "");
}

CLI::Validator number_between(double low, double high) {
  return CLI::Validator(
      [low, high](std::string& text) -> std::string {
        double number = 0;
        if (CLI::detail::lexical_cast(text, number) && number >= low && number <= high) return {};
        return fmt::format("'{}' is no number from {} to {}", text, low, high);
      },
      "");
}

void add_axis_option(CLI::App& command, int& axis) {
  command.add_option("--axis", axis, "Axis that blocks run along; negative counts from the end (default: -1)")
      ->check(decimal_number(true))
      ->option_text("N");
}

void add_seed_option(CLI::App& command, std::uint64_t& seed) {
  command.add_option("--seed", seed, "Seed of stochastic rounding, 0..2^64-1 (default: 0)")
      ->check(decimal_number(false))
      ->option_text("S");
}

void add_tail_option(CLI::App& command, std::string& tail) {
  command
      .add_option("--tail", tail, fmt::format("An incomplete last block: error, or pad with zeros (default: {})", tail))
      ->check(CLI::IsMember({"error", "pad"}))
      ->option_text("error|pad");
}

portable::Tail tail_of(const std::string& tail) { return tail == "pad" ? portable::Tail::pad : portable::Tail::error; }

CLI::Option* add_list_option(CLI::App& command, const std::string& name, std::vector<std::string>& list,
                             const std::string& description) {
  const auto take = [&list, name](const std::vector<std::string>& texts) {
    list.clear();
    for (const std::string& text : texts) {
      std::vector<std::string> items = CLI::detail::split(text, ',');
      if (text.ends_with(',')) items.emplace_back();  // split() leaves it out
      for (std::string& item : items) {
        if (item.empty()) {
          throw CLI::ValidationError(
              name, fmt::format("'{}' has an empty item; remove a comma or name what is missing", text));
        }
        list.push_back(std::move(item));
      }
    }
  };
  return command.add_option_function<std::vector<std::string>>(name, take, description)->allow_extra_args(false);
}

void add_tensor_option(CLI::App& command, std::vector<std::string>& names) {
  command.add_option("--tensor", names, "Only this tensor (may be repeated)")
      ->option_text("NAME")
      ->allow_extra_args(false);
}

}  // namespace fp4proof::cli
