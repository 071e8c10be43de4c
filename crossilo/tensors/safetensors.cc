#include "crossilo/tensors/safetensors.h"

#include <cstring>
#include <nlohmann/json.hpp>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"

namespace crossilo {
namespace {

using nlohmann::json;

const std::map<std::string, torch::ScalarType>& TypesByName() {
  static const std::map<std::string, torch::ScalarType> types = {
      {"F64", torch::kDouble}, {"F32", torch::kFloat}, {"F16", torch::kHalf},
      {"I64", torch::kLong},   {"I32", torch::kInt},   {"I16", torch::kShort},
      {"I8", torch::kChar},    {"U8", torch::kByte},   {"BOOL", torch::kBool}};
  return types;
}

std::string NameOf(torch::ScalarType type) {
  for (const auto& [name, known] : TypesByName()) {
    if (known == type) return name;
  }
  throw Error("cannot store a tensor of type {}", torch::toString(type));
}

std::string Header(const TensorFile& file) {
  json header = json::object();
  if (!file.metadata.empty()) header["__metadata__"] = file.metadata;
  int64_t offset = 0;
  for (const auto& [name, tensor] : file.tensors) {
    const int64_t end = offset + tensor.numel() * static_cast<int64_t>(tensor.element_size());
    header[name] = {{"dtype", NameOf(tensor.scalar_type())},
                    {"shape", tensor.sizes().vec()},
                    {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');  // the data start 8-aligned
  return text;
}

void Encode(const TensorFile& file, const Put& put) {
  const std::string header = Header(file);
  const uint64_t size = header.size();
  char prefix[8];
  for (int i = 0; i < 8; ++i) prefix[i] = static_cast<char>(size >> (8 * i));  // little-endian
  put({prefix, 8});
  put(header);
  for (const auto& [name, tensor] : file.tensors) {
    const torch::Tensor flat = tensor.detach().to(torch::kCPU).contiguous();
    put({static_cast<const char*>(flat.data_ptr()), flat.nbytes()});
  }
}

// One tensor described by `entry`, from `data`, every bound checked.
torch::Tensor DecodeOne(const json& entry, std::string_view data) {
  const auto type = TypesByName().find(entry.at("dtype").get<std::string>());
  if (type == TypesByName().end()) throw Error("unknown dtype {}", entry.at("dtype").dump());
  const auto shape = entry.at("shape").get<std::vector<int64_t>>();
  const auto offsets = entry.at("data_offsets").get<std::vector<uint64_t>>();
  if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > data.size()) {
    throw Error("offsets outside the file");
  }
  const uint64_t bytes = offsets[1] - offsets[0];
  uint64_t elements = 1;
  for (int64_t extent : shape) {
    // Within these bounds the product cannot overflow 64 bits.
    if (extent < 0 || (extent > 0 && elements > bytes / static_cast<uint64_t>(extent) + 1)) {
      throw Error("shape {} does not fit its bytes", entry.at("shape").dump());
    }
    elements *= static_cast<uint64_t>(extent);
  }
  if (elements * torch::elementSize(type->second) != bytes) {
    throw Error("shape {} does not fit its bytes", entry.at("shape").dump());
  }
  torch::Tensor tensor = torch::empty(shape, type->second);
  if (bytes > 0) std::memcpy(tensor.data_ptr(), data.data() + offsets[0], bytes);
  return tensor;
}

}  // namespace

std::string EncodeTensors(const TensorFile& file) {
  std::string out;
  Encode(file, [&](std::string_view bytes) { out += bytes; });
  return out;
}

void WriteTensors(const std::filesystem::path& path, const TensorFile& file) {
  WriteFile(path, [&](const Put& put) { Encode(file, put); });
}

TensorFile DecodeTensors(std::string_view bytes, const std::string& origin) {
  TensorFile file;
  try {
    if (bytes.size() < 8) throw Error("shorter than its header");
    uint64_t size = 0;
    for (int i = 0; i < 8; ++i) size |= uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    if (size > bytes.size() - 8) throw Error("header of {} bytes is longer than the file", size);
    const json header = json::parse(bytes.substr(8, size));
    if (!header.is_object()) throw Error("header is not an object");
    for (const auto& [name, entry] : header.items()) {
      if (name == "__metadata__") {
        file.metadata = entry.get<std::map<std::string, std::string>>();
      } else {
        file.tensors[name] = DecodeOne(entry, bytes.substr(8 + size));
      }
    }
  } catch (const std::exception& error) {
    throw Error("{}: not a whole safetensors file: {}; restore it or make it again", origin,
                error.what());
  }
  return file;
}

TensorFile ReadTensors(const std::filesystem::path& path) {
  const MappedFile file(path);
  const auto bytes = file.bytes();
  return DecodeTensors({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path.string());
}

}  // namespace crossilo
