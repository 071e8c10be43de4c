#include "crossilo/index/foreign.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <span>
#include <string>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"
#include "crossilo/base/random.h"

namespace crossilo {
namespace {

using namespace std::string_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Each part of a file by hand, as faiss/impl/index_write.cpp writes it.
//                         d = 16             2 bytes a code     ntotal = 3
const std::string kHeader = "\x10\0\0\0"s + "\x02\0\0\0"s + "\x03\0\0\0\0\0\0\0"s +
                            "\x01"s +      // is_trained
                            "\x01\0\0\0"s  // metric_type
    ;
const std::string kCodes = "\x06\0\0\0\0\0\0\0"s + "\x01\x80\xff\x00\x34\x12"s;
const std::string kFlat = "IBxF"s + kHeader + kCodes;
const std::string kIds = "\x03\0\0\0\0\0\0\0"s +  // 3 ids: 7, 2^40, 0
                         "\x07\0\0\0\0\0\0\0"s + "\0\0\0\0\0\x01\0\0"s + "\0\0\0\0\0\0\0\0"s;
const std::string kMapped = "IBMp"s + kHeader + kFlat + kIds;

class ForeignTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              ("crossilo_foreign_" + std::to_string(getpid()) + "_" +
               testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
    path_ = folder_ / "codes.faiss";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_, path_;
};

ForeignCodes Read(const std::string& bytes) {
  return ParseFaiss(std::as_bytes(std::span(bytes)), "codes.faiss");
}

std::string Refusal(const std::string& bytes) {
  try {
    Read(bytes);
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), testing::StartsWith("codes.faiss: "));
    return e.what();
  }
  return "read";
}

std::string With(std::string bytes, size_t at, const std::string& change) {
  return bytes.replace(at, change.size(), change);
}

TEST(Foreign, ReadsAFlatIndex) {
  const ForeignCodes read = Read(kFlat);
  EXPECT_THAT(read.ids, IsEmpty());
  EXPECT_EQ(read.codes.bits(), 16);
  EXPECT_THAT(read.codes.words(), ElementsAre(0x8001, 0x00ff, 0x1234));
}

TEST(Foreign, ReadsAFlatIndexWithIds) {
  for (const char* type : {"IBMp", "IBM2"}) {
    const ForeignCodes read = Read(With(kMapped, 0, type));
    EXPECT_THAT(read.ids, ElementsAre(7, int64_t{1} << 40, 0));
    EXPECT_THAT(read.codes.words(), ElementsAre(0x8001, 0x00ff, 0x1234));
  }
}

TEST(Foreign, ReadsIdsAsFaiss173WritesThem) {
  // The header around the codes says that a code has 0 bytes.
  const ForeignCodes read = Read(With(kMapped, 8, "\0"s));
  EXPECT_THAT(read.ids, ElementsAre(7, int64_t{1} << 40, 0));
  EXPECT_THAT(read.codes.words(), ElementsAre(0x8001, 0x00ff, 0x1234));
  EXPECT_THAT(Refusal(With(kMapped, 8, "\x01"s)), HasSubstr("16 bits in 1 bytes"));
  EXPECT_THAT(Refusal(With(kFlat, 8, "\0"s)), HasSubstr("16 bits in 0 bytes"));
}

TEST_F(ForeignTest, WritesTheSameBytes) {
  const uint8_t bytes[] = {0x01, 0x80, 0xff, 0x00, 0x34, 0x12};
  ForeignCodes codes{PackedCodes::FromBytes(bytes, 3, 16), {}};
  WriteFaiss(path_, codes);
  EXPECT_EQ(ReadFile(path_), kFlat);
  codes.ids = {7, int64_t{1} << 40, 0};
  WriteFaiss(path_, codes);
  EXPECT_EQ(ReadFile(path_), kMapped);
}

TEST_F(ForeignTest, WhatIsWrittenIsRead) {
  Random random(1, {}, "foreign");
  for (int bits : {8, 16, 24, 64, 72, 128, 1024}) {
    for (int64_t n : {0, 1, 100, 20000}) {  // the last is more than a piece at 1024 bits
      std::vector<uint8_t> bytes(n * bits / 8);
      for (uint8_t& b : bytes) b = static_cast<uint8_t>(random.Below(256));
      ForeignCodes codes{PackedCodes::FromBytes(bytes, n, bits), {}};
      if (random.Below(2)) {
        for (int64_t i = 0; i < n; ++i)
          codes.ids.push_back(static_cast<int64_t>(random.Bits() >> 1));
      }
      WriteFaiss(path_, codes);
      const ForeignCodes read = ReadFaiss(path_);
      EXPECT_EQ(read.codes, codes.codes) << bits << " " << n;
      EXPECT_EQ(read.ids, codes.ids) << bits << " " << n;
    }
  }
}

