#include "conformance/vectors/sha256.h"

#include <openssl/evp.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <vector>

#include "conformance/vectors/file_descriptor.h"
#include "conformance/vectors/os_error.h"

namespace fp4proof {
namespace {

constexpr std::size_t chunk_bytes = std::size_t{1} << 20;

Error library_refusal() {
  return {ErrorKind::internal, "the OpenSSL library refuses to compute SHA-256; check its installation"};
}

const EVP_MD* algorithm() {
  // Fetched once: a fetch per digest costs more than hashing a short message.
  static const std::unique_ptr<EVP_MD, decltype(&EVP_MD_free)> fetched(EVP_MD_fetch(nullptr, "SHA256", nullptr),
                                                                       &EVP_MD_free);
  return fetched.get();
}

class Hasher {
 public:
  Hasher() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
    sound_ = context_ && algorithm() && EVP_DigestInit_ex2(context_.get(), algorithm(), nullptr) == 1;
  }

  void update(Bytes bytes) { sound_ = sound_ && EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1; }

  Result<Sha256Digest> finish() {
    Sha256Digest digest{};
    sound_ = sound_ && EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr) == 1;
    if (!sound_) return library_refusal();
    return digest;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
  bool sound_ = false;
};

}  // namespace

Result<Sha256Digest> sha256(Bytes bytes) {
  Hasher hasher;
  hasher.update(bytes);
  return hasher.finish();
}

Result<FileDigest> sha256_of_file(const std::filesystem::path& path) {
  Result<OpenedFile> file = open_regular_file(path);
  if (!file) return file.error();
  Hasher hasher;
  std::uint64_t total = 0;
  std::vector<std::uint8_t> chunk(chunk_bytes);
  while (true) {
    const ssize_t got = ::read(file->descriptor.number(), chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return os_error("read", path, errno);
    if (got == 0) break;
    hasher.update(Bytes(chunk.data(), static_cast<std::size_t>(got)));
    total += static_cast<std::uint64_t>(got);
  }
  Result<Sha256Digest> digest = hasher.finish();
  if (!digest) return digest.error();
  return FileDigest{*digest, total};
}

std::string to_hex(const Sha256Digest& digest) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : digest) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

}  // namespace fp4proof
