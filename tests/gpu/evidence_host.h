#pragma once
// Entries of the evidence, computed by the CPU reference.

#include <cstdint>

#include "tests/gpu/evidence_entries.h"

namespace fp4proof::evidence {

/// The digest of what the reference gives for an entry. A refusal of the reference ends the program: entries are sound.
std::uint64_t host_digest(const QuantizeEntry& entry);
std::uint64_t host_digest(const DequantizeEntry& entry);
std::uint64_t host_digest(const GemmEntry& entry);
std::uint64_t host_digest(const CorrectEntry& entry);
std::uint64_t host_digest(const DecomposeEntry& entry);
std::uint64_t host_digest(const SweepEntry& entry);

}  // namespace fp4proof::evidence
