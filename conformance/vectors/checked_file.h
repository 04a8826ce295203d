#pragma once
// Reading a file of a set so that what is used is what was checked.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "conformance/vectors/manifest.h"
#include "formats/result.h"

namespace fp4proof {

/// Reads a file of the manifest whole and checks size and digest of what was read, so that later changes of the file,
/// even by a program that runs beside this one, reach nobody. `corrupt` error where it differs or the manifest does not
/// name it.
Result<std::vector<std::uint8_t>> read_checked_file(const std::filesystem::path& folder, const Manifest& manifest,
                                                    const std::string& name);

}  // namespace fp4proof
