#include "crossilo/data/arrays.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "crossilo/base/error.h"
#include "crossilo/data/npy.h"

namespace crossilo {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Message(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "(no error)";
}

template <typename T>
Array Make(Dtype type, std::vector<int64_t> shape, std::vector<T> values) {
  auto owner = std::make_shared<const std::vector<T>>(std::move(values));
  return {type, std::move(shape), std::as_bytes(std::span(*owner)), owner};
}

TEST(Arrays, TensorsShareTheFileAndOutliveTheArray) {
  const fs::path path = fs::path(testing::TempDir()) / "arrays_test.npy";
  WriteTensor(path, torch::tensor({{1.5f, 2.5f}, {3.5f, 4.5f}}, torch::kHalf));
  torch::Tensor tensor;
  {
    const Array array = ReadArray(path.string());
    tensor = ToTensor(array);
    EXPECT_EQ(tensor.data_ptr(), static_cast<const void*>(array.bytes.data()));
  }
  EXPECT_EQ(tensor.scalar_type(), torch::kHalf);
  EXPECT_EQ(tensor[1][0].item<float>(), 3.5f);
}

TEST(Arrays, TypesBecomeThoseOfTorch) {
  EXPECT_TRUE(torch::equal(ToTensor(Make<double>(Dtype::kF64, {2}, {1, 0.5})),
                           torch::tensor({1.0f, 0.5f})));
  EXPECT_TRUE(torch::equal(ToTensor(Make<uint16_t>(Dtype::kU16, {2}, {1, 65535})),
                           torch::tensor({1, 65535}, torch::kLong)));
  EXPECT_TRUE(torch::equal(ToTensor(Make<uint8_t>(Dtype::kBool, {3}, {0, 1, 255})),
                           torch::tensor({false, true, true})));
  EXPECT_EQ(ToTensor(Make<uint8_t>(Dtype::kU8, {0, 4}, {})).size(1), 4);
  // One byte into a buffer no float is aligned; the tensor still has it right.
  Array crooked = Make<uint8_t>(Dtype::kF32, {1}, {9, 0, 0, 0x80, 0x3F});
  crooked.bytes = crooked.bytes.subspan(1);
  EXPECT_EQ(ToTensor(crooked).item<float>(), 1.0f);
}

TEST(Arrays, RowsComeFromNumbersAndMasks) {
  EXPECT_THAT(ToRows(Make<int32_t>(Dtype::kI32, {3}, {0, 4, 2}), 0, "x"), ElementsAre(0, 4, 2));
  EXPECT_THAT(ToRows(Make<uint16_t>(Dtype::kU16, {1, 2}, {1, 3}), 1, "x"), ElementsAre(0, 2));
  EXPECT_THAT(ToRows(Make<double>(Dtype::kF64, {2, 1}, {1, 16777217}), 1, "x"),
              ElementsAre(0, 16777216));
  EXPECT_THAT(ToRows(Make<uint8_t>(Dtype::kBool, {4}, {0, 1, 1, 0}), 1, "x"), ElementsAre(1, 2));
  EXPECT_TRUE(ToRows(Make<int64_t>(Dtype::kI64, {0}, {}), 0, "x").empty());
  EXPECT_THAT(Message([] {
                ToRows(Make<float>(Dtype::kF32, {2}, {1, 1.5f}), 0, "x.npy");
              }),
              HasSubstr("x.npy: row numbers must be whole; element 1 is 1.5"));
  EXPECT_THAT(Message([] {
                ToRows(Make<uint8_t>(Dtype::kU8, {2, 2}, {1, 2, 3, 4}), 0, "x");
              }),
              HasSubstr("must be a vector, not 2 x 2"));
}

TEST(Arrays, PlacesAreChosenByEndingAndName) {
  EXPECT_EQ(KindOf("a/B.MAT:x"), ".mat");
  EXPECT_EQ(KindOf("a.npy"), ".npy");
  EXPECT_THAT(Message([] { ReadArray("table.csv"); }), HasSubstr(".npy, .npz, .mat"));
  EXPECT_THAT(Message([] { ReadArray("a.npy:x"); }), HasSubstr("leave out ':x'"));
  const char* shared = std::getenv("CROSSILO_SHARED");
  const fs::path path =
      fs::path(shared == nullptr ? "" : shared) / "data" / "wikipedia" / "raw_features.mat";
  if (shared == nullptr || !fs::exists(path)) GTEST_SKIP() << "no shared data here";
  EXPECT_THAT(ReadArray(path.string() + ":T_te").shape, ElementsAre(693, 10));
  EXPECT_THAT(Message([&] { ReadArray(path.string()); }),
              HasSubstr("T_te (float64 693 x 10), T_tr (float64 2173 x 10)"));
  EXPECT_THAT(Message([&] { ReadArray(path.string() + ":T"); }), HasSubstr("has no array 'T'"));
}

}  // namespace
}  // namespace crossilo
