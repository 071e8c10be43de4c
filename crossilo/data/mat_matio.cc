#include <matio.h>

#include <cstring>
#include <optional>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"
#include "crossilo/data/apart.h"
#include "crossilo/data/mat.h"
#include "crossilo/data/mat_check.h"

namespace crossilo {
namespace {

std::optional<Dtype> TypeOf(matio_types type) {
  switch (type) {
    case MAT_T_INT8:
      return Dtype::kI8;
    case MAT_T_UINT8:
      return Dtype::kU8;
    case MAT_T_INT16:
      return Dtype::kI16;
    case MAT_T_UINT16:
      return Dtype::kU16;
    case MAT_T_INT32:
      return Dtype::kI32;
    case MAT_T_UINT32:
      return Dtype::kU32;
    case MAT_T_INT64:
      return Dtype::kI64;
    case MAT_T_UINT64:
      return Dtype::kU64;
    case MAT_T_SINGLE:
      return Dtype::kF32;
    case MAT_T_DOUBLE:
      return Dtype::kF64;
    default:
      return std::nullopt;
  }
}

// Reads the variables of one open file and puts those that are matrices.
class Walk {
 public:
  Walk(std::string origin, const MatOutline& outline, const PutArray& put)
      : origin_(std::move(origin)), outline_(outline), put_(put) {}

  // Before the elements are read: refuses sizes that the file cannot hold.
  void CheckSizes(const matvar_t& variable) const {
    if (variable.class_type == MAT_C_STRUCT) {
      ForFields(variable, [&](const std::string&, const matvar_t& field) { CheckSizes(field); });
    }
    if (variable.class_type < MAT_C_DOUBLE || variable.class_type > MAT_C_UINT64) return;
    uint64_t elements = 1;
    for (int d = 0; d < variable.rank; ++d) {
      if (variable.dims[d] != 0 && elements > outline_.most_bytes / variable.dims[d]) Damaged();
      elements *= variable.dims[d];
    }
  }

  void Visit(const std::string& name, const matvar_t& variable) const {
    if (variable.class_type == MAT_C_STRUCT) {
      ForFields(variable, [&](const std::string& field, const matvar_t& inner) {
        Visit(name + "." + field, inner);
      });
    } else if (variable.rank == 2 && variable.isComplex == 0) {
      if (variable.class_type == MAT_C_SPARSE) PutSparse(name, variable);
      if (variable.class_type >= MAT_C_DOUBLE && variable.class_type <= MAT_C_UINT64) {
        PutDense(name, variable);
      }
    }
  }

 private:
  [[noreturn]] void Damaged() const {
    throw Error("{}: is damaged: its parts do not fit together; copy it again", origin_);
  }

  template <typename F>
  void ForFields(const matvar_t& variable, F visit) const {
    if (variable.rank != 2 || variable.dims[0] != 1 || variable.dims[1] != 1) return;
    auto* handle = const_cast<matvar_t*>(&variable);  // matio knows no const here
    char* const* names = Mat_VarGetStructFieldnames(&variable);
    const unsigned count = Mat_VarGetNumberOfFields(handle);
    for (unsigned i = 0; names != nullptr && i < count; ++i) {
      const matvar_t* field = Mat_VarGetStructFieldByIndex(handle, i, 0);
      if (field != nullptr) visit(names[i], *field);
    }
  }

  Dtype Type(const matvar_t& variable, matio_types stored) const {
    const std::optional<Dtype> type = TypeOf(stored);
    if (!type) Damaged();
    return variable.isLogical != 0 && SizeOf(*type) == 1 ? Dtype::kBool : *type;
  }

  void PutDense(const std::string& name, const matvar_t& variable) const {
    const size_t rows = variable.dims[0], columns = variable.dims[1];
    const Dtype type = Type(variable, variable.data_type);
    const size_t element = SizeOf(type);
    if (rows * columns != 0 &&
        (variable.data == nullptr || variable.nbytes != rows * columns * element)) {
      Damaged();
    }
    std::vector<std::byte> turned(rows * columns * element);
    const auto* source = static_cast<const std::byte*>(variable.data);
    for (size_t i = 0; i < rows; ++i) {
      for (size_t j = 0; j < columns; ++j) {
        std::memcpy(turned.data() + (i * columns + j) * element, source + (j * rows + i) * element,
                    element);
      }
    }
    put_(name, type, {static_cast<int64_t>(rows), static_cast<int64_t>(columns)}, turned);
  }

  void PutSparse(const std::string& name, const matvar_t& variable) const {
    const size_t rows = variable.dims[0], columns = variable.dims[1];
    const Dtype type = Type(variable, variable.data_type);
    const size_t element = SizeOf(type);
    const auto* sparse = static_cast<const mat_sparse_t*>(variable.data);
    if (sparse == nullptr || sparse->njc < columns + 1) Damaged();
    if (columns != 0 && rows > outline_.most_filled / element / columns) {
      throw Error("{}: {} is a sparse {} x {} matrix, too large to fill; save a part of it",
                  origin_, name, rows, columns);
    }
    std::vector<std::byte> dense(rows * columns * element);
    const auto* values = static_cast<const std::byte*>(sparse->data);
    for (size_t j = 0; j < columns; ++j) {
      for (size_t k = sparse->jc[j]; k < sparse->jc[j + 1]; ++k) {
        if (k >= sparse->nir || k >= sparse->ndata || sparse->ir[k] >= rows) Damaged();
        std::memcpy(dense.data() + (sparse->ir[k] * columns + j) * element, values + k * element,
                    element);
      }
    }
    put_(name, type, {static_cast<int64_t>(rows), static_cast<int64_t>(columns)}, dense);
  }

  std::string origin_;
  const MatOutline& outline_;
  const PutArray& put_;
};

void ReadAll(const std::string& path, const MatOutline& outline, const PutArray& put) {
  const std::unique_ptr<mat_t, decltype(&Mat_Close)> file(Mat_Open(path.c_str(), MAT_ACC_RDONLY),
                                                          &Mat_Close);
  if (file == nullptr) throw Error("{}: is damaged; copy it again", path);
  const Walk walk(path, outline, put);
  int64_t found = 0;
  while (true) {
    const std::unique_ptr<matvar_t, decltype(&Mat_VarFree)> variable(
        Mat_VarReadNextInfo(file.get()), &Mat_VarFree);
    if (variable == nullptr) break;
    ++found;
    if (variable->name == nullptr) continue;  // MATLAB's own, such as function handles
    walk.CheckSizes(*variable);
    if (Mat_VarReadDataAll(file.get(), variable.get()) != 0) {
      throw Error("{}: {} is damaged; copy the file again", path, variable->name);
    }
    walk.Visit(variable->name, *variable);
  }
  // matio opens a 7.3 file that HDF5 finds cut short, as one without variables.
  if (found == 0) throw Error("{}: holds no variables, or is damaged; copy it again", path);
  if (outline.variables >= 0 && found < outline.variables) {
    throw Error("{}: is damaged: {} of its {} variables can be read; copy it again", path, found,
                outline.variables);
  }
}

}  // namespace

std::map<std::string, Array> ReadMat(const std::filesystem::path& path) {
  MatOutline outline;
  {
    const MappedFile file(path);
    outline = CheckMat(file.bytes(), path.string());
  }
  return ReadApart(path, [&](const PutArray& put) { ReadAll(path.string(), outline, put); });
}

}  // namespace crossilo