TEST(Foreign, RefusesOtherTypesByName) {
  EXPECT_THAT(Refusal(With(kFlat, 0, "IBwF")),
              AllOf(HasSubstr("IndexBinaryIVF"), HasSubstr("IndexBinaryFlat")));
  EXPECT_THAT(Refusal(With(kFlat, 0, "IBHf")), HasSubstr("IndexBinaryHNSW"));
  EXPECT_THAT(Refusal(With(kMapped, 25, "IBHm")), HasSubstr("IndexBinaryMultiHash"));
  EXPECT_THAT(Refusal(With(kMapped, 25, "IBMp")), HasSubstr("IndexBinaryIDMap (\"IBMp\")"));
  EXPECT_THAT(Refusal(With(kFlat, 0, "IxF2")), HasSubstr("\"IxF2\" that is not one of binary"));
  EXPECT_THAT(Refusal(With(kFlat, 0, "I\x01\x02\x03")), HasSubstr("no faiss index"));
  EXPECT_THAT(Refusal("\x93NUMPY"), HasSubstr("no faiss index"));
}

TEST(Foreign, RefusesSizesThatDoNotFit) {
  EXPECT_THAT(Refusal(""), HasSubstr("ends 4 bytes too early"));
  EXPECT_THAT(Refusal(With(kFlat, 4, "\x0c"s)), HasSubstr("codes of 12 bits"));
  EXPECT_THAT(Refusal(With(kFlat, 4, "\0"s)), HasSubstr("codes of 0 bits"));
  EXPECT_THAT(Refusal(With(kFlat, 4, "\xf8\xff\xff\xff"s)), HasSubstr("codes of -8 bits"));
  EXPECT_THAT(Refusal(With(kFlat, 4, "\x08\x04"s)), HasSubstr("codes of 1032 bits"));
  EXPECT_THAT(Refusal(With(kFlat, 8, "\x04"s)), HasSubstr("16 bits in 4 bytes"));
  EXPECT_THAT(Refusal(With(kFlat, 12, "\x04"s)), HasSubstr("6 values where 8 belong"));
  EXPECT_THAT(Refusal(With(kFlat, 16, "\x01"s)), HasSubstr("says it has 4294967299 codes"));
  EXPECT_THAT(Refusal(With(kFlat, 19, "\x80"s)), HasSubstr("-9223372036854775805 codes"));
  EXPECT_THAT(Refusal(With(kFlat, 20, "\x02"s)), HasSubstr("a flag has the value 2"));
  EXPECT_THAT(Refusal(With(kFlat, 25, "\x05"s)), HasSubstr("5 values where 6 belong"));
  // Both numbers agree on 2^32 - 1 codes, which are not there.
  const std::string many = With(With(kFlat, 12, "\xff\xff\xff\xff"s), 25, "\xfe\xff\xff\xff\x01"s);
  EXPECT_THAT(Refusal(many), HasSubstr("ends 8589934584 bytes too early"));  // 2^33 - 2 - 6
  EXPECT_THAT(Refusal(kFlat + "\0"s), HasSubstr("1 bytes follow"));
  EXPECT_THAT(Refusal(kMapped + kMapped), HasSubstr("bytes follow"));
  EXPECT_THAT(Refusal(kMapped.substr(0, kMapped.size() - 1)), HasSubstr("ends 1 bytes too early"));
  EXPECT_THAT(Refusal(With(kMapped, 12, "\x02"s)), HasSubstr("differ in number or length"));
  const size_t ids = kMapped.size() - kIds.size();
  EXPECT_THAT(Refusal(With(kMapped, ids, "\x02"s)), HasSubstr("2 values where 3 belong"));
  EXPECT_THAT(Refusal(With(kMapped, ids + 15, "\x80"s)), HasSubstr("must not be negative"));
}

TEST_F(ForeignTest, NamesTheFile) {
  EXPECT_THROW(ReadFaiss(path_), Error);
  WriteFile(path_, "IBwF");
  try {
    ReadFaiss(path_);
    ADD_FAILURE() << "read";
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr(path_.string()));
  }
}

TEST_F(ForeignTest, RefusesToWriteWhatItWouldNotRead) {
  EXPECT_THROW(WriteFaiss(path_, {}), Error);
  EXPECT_THROW(WriteFaiss(path_, {PackedCodes(2, 16), {1}}), Error);
  EXPECT_THROW(WriteFaiss(path_, {PackedCodes(2, 16), {1, -1}}), Error);
  EXPECT_THAT(std::filesystem::is_empty(folder_), true);
}

// Whatever the bytes, an answer or a refusal that names the file.
TEST(Foreign, DamagedFilesAreRefusedOrRead) {
  Random random(2, {}, "foreign");
  for (const std::string& whole : {kFlat, kMapped}) {
    for (size_t n = 0; n < whole.size(); ++n) {
      EXPECT_NE(Refusal(whole.substr(0, n)), "read") << n;
    }
    int read = 0;
    for (int i = 0; i < 20000; ++i) {
      std::string bytes = whole;
      for (uint64_t flips = 1 + random.Below(4); flips > 0; --flips) {
        bytes[random.Below(bytes.size())] = static_cast<char>(random.Below(256));
      }
      if (random.Below(4) == 0) bytes.resize(random.Below(bytes.size() + 20));
      read += Refusal(bytes) == "read";
    }
    EXPECT_GT(read, 0);  // a code or an id that changed is one all the same
    EXPECT_LT(read, 20000);
  }
  for (int i = 0; i < 5000; ++i) {
    std::string bytes = i % 2 ? "IBxF" : "IBMp";
    for (uint64_t n = random.Below(100); n > 0; --n) bytes += static_cast<char>(random.Below(256));
    EXPECT_NE(Refusal(bytes), "read");
  }
}

}  // namespace
}  // namespace crossilo
