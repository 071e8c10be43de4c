#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <matio.h>

#include <cstdlib>
#include <cstring>
#include <fstream>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"
#include "crossilo/base/random.h"
#include "crossilo/data/mat.h"

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

using Variable = std::unique_ptr<matvar_t, decltype(&Mat_VarFree)>;

// a = [1 3 5; 2 4 6]; t = logical([1 0]); s = sparse with s(1,2) = 7 and
// s(3,1) = -2; words = 'hi'; d.x = int16([1; 2]).
void WriteExample(const fs::path& path, mat_ft version, matio_compression packing) {
  mat_t* file = Mat_CreateVer(path.c_str(), nullptr, version);
  ASSERT_NE(file, nullptr);
  const auto put = [&](matvar_t* variable) {
    Mat_VarWrite(file, variable, packing);
    Mat_VarFree(variable);
  };
  size_t two_three[] = {2, 3}, one_two[] = {1, 2}, three_two[] = {3, 2}, two_one[] = {2, 1};
  double a[] = {1, 2, 3, 4, 5, 6};
  put(Mat_VarCreate("a", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, two_three, a, 0));
  uint8_t t[] = {1, 0};
  put(Mat_VarCreate("t", MAT_C_UINT8, MAT_T_UINT8, 2, one_two, t, MAT_F_LOGICAL));
  double values[] = {-2, 7};
  mat_uint32_t rows[] = {2, 0}, starts[] = {0, 1, 2};
  mat_sparse_t sparse{2, rows, 2, starts, 3, 2, values};
  put(Mat_VarCreate("s", MAT_C_SPARSE, MAT_T_DOUBLE, 2, three_two, &sparse, MAT_F_DONT_COPY_DATA));
  char words[] = "hi";
  put(Mat_VarCreate("words", MAT_C_CHAR, MAT_T_UINT8, 2, one_two, words, 0));
  int16_t x[] = {1, 2};
  const char* fields[] = {"x"};
  size_t one_one[] = {1, 1};
  matvar_t* outer = Mat_VarCreateStruct("d", 2, one_one, fields, 1);
  Mat_VarSetStructFieldByName(outer, "x", 0,
                              Mat_VarCreate("x", MAT_C_INT16, MAT_T_INT16, 2, two_one, x, 0));
  put(outer);
  Mat_Close(file);
}

struct Kind {
  mat_ft version;
  matio_compression packing;
};
const Kind kKinds[] = {{MAT_FT_MAT5, MAT_COMPRESSION_NONE},
                       {MAT_FT_MAT5, MAT_COMPRESSION_ZLIB},
                       {MAT_FT_MAT73, MAT_COMPRESSION_NONE},
                       {MAT_FT_MAT73, MAT_COMPRESSION_ZLIB}};

fs::path Path() { return fs::path(testing::TempDir()) / "mat_matio_test.mat"; }

// Without WriteFile's sync, which hundreds of damaged copies need not wait for.
void Overwrite(const std::string& content) { std::ofstream(Path(), std::ios::binary) << content; }

std::string Example(const Kind& kind) {
  fs::remove(Path());
  WriteExample(Path(), kind.version, kind.packing);
  return ReadFile(Path());
}

TEST(Mat, MatricesOfBothVersionsAreTurnedIntoRows) {
  for (const Kind& kind : kKinds) {
    Example(kind);
    const auto arrays = ReadMat(Path());
    ASSERT_EQ(arrays.size(), 4u);
    EXPECT_THAT(arrays.at("a").shape, ElementsAre(2, 3));
    EXPECT_THAT(Values<double>(arrays.at("a")), ElementsAre(1, 3, 5, 2, 4, 6));
    EXPECT_EQ(arrays.at("t").type, Dtype::kBool);
    EXPECT_THAT(Values<uint8_t>(arrays.at("t")), ElementsAre(1, 0));
    EXPECT_THAT(arrays.at("s").shape, ElementsAre(3, 2));
    EXPECT_THAT(Values<double>(arrays.at("s")), ElementsAre(0, 7, 0, 0, -2, 0));
    EXPECT_EQ(arrays.at("d.x").type, Dtype::kI16);
    EXPECT_THAT(Values<int16_t>(arrays.at("d.x")), ElementsAre(1, 2));
  }
}

