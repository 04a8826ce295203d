#include "conformance/cli/plugin_info.h"

#include <fmt/format.h>

#include <chrono>
#include <deque>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "conformance/cli/table.h"
#include "conformance/runners/case_source.h"
#include "conformance/runners/plugin_subject.h"
#include "conformance/suite/sets.h"
#include "conformance/suite/shared_rules.h"
#include "conformance/vectors/os_error.h"
#include "conformance/vectors/sha256.h"
#include "formats/spec_profiles.h"

namespace fp4proof::cli {

namespace {

using nlohmann::json;
using runners::SubjectReply;

constexpr std::chrono::seconds time_limit{60};
constexpr std::string_view set_name = "smoke";

/// What is offered of an operation under a profile.
struct Offer {
  suite::Operation operation;
  std::string profile;
  std::vector<std::string> offered;
  std::vector<std::string> unsupported;
};

/// The questions of an operation under a profile, also for the profiles that share them.
struct Questions {
  const Profile* profile;
  std::optional<suite::CaseTable> table;
};

class Survey {
 public:
  explicit Survey(runners::Subject& subject)
      : subject_(subject), source_(runners::CaseSource::named(*suite::find_set(set_name))) {}

  Result<void> run() {
    for (const suite::Operation operation : suite::operations) {
      std::deque<Questions> known;  // tables keep their place
      for (const Profile& profile : profiles()) {
        const Result<const suite::CaseTable*> table = questions(operation, profile, known);
        if (!table) return table.error();
        if (*table != nullptr && problem_.empty()) ask(operation, profile, **table);
      }
    }
    return {};
  }

  const std::vector<Offer>& offers() const { return offers_; }
  const std::string& problem() const { return problem_; }

 private:
  Result<const suite::CaseTable*> questions(suite::Operation operation, const Profile& profile,
                                            std::deque<Questions>& known) {
    for (const Questions& questions : known) {
      if (suite::same_rule(operation, *questions.profile, profile))
        return questions.table ? &*questions.table : nullptr;
    }
    Result<std::optional<suite::CaseTable>> table =
        source_.questions(operation, SharedProfile(SharedProfile(), &profile));
    if (!table) return table.error();
    known.push_back({&profile, *std::move(table)});
    return known.back().table ? &*known.back().table : nullptr;
  }

  void ask(suite::Operation operation, const Profile& profile, const suite::CaseTable& table) {
    Offer offer{operation, std::string(profile.name), {}, {}};
    for (const suite::CaseGroup& group : table.groups) {
      if (!suite::group_tensors(operation, profile, group.spec).ok()) continue;
      const SubjectReply reply = subject_.supports(operation, profile, group);
      if (reply.kind == SubjectReply::Kind::ok) {
        offer.offered.push_back(suite::group_name(group.spec));
      } else if (reply.kind == SubjectReply::Kind::unsupported) {
        offer.unsupported.push_back(suite::group_name(group.spec));
      } else {
        problem_ = fmt::format("{} {} {}: {}", suite::name_of(operation), profile.name, suite::group_name(group.spec),
                               reply.why);
        return;
      }
    }
    if (!offer.offered.empty()) offers_.push_back(std::move(offer));
  }

  runners::Subject& subject_;
  runners::CaseSource source_;
  std::vector<Offer> offers_;
  std::string problem_;
};

std::string offers_text(const std::vector<Offer>& offers) {
  if (offers.empty()) return fmt::format("It offers nothing of the set {}.\n", set_name);
  Table table("llr");
  table.add({"operation", "profile", "groups"});
  for (const Offer& offer : offers) {
    const std::size_t asked = offer.offered.size() + offer.unsupported.size();
    table.add({std::string(suite::name_of(offer.operation)), offer.profile,
               fmt::format("{} of {}", offer.offered.size(), asked)});
  }
  return fmt::format("Offered, by groups of the set {} (--json names them):\n\n{}", set_name, table.text());
}

json offers_json(const std::vector<Offer>& offers) {
  json list = json::array();
  for (const Offer& offer : offers) {
    list.push_back({{"operation", suite::name_of(offer.operation)},
                    {"profile", offer.profile},
                    {"offered_groups", offer.offered},
                    {"unsupported_groups", offer.unsupported}});
  }
  return list;
}

/// A plug-in's text, fit for one line of a terminal.
std::string plain(const std::string& text) {
  const std::string quoted = quote(text);
  return quoted.substr(1, quoted.size() - 2);
}

ExitCode fail(Session& session, const std::string& problem) {
  session.complain({ErrorKind::internal, fmt::format("the plug-in {}", problem)});
  return ExitCode::plugin_failed;
}

}  // namespace

Result<ExitCode> show_plugin(const std::string& path, bool as_json, Session& session) {
  const Result<FileDigest> digest = sha256_of_file(path);
  if (!digest) return digest.error();
  runners::PluginSubject subject(path, time_limit);
  if (const SubjectReply opened = subject.open(); opened.kind != SubjectReply::Kind::ok) {
    return fail(session, opened.why);
  }
  const runners::BackendDescription about = subject.description();
  Survey survey(subject);
  if (const Result<void> done = survey.run(); !done) return done.error();
  if (!survey.problem().empty()) return fail(session, "failed at " + survey.problem());
  if (const runners::SessionEnd end = subject.close(); !end.problem.empty()) {
    return fail(session, "did not close in order: it " + end.problem);
  }
  const std::string hex = to_hex(digest->digest);
  if (as_json) {
    session.print_json({{"kind", "plugin"},
                        {"bytes", digest->bytes},
                        {"sha256", hex},
                        {"name", about.name},
                        {"version", about.version},
                        {"description", about.description},
                        {"abi_version", about.abi_version},
                        {"set", set_name},
                        {"offers", offers_json(survey.offers())}});
    return ExitCode::conformant;
  }
  session.print(
      fmt::format("{}: plug-in, ABI version {}, {} bytes\nsha256 {}\nname {}\nversion {}\ndescription {}\n\n{}",
                  quote_path(path), about.abi_version, digest->bytes, hex, plain(about.name), plain(about.version),
                  plain(about.description), offers_text(survey.offers())));
  return ExitCode::conformant;
}

}  // namespace fp4proof::cli
