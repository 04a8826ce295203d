#pragma once
// run.json: what the run in a folder is.

#include <filesystem>
#include <string>

#include "conformance/cli/train_options.h"
#include "conformance/training_backend.h"
#include "formats/spec_plans.h"

namespace fp4proof::cli {

struct LibraryFacts {
  std::string path;    ///< absolute; `reference` where it is no library
  std::string sha256;  ///< empty for the reference
};

struct RunFacts {
  const TrainOptions& options;
  const std::string& warm_start;  ///< file that it begins from; empty: its own
  const training::Config& config;
  const PrecisionPlan& plan;
  const fp4proof_training& backend;
  const LibraryFacts& library;
};

/// The library of --backend: where it is, and the SHA-256 of its file. Errors: of reading it.
Result<LibraryFacts> library_facts(const std::string& backend);

/// `usage` error where the folder's run.json is that of another configuration, plan or backend, `corrupt` where it is
/// no run.json. A library that moved is still the same backend, and one that was built anew is another.
Result<void> check_facts(const std::filesystem::path& folder, const RunFacts& facts);

/// Writes run.json; keeps one that is there where the run goes on.
Result<void> write_facts(const std::filesystem::path& folder, const RunFacts& facts, bool goes_on);

}  // namespace fp4proof::cli