// Cuts and dozens of damaged copies: an Error or matrices, never a
// crash of ours, and packed matrices are right or refused.
TEST(Mat, DamageIsRefusedNeverCrashes) {
  for (const Kind& kind : kKinds) {
    const std::string whole = Example(kind);
    Random random(7);
    for (int i = 0; i < 12; ++i) {
      Overwrite(whole.substr(0, random.Below(whole.size())));
      try {
        // A version 5 file cut between two variables is whole as far as it goes.
        EXPECT_LT(ReadMat(Path()).size(), 4u);
        EXPECT_EQ(kind.version, MAT_FT_MAT5);
      } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("mat_matio_test.mat"));
      }
    }
    int refused = 0;
    for (int i = 0; i < 40; ++i) {
      std::string damaged = whole;
      for (uint64_t hits = 1 + random.Below(8); hits > 0; --hits) {
        damaged[random.Below(damaged.size())] = static_cast<char>(random.Bits());
      }
      Overwrite(damaged);
      try {
        ReadMat(Path());
      } catch (const Error&) {
        ++refused;
      }
    }
    EXPECT_GT(refused, 2);
  }
}

TEST(Mat, WhatIsNoMatIsNamed) {
  for (const std::string& content :
       {std::string(), std::string(127, 'x'), std::string(4096, 'x'), std::string(4096, '\0'),
        std::string(124, ' ') + std::string("\0\2IM", 4) + std::string(600, '\0')}) {
    Overwrite(content);
    EXPECT_THROW(ReadMat(Path()), Error);
  }
  EXPECT_THROW(ReadMat("/no/such/file.mat"), Error);
}

// Shapes, sums and elements as scipy.io.loadmat has them.
TEST(Mat, PublishedFilesReadAsScipyReadsThem) {
  const char* shared = std::getenv("CROSSILO_SHARED");
  const fs::path data = fs::path(shared == nullptr ? "" : shared) / "data";
  if (shared == nullptr || !fs::exists(data)) GTEST_SKIP() << "no shared data here";
  const auto raw = ReadMat(data / "wikipedia" / "raw_features.mat");
  EXPECT_EQ(raw.size(), 4u);
  EXPECT_THAT(raw.at("I_tr").shape, ElementsAre(2173, 128));
  EXPECT_EQ(Values<double>(raw.at("I_tr"))[128 + 2], 0.05000000074505806);
  EXPECT_EQ(Values<double>(raw.at("T_te"))[10 + 2], 0.057692307692307696);

  const auto roph = ReadMat(data / "wikipedia" / "RoPH_wiki_cnn128_w2v100.mat");
  EXPECT_THAT(roph.at("data.X1").shape, ElementsAre(128, 2866));
  EXPECT_EQ(Values<double>(roph.at("data.X1"))[2866 + 2], -32.542991638183594);
  EXPECT_THAT(roph.at("data.Y").shape, ElementsAre(10, 2866));  // sparse and logical
  const auto labels = Values<uint8_t>(roph.at("data.Y"));
  EXPECT_EQ(std::count(labels.begin(), labels.end(), 1), 2866);
  EXPECT_EQ(Values<double>(roph.at("data.split.ind_train"))[1], 618);

  const auto tags = ReadMat(data / "mirflickr25k_tags" / "mirflickr25k-yall.mat");
  EXPECT_THAT(tags.at("YAll").shape, ElementsAre(20015, 1386));
  const auto bits = Values<double>(tags.at("YAll"));
  EXPECT_EQ(std::count(bits.begin(), bits.end(), 1), 92808);
  EXPECT_EQ(bits[257], 1);
  EXPECT_EQ(bits[20014 * 1386 + 747], 1);
}

}  // namespace
}  // namespace crossilo
