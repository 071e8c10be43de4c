#include "crossilo/base/digest.h"

#include <openssl/sha.h>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"

namespace crossilo {

std::string Sha256(std::string_view bytes) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest);
  std::string hex;
  for (unsigned char byte : digest) hex += fmt::format("{:02x}", byte);
  return hex;
}

std::string Sha256OfFile(const std::filesystem::path& path) {
  const MappedFile file(path);
  const auto bytes = file.bytes();
  return Sha256({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace crossilo
