#include "crossilo/data/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <functional>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"
#include "crossilo/base/random.h"

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
std::vector<T> Values(const Array& array) {
  std::vector<T> values(array.bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
  return values;
}

Array Decode(const std::string& bytes) {
  auto owner = std::make_shared<const std::string>(bytes);
  return DecodeNpy(std::as_bytes(std::span(*owner)), owner, "memory.npy");
}

// A version 1 file with the given dict, padded as numpy does not have to.
std::string With(const std::string& dict, const std::string& data, char version = 1) {
  std::string out = std::string("\x93NUMPY") + version + '\0';
  out += static_cast<char>(dict.size());
  out.append(version == 1 ? 1 : 3, '\0');
  return out + dict + data;
}

TEST(Npy, BytesAreNumpys) {
  // numpy.save of zeros((2, 3), 'f4'): 118 bytes of dict after ten before it.
  const std::string dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  EXPECT_EQ(NpyHeader(Dtype::kF32, {2, 3}), std::string("\x93NUMPY\x01\0v\0", 10) + dict +
                                                std::string(117 - dict.size(), ' ') + "\n");
  EXPECT_THAT(NpyHeader(Dtype::kU8, {7}),
              HasSubstr("'|u1', 'fortran_order': False, 'shape': (7,), }"));
  EXPECT_THAT(NpyHeader(Dtype::kF64, {}), HasSubstr("'shape': (), }"));
  EXPECT_EQ(NpyHeader(Dtype::kF16, {2, 2, 2}).size() % 64, 0u);
}

TEST(Npy, EveryTypeComesBackFromAFile) {
  const fs::path path = fs::path(testing::TempDir()) / "npy_test" / "a.npy";
  for (int i = 0; i <= static_cast<int>(Dtype::kF64); ++i) {
    const auto type = static_cast<Dtype>(i);
    std::vector<std::byte> bytes(6 * SizeOf(type), std::byte{1});
    WriteNpy(path, type, {2, 3}, bytes);
    const Array array = ReadNpy(path);
    EXPECT_EQ(array.type, type) << NameOf(type);
    EXPECT_THAT(array.shape, ElementsAre(2, 3));
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), array.bytes.begin(), array.bytes.end()));
  }
  WriteNpy(path, Dtype::kF32, {0, 5}, {});
  EXPECT_THAT(ReadNpy(path).shape, ElementsAre(0, 5));
  EXPECT_EQ(ReadNpy(path).size(), 0);
}

TEST(Npy, FortranOrderIsTurned) {
  // Columns (1 2), (3 4), (5 6) are rows (1 3 5), (2 4 6).
  const std::string dict = "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }\n";
  for (char version : {1, 2, 3}) {
    const Array array = Decode(With(dict, "\1\2\3\4\5\6", version));
    EXPECT_THAT(Values<uint8_t>(array), ElementsAre(1, 3, 5, 2, 4, 6));
  }
  // Element (i, j, k) of shape (2, 2, 2) stands at i + 2 j + 4 k.
  const Array cube = Decode(With("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 2, 2)}",
                                 std::string("\0\1\2\3\4\5\6\7", 8)));
  EXPECT_THAT(Values<uint8_t>(cube), ElementsAre(0, 4, 2, 6, 1, 5, 3, 7));
}

TEST(Npy, TextsAreReadAsUtf8) {
  const std::string dict = "{'descr': '<U3', 'fortran_order': False, 'shape': (2,), }\n";
  const std::u32string letters(U"caté\0\0", 6);
  const std::string bytes = With(dict, {reinterpret_cast<const char*>(letters.data()), 24});
  EXPECT_THAT(DecodeNpyStrings(std::as_bytes(std::span(bytes)), "x"), ElementsAre("cat", "é"));
  EXPECT_FALSE(IsNumericNpy(std::as_bytes(std::span(bytes)), "x"));
  EXPECT_THAT(Message([&] { Decode(bytes); }),
              HasSubstr("memory.npy: holds elements of numpy type <U3"));
  const std::string narrow =
      With("{'descr': '|S2', 'fortran_order': False, 'shape': (2,), }", std::string("ab\0\0", 4));
  EXPECT_THAT(DecodeNpyStrings(std::as_bytes(std::span(narrow)), "x"), ElementsAre("ab", ""));
}

TEST(Npy, WhatWeDoNotKnowIsNamed) {
  const auto say = [](const std::string& dict) {
    return Message([&] { Decode(With(dict, std::string(16, 'x'))); });
  };
  EXPECT_THAT(say("{'descr': '>f4', 'fortran_order': False, 'shape': (4,), }"),
              HasSubstr("big-endian (>f4)"));
  EXPECT_THAT(say("{'descr': '|O', 'fortran_order': False, 'shape': (2,), }"),
              HasSubstr("type |O"));
  EXPECT_THAT(say("{'descr': '<c8', 'fortran_order': False, 'shape': (2,), }"),
              HasSubstr("not numbers we know"));
  EXPECT_THAT(say("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (4,), }"),
              HasSubstr("not numbers we know"));
  for (const char* shape : {"(5,)", "(3,)", "(9223372036854775807, 9223372036854775807)",
                            "(9223372036854775807, 2, 0)", "(-4,)", "(4", "(2,,2)", "(4.0,)"}) {
    const std::string dict =
        "{'descr': '<f4', 'fortran_order': False, 'shape': " + std::string(shape) + ", }";
    EXPECT_THAT(say(dict), HasSubstr("it is damaged")) << shape;
  }
}

TEST(Npy, DamageIsRefusedNeverCrashes) {
  std::string whole = NpyHeader(Dtype::kI16, {3, 4}) + std::string(24, 'x');
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW(Decode(whole.substr(0, size)), Error) << size;
  }
  EXPECT_THROW(Decode(whole + "x"), Error);
  Random random(3);
  int refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string damaged = whole;
    for (uint64_t hits = 1 + random.Below(4); hits > 0; --hits) {
      damaged[random.Below(80)] = static_cast<char>(random.Bits());
    }
    try {
      Decode(damaged);
      DecodeNpyStrings(std::as_bytes(std::span(damaged)), "damaged");
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 10000);
}

// Shapes and values as numpy reads them.
TEST(Npy, RealFilesReadAsNumpyReadsThem) {
  const char* shared = std::getenv("CROSSILO_SHARED");
  const fs::path data = fs::path(shared == nullptr ? "" : shared) / "data";
  if (shared == nullptr || !fs::exists(data)) GTEST_SKIP() << "no shared data here";
  const Array half = ReadNpy(data / "fashion" / "image_mobilenetv2.npy");
  EXPECT_EQ(half.type, Dtype::kF16);
  EXPECT_THAT(half.shape, ElementsAre(8785, 1280));
  const Array fortran = ReadNpy(data / "wikipedia" / "image_sift128.npy");
  const auto sift = Values<float>(fortran);
  EXPECT_THAT(fortran.shape, ElementsAre(2866, 128));
  EXPECT_FLOAT_EQ(sift[0], 0.03732304f);
  EXPECT_FLOAT_EQ(sift[1], 0.0038610038f);
  double sum = 0;
  for (float value : sift) sum += value;
  EXPECT_NEAR(sum, 2866.0000082090846, 1e-6);
  EXPECT_EQ(Values<int32_t>(ReadNpy(data / "wikipedia" / "test.npy"))[692], 2865);
}

}  // namespace
}  // namespace crossilo
