#include "conformance/cli/check_run.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "conformance/cli/check_run_paths.h"
#include "conformance/cli/progress.h"
#include "conformance/vectors/atomic_file.h"
#include "conformance/vectors/os_error.h"
#include "conformance/vectors/sha256.h"
#include "conformance/verdict/document_check.h"
#include "conformance/verdict/judge.h"
#include "conformance/verdict/merge.h"
#include "conformance/verdict/subject_word.h"

namespace fp4proof::cli {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

std::string json_text(const json& document) {
  return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string full_text(const json& document) { return verdict::report_text(document) + verdict::totals_line(document); }

Result<void> write_reports(const CheckOptions& options, const json& document) {
  if (!options.json.empty() && !options.json_is_output()) {
    const Result<void> written = write_file(options.json, bytes_of(json_text(document)));
    if (!written) return written;
  }
  for (const std::string& option : options.reports) {
    const Result<ReportFile> file = report_file_of(option);
    if (!file) return file.error();
    const std::string text = file->format == nullptr ? full_text(document) : file->format->write(document);
    if (const Result<void> written = write_file(file->path, bytes_of(text)); !written) return written;
  }
  return {};
}

std::uint64_t cases_asked(const json& document) {
  const json& tally = document["tally"];
  return tally["passed"].get<std::uint64_t>() + tally["failed"].get<std::uint64_t>();
}

/// A verdict speaks of the library whose digest it names.
Result<void> check_unchanged(const verdict::SubjectFacts& facts) {
  if (facts.kind != "plugin") return {};
  const auto now = sha256_of_file(facts.path);
  if (!now) return now.error();
  if (to_hex(now->digest) == facts.sha256) return {};
  return Error{ErrorKind::usage, fmt::format("the library {} changed while it was asked; run again, once it is built",
                                             quote(facts.path))};
}

Result<json> check_once(verdict::CheckRequest& request) {
  std::optional<Progress> progress;
  request.progress = [&](std::size_t total) {
    if (!progress) progress.emplace("verifying", total);
    progress->advance(1);
  };
  Result<verdict::CheckOutcome> outcome = verdict::check(request);
  progress.reset();
  if (!outcome) return outcome.error();
  if (const Result<void> same = check_unchanged(request.facts); !same) return same.error();
  return std::move(outcome->document);
}

/// What --shard asks for: one shard, or every one of several.
struct WantedShards {
  suite::Shard shard;
  bool all = false;
};

Result<WantedShards> wanted_shards(const CheckOptions& options) {
  constexpr std::string_view every = "all/";
  const std::string& words = options.shard;
  const bool all = words.starts_with(every);
  const std::optional<suite::Shard> shard = suite::parse_shard(all ? "1/" + words.substr(every.size()) : words);
  if (!shard || (all && options.resume.empty())) {
    return Error{
        ErrorKind::usage,
        fmt::format("--shard {}: must be I/N with 1 <= I <= N, for example 2/8, or all/N with --resume", words)};
  }
  return WantedShards{*shard, all};
}

/// What no digest of the subject covers, which may have changed since; empty where there is nothing.
std::string unseen_part(const std::string& kind) {
  if (kind == "files" || kind == "reference") return {};
  const std::string word(verdict::word_of_subject(kind));
  return fmt::format(
      " and taken over: the {} has the same digest, but what else it loads (libraries, modules, data, "
      "a device) was not looked at; remove the folder when that has changed",
      word);
}

/// The report of a shard out of the folder, or a fresh one, which is then put there.
Result<json> resumed_shard(const CheckOptions& options, verdict::CheckRequest& request, Session& session) {
  const std::string name = fmt::format("shard-{}-of-{}.json", request.shard.index, request.shard.count);
  const fs::path path = fs::path(options.resume) / name;
  std::error_code ignored;
  if (fs::exists(path, ignored)) {
    Result<verdict::ShardDocument> known = verdict::read_report(path.string());
    if (!known) return known.error();
    if (!verdict::is_report_of(known->document, request)) {
      return Error{ErrorKind::usage, fmt::format("{} is the report of another run; remove it, or name another folder "
                                                 "with --resume",
                                                 known->label)};
    }
    const Result<void> checked = verdict::check_document(known->document, known->label);
    if (!checked) return checked.error();
    session.note(fmt::format("{} is there already{}", known->label, unseen_part(request.facts.kind)));
    return std::move(known->document);
  }
  Result<json> document = check_once(request);
  if (!document) return document;
  if (const Result<void> written = write_file(path, bytes_of(json_text(*document))); !written) return written.error();
  return document;
}

Result<json> resumed_run(const CheckOptions& options, const WantedShards& wanted, verdict::CheckRequest& request,
                         Session& session) {
  std::error_code failure;
  fs::create_directories(options.resume, failure);
  if (failure) return os_error("make", options.resume, failure.value());
  request.shard = wanted.shard;
  if (!wanted.all) return resumed_shard(options, request, session);
  std::vector<verdict::ShardDocument> shards;
  for (request.shard.index = 1; request.shard.index <= wanted.shard.count; ++request.shard.index) {
    Result<json> document = resumed_shard(options, request, session);
    if (!document) return document;
    shards.push_back({fmt::format("shard {}", request.shard.index), std::move(*document)});
  }
  return verdict::merge_shards(std::move(shards));
}

Result<json> document_of(const CheckOptions& options, verdict::CheckRequest& request, Session& session) {
  const Result<WantedShards> wanted = wanted_shards(options);
  if (!wanted) return wanted.error();
  if (!options.resume.empty()) return resumed_run(options, *wanted, request, session);
  request.shard = wanted->shard;
  return check_once(request);
}

}  // namespace

Result<ExitCode> conclude_check(const CheckOptions& options, const json& document, Session& session) {
  const verdict::Judgement judgement = verdict::judge(document);
  for (const std::string& warning : verdict::warnings(document)) session.note(warning);
  for (const verdict::Reason& reason : judgement.reasons)
    if (reason.code != ExitCode::mismatch) session.complain({ErrorKind::internal, reason.text});
  if (const Result<void> written = write_reports(options, document); !written) return written.error();
  if (options.json_is_output()) {
    session.print_json(document);
  } else {
    session.print(full_text(document));
  }
  return judgement.code;
}

Result<ExitCode> run_check(const CheckOptions& options, verdict::CheckRequest request, Session& session) {
  const Clock::time_point start = Clock::now();
  const Result<json> document = document_of(options, request, session);
  if (!document) return document.error();
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  Result<ExitCode> code = conclude_check(options, *document, session);
  if (code && options.timing) {
    const std::uint64_t cases = cases_asked(*document);
    session.note(fmt::format("{} cases in {:.2f} s: {:.0f} cases a second", cases, seconds,
                             static_cast<double>(cases) / seconds));
  }
  return code;
}

}  // namespace fp4proof::cli
