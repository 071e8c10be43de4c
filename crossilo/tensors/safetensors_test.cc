#include "crossilo/tensors/safetensors.h"

#include <gtest/gtest.h>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"
#include "crossilo/base/random.h"

namespace crossilo {
namespace {

TensorFile Example() {
  return {{{"w", torch::arange(6, torch::kFloat).view({2, 3})},
           {"empty", torch::zeros({0, 4})},
           {"scalar", torch::tensor(7.0)},
           {"half", torch::ones({3}, torch::kHalf)},
           {"bytes", torch::tensor({1, 2, 3}, torch::kByte)}},
          {{"base", "dcmh"}, {"note", "a \"quoted\" line\n"}}};
}

TEST(Safetensors, RoundTripsEveryTypeAndShape) {
  const TensorFile file = Example();
  const TensorFile back = DecodeTensors(EncodeTensors(file), "memory");
  EXPECT_EQ(back.metadata, file.metadata);
  ASSERT_EQ(back.tensors.size(), file.tensors.size());
  for (const auto& [name, tensor] : file.tensors) {
    EXPECT_TRUE(torch::equal(tensor, back.tensors.at(name))) << name;
    EXPECT_EQ(tensor.scalar_type(), back.tensors.at(name).scalar_type()) << name;
  }
  EXPECT_EQ(EncodeTensors(back), EncodeTensors(file));
}

TEST(Safetensors, BytesAreThoseOfTheFormat) {
  const std::string bytes = EncodeTensors({{{"a", torch::ones({1})}}, {}});
  const std::string header = R"({"a":{"data_offsets":[0,4],"dtype":"F32","shape":[1]}})";
  EXPECT_EQ(bytes.substr(8, header.size()), header);
  EXPECT_EQ(bytes.substr(bytes.size() - 4), std::string("\0\0\x80\x3f", 4));  // 1.0f
}

// Every truncation and thousands of damaged copies: an Error or a file that
// was still whole, never a crash (this runs under the sanitizers too).
TEST(Safetensors, DamageIsRefusedNeverCrashes) {
  const std::string whole = EncodeTensors(Example());
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW(DecodeTensors(whole.substr(0, size), "cut"), Error) << size;
  }
  Random random(11);
  int refused = 0;
  for (int i = 0; i < 5000; ++i) {
    std::string damaged = whole;
    for (uint64_t hits = 1 + random.Below(4); hits > 0; --hits) {
      damaged[random.Below(damaged.size())] = static_cast<char>(random.Bits());
    }
    try {
      DecodeTensors(damaged, "damaged");
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
}

TEST(Safetensors, LyingHeadersAreRefused) {
  const auto with = [](std::string header) {
    std::string bytes(8, '\0');
    bytes[0] = static_cast<char>(header.size());
    return bytes + header + std::string(16, 'x');
  };
  for (const char* header :
       {R"({"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,16]}})",
        R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})",
        R"({"a":{"dtype":"F32","shape":[4],"data_offsets":[0,99]}})",
        R"({"a":{"dtype":"F32","shape":[4],"data_offsets":[16,0]}})",
        R"({"a":{"dtype":"F99","shape":[4],"data_offsets":[0,16]}})", R"([1])", R"({"a":1})"}) {
    EXPECT_THROW(DecodeTensors(with(header), "lie"), Error) << header;
  }
}

TEST(Safetensors, FilesKeepWhatWasWritten) {
  const auto path = std::filesystem::path(testing::TempDir()) / "safetensors_test.safetensors";
  WriteTensors(path, Example());
  EXPECT_EQ(EncodeTensors(ReadTensors(path)), EncodeTensors(Example()));
}

}  // namespace
}  // namespace crossilo
