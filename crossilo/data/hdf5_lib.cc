#include <hdf5.h>

#include <optional>

#include "crossilo/base/error.h"
#include "crossilo/data/apart.h"
#include "crossilo/data/hdf5.h"

namespace crossilo {
namespace {

// An HDF5 object, closed by the function that its kind asks for.
struct Handle {
  hid_t id;
  herr_t (*close)(hid_t);

  Handle(hid_t opened, herr_t (*closer)(hid_t)) : id(opened), close(closer) {}
  ~Handle() {
    if (id >= 0) close(id);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
};

struct Element {
  Dtype type;
  hid_t memory;  // the type to read into; the caller does not own it
};

bool IsHalf(hid_t type) {
  size_t sign, exponent, exponent_size, mantissa, mantissa_size;
  return H5Tget_size(type) == 2 &&
         H5Tget_fields(type, &sign, &exponent, &exponent_size, &mantissa, &mantissa_size) >= 0 &&
         sign == 15 && exponent == 10 && exponent_size == 5 && mantissa_size == 10;
}

Element WholeNumber(size_t size, bool negative) {
  switch (size) {
    case 1:
      return negative ? Element{Dtype::kI8, H5T_NATIVE_INT8}
                      : Element{Dtype::kU8, H5T_NATIVE_UINT8};
    case 2:
      return negative ? Element{Dtype::kI16, H5T_NATIVE_INT16}
                      : Element{Dtype::kU16, H5T_NATIVE_UINT16};
    case 4:
      return negative ? Element{Dtype::kI32, H5T_NATIVE_INT32}
                      : Element{Dtype::kU32, H5T_NATIVE_UINT32};
    default:
      return negative ? Element{Dtype::kI64, H5T_NATIVE_INT64}
                      : Element{Dtype::kU64, H5T_NATIVE_UINT64};
  }
}

// What a file's type becomes in memory; nothing for texts, records and such.
// h5py stores booleans as an enumeration over int8, which reads as it lies.
std::optional<Element> ElementOf(hid_t type) {
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      return WholeNumber(H5Tget_size(type), H5Tget_sign(type) == H5T_SGN_2);
    case H5T_ENUM:
      if (H5Tget_size(type) != 1 || H5Tget_nmembers(type) != 2) return std::nullopt;
      return Element{Dtype::kBool, type};
    case H5T_FLOAT:
      if (IsHalf(type) && H5Tget_order(type) == H5T_ORDER_LE) return Element{Dtype::kF16, type};
      if (H5Tget_size(type) <= 4) return Element{Dtype::kF32, H5T_NATIVE_FLOAT};
      return Element{Dtype::kF64, H5T_NATIVE_DOUBLE};
    default:
      return std::nullopt;
  }
}

// The elements may lie in another file, which a stranger's file could use to
// have us read any file of ours.
bool LiesElsewhere(hid_t dataset) {
  const Handle plan(H5Dget_create_plist(dataset), H5Pclose);
  return plan.id < 0 || H5Pget_external_count(plan.id) != 0 ||
         H5Pget_layout(plan.id) == H5D_VIRTUAL;
}

struct Visit {
  std::string path;
  uint64_t most_bytes;
  const PutArray& put;
  std::string failure;  // an exception must not pass through C

  std::vector<int64_t> Shape(hid_t dataset, size_t element) const {
    const Handle space(H5Dget_space(dataset), H5Sclose);
    const int rank = H5Sget_simple_extent_ndims(space.id);
    std::vector<hsize_t> extents(rank < 0 ? 0 : static_cast<size_t>(rank));
    if (rank < 0 || H5Sget_simple_extent_dims(space.id, extents.data(), nullptr) != rank) {
      throw Error("its shape cannot be read");
    }
    uint64_t bytes = element;
    for (const hsize_t extent : extents) {
      if (extent != 0 && bytes > most_bytes / extent)
        throw Error("its shape is too large for the file");
      bytes *= extent;
    }
    if (H5Sget_simple_extent_type(space.id) == H5S_NULL) extents = {0};
    return {extents.begin(), extents.end()};
  }

  void Dataset(hid_t root, const char* name) const {
    const Handle dataset(H5Dopen(root, name, H5P_DEFAULT), H5Dclose);
    const Handle type(H5Dget_type(dataset.id), H5Tclose);
    if (dataset.id < 0 || type.id < 0) throw Error("it cannot be opened");
    const auto element = ElementOf(type.id);
    if (!element || LiesElsewhere(dataset.id)) return;
    Array array{element->type, Shape(dataset.id, SizeOf(element->type)), {}, nullptr};
    std::vector<std::byte> bytes(static_cast<size_t>(array.size()) * SizeOf(array.type));
    if (!bytes.empty() &&
        H5Dread(dataset.id, element->memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) < 0) {
      throw Error("its elements cannot be read");
    }
    put(name, array.type, array.shape, bytes);
  }
};

herr_t VisitObject(hid_t root, const char* name, const H5O_info_t* info, void* data) {
  auto& visit = *static_cast<Visit*>(data);
  if (info->type != H5O_TYPE_DATASET) return 0;
  try {
    visit.Dataset(root, name);
    return 0;
  } catch (const std::exception& error) {
    visit.failure = fmt::format("{} is damaged: {}", name, error.what());
    return -1;
  }
}

void ReadAll(const std::string& path, uint64_t size, const PutArray& put) {
  H5Eset_auto(H5E_DEFAULT, nullptr, nullptr);
  // A file may name filters that HDF5 would load as shared libraries.
  H5PLset_loading_state(0);
  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (file.id < 0) throw Error("{}: not a whole HDF5 file; copy it again", path);
  // Small files may still hold what was never written and reads as zeros.
  Visit visit{path, MostUnpacked(size) + (1 << 20), put, ""};
#if H5_VERSION_GE(1, 12, 0)
  const auto look = [](hid_t root, const char* name, const H5O_info2_t* info, void* data) {
    H5O_info_t basic{};
    basic.type = info->type;
    return VisitObject(root, name, &basic, data);
  };
  const herr_t state = H5Ovisit3(file.id, H5_INDEX_NAME, H5_ITER_INC, look, &visit, H5O_INFO_BASIC);
#else
  const herr_t state =
      H5Ovisit2(file.id, H5_INDEX_NAME, H5_ITER_INC, VisitObject, &visit, H5O_INFO_BASIC);
#endif
  if (!visit.failure.empty()) throw Error("{}: {}; copy it again", path, visit.failure);
  if (state < 0) throw Error("{}: not a whole HDF5 file; copy it again", path);
}

}  // namespace

std::map<std::string, Array> ReadH5(const std::filesystem::path& path) {
  return ReadApart(path, [&](const PutArray& put) {
    ReadAll(path.string(), std::filesystem::file_size(path), put);
  });
}

}  // namespace crossilo
