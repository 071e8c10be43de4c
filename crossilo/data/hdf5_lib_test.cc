#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>

#include <cstring>
#include <fstream>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"
#include "crossilo/base/random.h"
#include "crossilo/data/hdf5.h"

namespace crossilo {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <typename T>
std::vector<T> Values(const Array& array) {
  std::vector<T> values(array.bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
  return values;
}

fs::path Path() { return fs::path(testing::TempDir()) / "hdf5_lib_test.h5"; }

// Without WriteFile's sync, which hundreds of damaged copies need not wait for.
void Overwrite(const std::string& content) { std::ofstream(Path(), std::ios::binary) << content; }

void Put(hid_t file, const char* name, hid_t stored, hid_t given, std::vector<hsize_t> shape,
         const void* data, bool packed) {
  const hid_t plan = H5Pcreate(H5P_DATASET_CREATE);
  if (packed) {
    H5Pset_chunk(plan, static_cast<int>(shape.size()), shape.data());
    H5Pset_deflate(plan, 9);
  }
  const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
  const hid_t set = H5Dcreate2(file, name, stored, space, H5P_DEFAULT, plan, H5P_DEFAULT);
  H5Dwrite(set, given, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
  H5Dclose(set);
  H5Sclose(space);
  H5Pclose(plan);
}

// IEEE half, as h5py builds it.
hid_t Half() {
  const hid_t half = H5Tcopy(H5T_IEEE_F32LE);
  H5Tset_fields(half, 15, 10, 5, 0, 10);
  H5Tset_size(half, 2);
  H5Tset_ebias(half, 15);
  return half;
}

std::string Example() {
  const hid_t file = H5Fcreate(Path().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const float image[] = {1, 2, 3, 4, 5, 6};
  H5Gclose(H5Gcreate2(file, "features", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  Put(file, "features/image", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, {2, 3}, image, true);
  Put(file, "features/big", H5T_IEEE_F64BE, H5T_NATIVE_FLOAT, {3}, image, false);
  const hid_t half = Half();
  Put(file, "half", half, H5T_NATIVE_FLOAT, {2, 3}, image, false);
  H5Tclose(half);
  const uint16_t rows[] = {7, 65535};
  Put(file, "rows", H5T_STD_U16LE, H5T_NATIVE_UINT16, {2}, rows, false);
  const hid_t truth = H5Tenum_create(H5T_STD_I8LE);
  int8_t value = 0;
  H5Tenum_insert(truth, "FALSE", &value);
  value = 1;
  H5Tenum_insert(truth, "TRUE", &value);
  const int8_t mask[] = {1, 0, 1};
  Put(file, "mask", truth, truth, {3}, mask, false);
  H5Tclose(truth);
  const hid_t text = H5Tcopy(H5T_C_S1);
  Put(file, "text", text, text, {2}, "hi", false);
  H5Tclose(text);
  H5Lcreate_external("/etc/other.h5", "/x", file, "elsewhere", H5P_DEFAULT, H5P_DEFAULT);
  H5Fclose(file);
  return ReadFile(Path());
}

TEST(Hdf5, DatasetsOfNumbersAreFoundByPath) {
  Example();
  const auto arrays = ReadH5(Path());
  ASSERT_EQ(arrays.size(), 5u);
  EXPECT_THAT(arrays.at("features/image").shape, ElementsAre(2, 3));
  EXPECT_THAT(Values<float>(arrays.at("features/image")), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(arrays.at("features/big").type, Dtype::kF64);
  EXPECT_THAT(Values<double>(arrays.at("features/big")), ElementsAre(1, 2, 3));
  EXPECT_EQ(arrays.at("half").type, Dtype::kF16);
  EXPECT_EQ(Values<uint16_t>(arrays.at("half"))[1], 0x4000);  // 2.0 = 2^(16 - 15)
  EXPECT_THAT(Values<uint16_t>(arrays.at("rows")), ElementsAre(7, 65535));
  EXPECT_EQ(arrays.at("mask").type, Dtype::kBool);
  EXPECT_THAT(Values<uint8_t>(arrays.at("mask")), ElementsAre(1, 0, 1));
}

// The elements of a set may be said to lie in any other file; not for us.
TEST(Hdf5, OtherFilesAreNotRead) {
  const hid_t file = H5Fcreate(Path().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t plan = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_external(plan, "/etc/hostname", 0, 4);
  const hsize_t four = 4;
  const hid_t space = H5Screate_simple(1, &four, nullptr);
  H5Dclose(H5Dcreate2(file, "stolen", H5T_STD_U8LE, space, H5P_DEFAULT, plan, H5P_DEFAULT));
  H5Sclose(space);
  H5Pclose(plan);
  H5Fclose(file);
  EXPECT_TRUE(ReadH5(Path()).empty());
}

TEST(Hdf5, DamageIsRefusedNeverCrashes) {
  const std::string whole = Example();
  Random random(9);
  for (int i = 0; i < 20; ++i) {
    Overwrite(whole.substr(0, random.Below(whole.size())));
    EXPECT_THROW(ReadH5(Path()), Error);
  }
  int refused = 0;
  for (int i = 0; i < 100; ++i) {
    std::string damaged = whole;
    for (uint64_t hits = 1 + random.Below(8); hits > 0; --hits) {
      damaged[random.Below(damaged.size())] = static_cast<char>(random.Bits());
    }
    Overwrite(damaged);
    try {
      ReadH5(Path());
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("hdf5_lib_test.h5"));
      ++refused;
    }
  }
  EXPECT_GT(refused, 10);
  Overwrite("not HDF5 at all");
  EXPECT_THROW(ReadH5(Path()), Error);
  EXPECT_THROW(ReadH5("/no/such/file.h5"), Error);
}

}  // namespace
}  // namespace crossilo
