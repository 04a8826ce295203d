#pragma once
// Entries of the evidence, computed by the CUDA path. Inputs are made on the device, and digests are taken there.

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

#include "gpu/status.h"
#include "tests/gpu/evidence_entries.h"

namespace fp4proof::evidence {

std::uint64_t device_digest(const QuantizeEntry& entry);
std::uint64_t device_digest(const DequantizeEntry& entry);
std::uint64_t device_digest(const GemmEntry& entry);
std::uint64_t device_digest(const CorrectEntry& entry);
std::uint64_t device_digest(const DecomposeEntry& entry);
std::uint64_t device_digest(const SweepEntry& entry);

/// What device_digest() gives, of an input that is aligned to an element alone, which fast roads do not take.
std::uint64_t device_digest_of_moved_input(const QuantizeEntry& entry);

/// The digest of a quantization that is asked for in slices of `rows` rows, each by a launch of its own on addresses
/// that are aligned to an element alone: what device_digest() gives, whatever the slices. Only for entries along axis 1
/// in row-major layout that draw no random words and have no tensor scale, with `rows` a multiple of the tile.
std::uint64_t device_digest_in_slices(const QuantizeEntry& entry, std::int64_t rows);
bool can_be_sliced(const QuantizeEntry& entry);

}  // namespace fp4proof::evidence
