#include "crossilo/data/arrays.h"

#include <cctype>
#include <cmath>
#include <map>

#include "crossilo/base/error.h"
#include "crossilo/data/hdf5.h"
#include "crossilo/data/mat.h"
#include "crossilo/data/npy.h"
#include "crossilo/data/npz.h"

namespace crossilo {
namespace {

namespace fs = std::filesystem;

struct Place {
  fs::path path;
  std::string name;
};

// A colon is part of the name of a file that exists.
Place Split(const std::string& place) {
  const size_t colon = place.rfind(':');
  std::error_code ignored;
  if (colon == std::string::npos || fs::exists(place, ignored)) return {place, ""};
  return {place.substr(0, colon), place.substr(colon + 1)};
}

std::string Ending(const fs::path& path) {
  std::string ending = path.extension().string();
  for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return ending;
}

std::string Listed(const std::map<std::string, Array>& arrays) {
  std::string out;
  for (const auto& [name, array] : arrays) {
    out += fmt::format("{}{} ({} {})", out.empty() ? "" : ", ", name, NameOf(array.type),
                       fmt::join(array.shape, " x "));
  }
  return out;
}

Array Choose(const std::map<std::string, Array>& arrays, const Place& place) {
  if (arrays.empty()) throw Error("{}: holds no arrays of numbers", place.path.string());
  if (place.name.empty() && arrays.size() == 1) return arrays.begin()->second;
  const auto found = arrays.find(place.name);
  if (found != arrays.end()) return found->second;
  if (place.name.empty()) {
    throw Error("{}: holds several arrays; choose one as {}:{} out of {}", place.path.string(),
                place.path.string(), arrays.begin()->first, Listed(arrays));
  }
  throw Error("{}: has no array '{}'; it has {}", place.path.string(), place.name, Listed(arrays));
}

// The type torch has, or the one it must be turned into first.
torch::ScalarType TorchType(Dtype type) {
  switch (type) {
    case Dtype::kBool:
    case Dtype::kU8:
      return torch::kByte;
    case Dtype::kI8:
      return torch::kChar;
    case Dtype::kI16:
      return torch::kShort;
    case Dtype::kI32:
      return torch::kInt;
    case Dtype::kF16:
      return torch::kHalf;
    case Dtype::kF32:
      return torch::kFloat;
    case Dtype::kF64:
      return torch::kDouble;
    default:
      return torch::kLong;
  }
}

Dtype NpyType(torch::ScalarType type) {
  for (Dtype known : {Dtype::kU8, Dtype::kI8, Dtype::kI16, Dtype::kI32, Dtype::kI64, Dtype::kF16,
                      Dtype::kF32, Dtype::kF64}) {
    if (TorchType(known) == type) return known;
  }
  TORCH_CHECK(type == torch::kBool, ".npy knows no tensors of type ", type);
  return Dtype::kBool;
}

// uint16, uint32, uint64 are no types of torch 1.13.
template <typename T>
torch::Tensor Widened(const Array& array) {
  torch::Tensor out = torch::empty(array.shape, torch::kLong);
  auto* to = out.data_ptr<int64_t>();
  for (int64_t i = 0; i < array.size(); ++i) {
    T value;
    std::memcpy(&value, array.bytes.data() + i * sizeof(T), sizeof(T));
    to[i] = static_cast<int64_t>(value);
  }
  return out;
}

// Doubles as they are: as floats, large row numbers would be rounded.
std::vector<double> Reals(const Array& array) {
  std::vector<double> out(static_cast<size_t>(array.size()));
  if (array.type == Dtype::kF64) {
    if (!out.empty()) std::memcpy(out.data(), array.bytes.data(), array.bytes.size());
  } else {
    const torch::Tensor wide = ToTensor(array).to(torch::kDouble).contiguous();
    std::copy_n(wide.data_ptr<double>(), out.size(), out.begin());
  }
  return out;
}

}  // namespace

std::string KindOf(const std::string& place) { return Ending(Split(place).path); }

Array ReadArray(const std::string& text) {
  const Place place = Split(text);
  const std::string ending = Ending(place.path);
  if (ending == ".npz") return Choose(ReadNpz(place.path), place);
  if (ending == ".mat") return Choose(ReadMat(place.path), place);
  if (ending == ".h5" || ending == ".hdf5") return Choose(ReadH5(place.path), place);
  if (ending != ".npy") {
    throw Error("{}: arrays are read from .npy, .npz, .mat, .h5 and .hdf5 files", text);
  }
  if (!place.name.empty()) {
    throw Error("{}: a .npy file holds one array without a name; leave out ':{}'", text,
                place.name);
  }
  return ReadNpy(place.path);
}

torch::Tensor ToTensor(const Array& array) {
  if (array.type == Dtype::kU16) return Widened<uint16_t>(array);
  if (array.type == Dtype::kU32) return Widened<uint32_t>(array);
  if (array.type == Dtype::kU64) return Widened<uint64_t>(array);
  const torch::ScalarType type = TorchType(array.type);
  if (array.size() == 0) return torch::empty(array.shape, type);
  const auto address = reinterpret_cast<uintptr_t>(array.bytes.data());
  torch::Tensor tensor;
  if (address % SizeOf(array.type) != 0) {
    tensor = torch::empty(array.shape, type);
    std::memcpy(tensor.data_ptr(), array.bytes.data(), array.bytes.size());
  } else {
    tensor = torch::from_blob(
        const_cast<std::byte*>(array.bytes.data()), array.shape, [owner = array.owner](void*) {},
        type);
  }
  if (type == torch::kDouble) return tensor.to(torch::kFloat);
  return array.type == Dtype::kBool ? tensor.ne(0) : tensor;
}

std::vector<int64_t> ToRows(const Array& array, int64_t base, const std::string& origin) {
  int64_t longest = 1;
  for (int64_t extent : array.shape) longest = std::max(longest, extent);
  if (array.shape.empty() || (array.size() != longest && array.size() != 0)) {
    throw Error("{}: row numbers must be a vector, not {}", origin, fmt::join(array.shape, " x "));
  }
  if (array.type == Dtype::kF64 || array.type == Dtype::kF32 || array.type == Dtype::kF16) {
    std::vector<int64_t> rows;
    for (const double value : Reals(array)) {
      // Also false for a NaN.
      if (!(value == std::floor(value) && std::abs(value) < 1e15)) {
        throw Error("{}: row numbers must be whole; element {} is {}", origin, rows.size(), value);
      }
      rows.push_back(static_cast<int64_t>(value) - base);
    }
    return rows;
  }
  torch::Tensor values = ToTensor(array).flatten();
  if (array.type == Dtype::kBool) {
    values = values.nonzero().flatten();
    base = 0;
  }
  values = values.to(torch::kLong).sub(base).contiguous();
  return {values.data_ptr<int64_t>(), values.data_ptr<int64_t>() + values.numel()};
}

void WriteTensor(const std::filesystem::path& path, const torch::Tensor& tensor) {
  const torch::Tensor flat = tensor.detach().to(torch::kCPU).contiguous();
  WriteNpy(path, NpyType(flat.scalar_type()), flat.sizes().vec(),
           {static_cast<const std::byte*>(flat.data_ptr()), flat.nbytes()});
}

}  // namespace crossilo
