#include "crossilo/data/npz.h"

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"
#include "crossilo/data/npy.h"
#include "crossilo/data/zip.h"

namespace crossilo {
namespace {

constexpr std::string_view kSuffix = ".npy";

// "vectors" for the member vectors.npy; "" for one that is no array.
std::string ArrayName(const ZipMember& member) {
  if (!member.name.ends_with(kSuffix)) return "";
  return member.name.substr(0, member.name.size() - kSuffix.size());
}

// As ReadArray takes it.
std::string Origin(const std::filesystem::path& path, const std::string& name) {
  return path.string() + ":" + name;
}

}  // namespace

std::map<std::string, Array> ReadNpz(const std::filesystem::path& path) {
  const auto file = std::make_shared<const MappedFile>(path);
  std::map<std::string, Array> arrays;
  for (const ZipMember& member : ListZip(file->bytes(), path.string())) {
    const std::string name = ArrayName(member);
    if (name.empty()) continue;
    auto unpacked = std::make_shared<std::vector<std::byte>>();
    const auto bytes = ZipContent(member, *unpacked, path.string());
    if (!IsNumericNpy(bytes, Origin(path, name))) continue;
    std::shared_ptr<const void> owner = file;
    if (member.deflated) owner = unpacked;
    arrays[name] = DecodeNpy(bytes, std::move(owner), Origin(path, name));
  }
  return arrays;
}

std::vector<std::string> ReadNpzStrings(const std::filesystem::path& path,
                                        const std::string& wanted) {
  const MappedFile file(path);
  std::vector<std::string> names;
  for (const ZipMember& member : ListZip(file.bytes(), path.string())) {
    const std::string name = ArrayName(member);
    if (name == wanted) {
      std::vector<std::byte> unpacked;
      return DecodeNpyStrings(ZipContent(member, unpacked, path.string()), Origin(path, name));
    }
    if (!name.empty()) names.push_back(name);
  }
  throw Error("{}: has no array '{}'; it has {}", path.string(), wanted, fmt::join(names, ", "));
}

}  // namespace crossilo
