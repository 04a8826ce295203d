// A user of fp4proof::conformance: the digest of the vector files, and an error as a value.
#include <cstdio>

#include "conformance/vectors/manifest.h"
#include "conformance/vectors/sha256.h"

int main() {
  const fp4proof::Result<fp4proof::Sha256Digest> digest = fp4proof::sha256({});
  if (!digest || fp4proof::to_hex(*digest) != "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855") {
    std::puts("conformance: SHA-256 of nothing is wrong");
    return 1;
  }
  const fp4proof::Result<fp4proof::Manifest> manifest = fp4proof::parse_manifest("{}", "example");
  if (manifest || manifest.error().kind != fp4proof::ErrorKind::corrupt) {
    std::puts("conformance: an empty manifest was accepted");
    return 1;
  }
  std::puts("conformance: ok");
}
