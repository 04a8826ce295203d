#pragma once
// The digests as a file: canonical JSON, one entry a line.

#include <cstdint>
#include <map>
#include <string>

#include "formats/result.h"

namespace fp4proof::evidence {

/// Name of an entry -> digest.
using Digests = std::map<std::string, std::uint64_t>;

struct Document {
  Digests by_ci;    ///< what every run of the tests recomputes on the host
  Digests by_hand;  ///< what `gpu_digests_cpu --all` recomputes
};

std::string text_of(const Document& document);

/// Reads what text_of() writes, and nothing else.
Result<Document> read_document(const std::string& path);

}  // namespace fp4proof::evidence
