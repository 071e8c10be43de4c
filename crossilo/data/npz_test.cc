#include "crossilo/data/npz.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdlib>
#include <cstring>
#include <fstream>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"
#include "crossilo/base/random.h"
#include "crossilo/data/inflate.h"
#include "crossilo/data/npy.h"

namespace crossilo {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Number(uint64_t value, int width) {
  std::string out;
  for (int i = 0; i < width; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}

std::string Deflated(const std::string& content) {
  z_stream z{};
  deflateInit2(&z, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&z, content.size()), '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  z.avail_in = static_cast<uInt>(content.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

// A zip file, written from the format's own description; with `wide`, sizes
// and offsets stand in zip64 extra fields as numpy has them.
std::string Zip(const std::map<std::string, std::string>& members, bool deflate, bool wide) {
  std::string body, directory;
  for (const auto& [name, content] : members) {
    const std::string packed = deflate ? Deflated(content) : content;
    const uint32_t crc = crc32(0, reinterpret_cast<const Bytef*>(content.data()), content.size());
    const uint64_t none = 0xFFFFFFFF;
    const std::string sizes = Number(crc, 4) + Number(wide ? none : packed.size(), 4) +
                              Number(wide ? none : content.size(), 4) + Number(name.size(), 2);
    const std::string numbers = Number(content.size(), 8) + Number(packed.size(), 8);
    const std::string local = wide ? Number(1, 2) + Number(16, 2) + numbers : "";
    const std::string extra =
        wide ? Number(1, 2) + Number(24, 2) + numbers + Number(body.size(), 8) : "";
    const std::string method = Number(20, 2) + Number(0, 2) + Number(deflate ? 8 : 0, 2);
    directory += "PK\1\2" + Number(20, 2) + method + Number(0, 4) + sizes +
                 Number(extra.size(), 2) + Number(0, 2) + Number(0, 8) +
                 Number(wide ? none : body.size(), 4) + name + extra;
    body +=
        "PK\3\4" + method + Number(0, 4) + sizes + Number(local.size(), 2) + name + local + packed;
  }
  std::string end = "PK\5\6" + Number(0, 4) + Number(members.size(), 2) +
                    Number(members.size(), 2) + Number(directory.size(), 4) +
                    Number(body.size(), 4) + Number(0, 2);
  if (wide) {
    end = "PK\6\6" + Number(44, 8) + Number(45, 4) + Number(0, 8) + Number(members.size(), 8) +
          Number(members.size(), 8) + Number(directory.size(), 8) + Number(body.size(), 8) +
          "PK\6\7" + Number(0, 4) + Number(body.size() + directory.size(), 8) + Number(1, 4) + end;
  }
  return body + directory + end;
}

std::string Example(bool deflate, bool wide) {
  const std::string texts = "\x93NUMPY\1" + Number(0, 1) + Number(57, 2) +
                            "{'descr': '|S2', 'fortran_order': False, 'shape': (2,), }" + "hiyo";
  return Zip({{"a.npy", NpyHeader(Dtype::kU8, {2, 2}) + "\1\2\3\4"},
              {"note.txt", "no array"},
              {"texts.npy", texts}},
             deflate, wide);
}

fs::path Path() { return fs::path(testing::TempDir()) / "npz_test.npz"; }

// Without WriteFile's sync, which hundreds of damaged copies need not wait for.
void Overwrite(const std::string& content) { std::ofstream(Path(), std::ios::binary) << content; }

TEST(Npz, StoredDeflatedAndZip64AreRead) {
  for (bool deflate : {false, true}) {
    for (bool wide : {false, true}) {
      Overwrite(Example(deflate, wide));
      const auto arrays = ReadNpz(Path());
      ASSERT_EQ(arrays.size(), 1u);
      EXPECT_THAT(arrays.at("a").shape, ElementsAre(2, 2));
      EXPECT_EQ(arrays.at("a").bytes[3], std::byte{4});
      EXPECT_THAT(ReadNpzStrings(Path(), "texts"), ElementsAre("hi", "yo"));
    }
  }
  try {
    ReadNpzStrings(Path(), "words");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("has no array 'words'; it has a, texts"));
  }
}

// Every truncation is refused; every byte changed is refused or leaves the
// arrays as they were, because each member carries a checksum.
TEST(Npz, DamageIsRefusedNeverCrashes) {
  for (bool deflate : {false, true}) {
    const std::string whole = Example(deflate, true);
    for (size_t size = 0; size < whole.size(); size += 3) {
      Overwrite(whole.substr(0, size));
      EXPECT_THROW(ReadNpz(Path()), Error) << size;
    }
    Random random(5);
    int refused = 0;
    for (int i = 0; i < 1000; ++i) {
      std::string damaged = whole;
      damaged[random.Below(damaged.size())] = static_cast<char>(random.Bits());
      Overwrite(damaged);
      try {
        const auto arrays = ReadNpz(Path());
        if (arrays.contains("a")) {
          EXPECT_EQ(arrays.at("a").bytes[3], std::byte{4});
        }
      } catch (const Error&) {
        ++refused;
      }
    }
    EXPECT_GT(refused, 200);
  }
}

TEST(Npz, GzFilesAreUnpackedAndDamageNamed) {
  const fs::path path = fs::path(testing::TempDir()) / "npz_test.gz";
  const std::string text(100000, 'a');
  gzFile out = gzopen(path.c_str(), "wb");
  gzwrite(out, text.data(), static_cast<unsigned>(text.size()));
  gzclose(out);
  EXPECT_EQ(ReadPlainOrGz(path), text);
  const std::string packed = ReadFile(path);
  for (size_t size = 2; size < packed.size(); ++size) {
    std::ofstream(path, std::ios::binary) << packed.substr(0, size);
    EXPECT_THROW(ReadPlainOrGz(path), Error) << size;
  }
  WriteFile(path, "plain");
  EXPECT_EQ(ReadPlainOrGz(path), "plain");
}

TEST(Npz, WordVectorsReadAsNumpyReadsThem) {
  const char* shared = std::getenv("CROSSILO_SHARED");
  const fs::path path =
      fs::path(shared == nullptr ? "" : shared) / "backbones" / "glove6B_100d_top60k_f16.npz";
  if (shared == nullptr || !fs::exists(path)) GTEST_SKIP() << "no word vectors here";
  const auto words = ReadNpzStrings(path, "words");
  ASSERT_EQ(words.size(), 60000u);
  EXPECT_EQ(words[0], "the");
  EXPECT_EQ(words[1319], "“");
  EXPECT_EQ(words[59999], "sanding");
  const auto arrays = ReadNpz(path);
  ASSERT_EQ(arrays.size(), 1u);
  EXPECT_EQ(arrays.at("vectors").type, Dtype::kF16);
  EXPECT_THAT(arrays.at("vectors").shape, ElementsAre(60000, 100));
}

}  // namespace
}  // namespace crossilo
