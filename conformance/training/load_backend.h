#pragma once
// From what a user writes after --backend to the operators of a backend.

#include <memory>
#include <string>

#include "conformance/training_backend.h"
#include "formats/result.h"

namespace fp4proof::training {

/// An open backend: closed with the last copy.
using SharedBackend = std::shared_ptr<const fp4proof_training>;

/// `reference`; or the path of a library that exports fp4proof_open_training(), or fp4proof_open_backend() alone: then
/// the reference does all but quantization and products (mixed_training.h). Errors: `usage` for a library that
/// cannot be loaded or does not offer the interface, `unsupported` for one that cannot work on this machine, `backend`
/// for one that changes rounding or subnormal numbers of this process.
Result<SharedBackend> load_backend(const std::string& name_or_path);

}  // namespace fp4proof::training
