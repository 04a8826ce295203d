#include "conformance/cli/usage_error.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "conformance/profiles/nearest_name.h"
#include "conformance/vectors/os_error.h"

namespace fp4proof::cli {

namespace {

std::vector<std::string> verb_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(verb->get_name());
  }
  return names;
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string help_of(const CLI::App* verb) {
  return verb != nullptr ? fmt::format("see 'fp4proof {} --help'", verb->get_name()) : "see 'fp4proof --help'";
}

std::string unknown_words(const CLI::App& app, const CLI::App* verb) {
  const CLI::App& command = verb != nullptr ? *verb : app;
  const std::vector<std::string> words = command.remaining();
  if (words.empty()) return {};
  const std::string& word = words.front();
  if (word.size() > 1 && word.front() == '-') {
    const std::string name = word.substr(0, word.find('='));
    return fmt::format("unknown option {}{}; {}", quote(name), did_you_mean(name, option_names(command)),
                       help_of(verb));
  }
  if (verb == nullptr) {
    return fmt::format("unknown verb {}{}; {}", quote(word), did_you_mean(word, verb_names(app)), help_of(verb));
  }
  return fmt::format("{}: unexpected argument {}; {}", verb->get_name(), quote(word), help_of(verb));
}

/// The parser says "NAME: At Most 1 required but received 2".
std::string repeated_option(const CLI::ParseError& problem) {
  const std::string text = problem.what();
  const std::size_t end = text.find(": At Most 1 required");
  return end == std::string::npos ? std::string() : text.substr(0, end);
}

}  // namespace

Error usage_error(const CLI::App& app, const CLI::ParseError& problem) {
  const std::vector<CLI::App*> chosen = const_cast<CLI::App&>(app).get_subcommands();
  const CLI::App* verb = chosen.empty() ? nullptr : chosen.front();
  std::string text = unknown_words(app, verb);
  const std::string prefix = verb != nullptr ? verb->get_name() + ": " : "";
  if (text.empty()) {
    const std::string option = repeated_option(problem);
    text = option.empty() ? fmt::format("{}{}; {}", prefix, problem.what(), help_of(verb))
                          : fmt::format("{}{} is given more than once; keep one; {}", prefix, option, help_of(verb));
  }
  return {ErrorKind::usage, text};
}

}  // namespace fp4proof::cli
