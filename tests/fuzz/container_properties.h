#pragma once
// What must hold for any bytes given to the readers of the container. Shared by the fuzzers and the corpus test.

#include <string>

#include "conformance/vectors/bytes.h"

namespace fp4proof::fuzz {

/// What became of one input.
struct Outcome {
  bool accepted = false;
  std::string broken;  ///< the promise that does not hold; empty when all do
};

/// An accepted safetensors file gives every tensor's bytes, and written again by its own description it reads back
/// equal, in a form that no further rewriting changes. A refused one gives a `corrupt` error in printable text.
Outcome check_safetensors(Bytes file);

/// The same promises for a manifest.
Outcome check_manifest(Bytes text);

}  // namespace fp4proof::fuzz
