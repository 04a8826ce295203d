#pragma once
// SHA-256 (FIPS 180-4), by OpenSSL.

#include <array>
#include <filesystem>
#include <string>

#include "conformance/vectors/bytes.h"
#include "formats/result.h"

namespace fp4proof {

/// The 32 bytes of a digest, in the order of the standard.
using Sha256Digest = std::array<std::uint8_t, 32>;

/// Digest of `bytes`. `internal` error when the cryptographic library refuses.
Result<Sha256Digest> sha256(Bytes bytes);

/// A file's digest and the number of bytes that went into it.
struct FileDigest {
  Sha256Digest digest{};
  std::uint64_t bytes = 0;
};

/// Digest of the whole regular file `path`, read in chunks of 1 MiB: any size, constant memory.
Result<FileDigest> sha256_of_file(const std::filesystem::path& path);

/// The digest as 64 lower-case hexadecimal digits.
std::string to_hex(const Sha256Digest& digest);

}  // namespace fp4proof
