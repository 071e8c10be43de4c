#include "crossilo/serve/pictures.h"

#include <gtest/gtest.h>

#include "crossilo/base/file.h"
#include "crossilo/serve/test_site.h"

namespace crossilo {
namespace {

namespace fs = std::filesystem;

TEST(Pictures, TypeIsByContent) {
  EXPECT_EQ(PictureType(PictureOfCode(0)), "image/png");
  EXPECT_EQ(PictureType("\xFF\xD8\xFF\xE0 and more"), "image/jpeg");
  EXPECT_EQ(PictureType(std::string_view("RIFF\0\0\0\0WEBPVP8 ", 16)), "image/webp");
  EXPECT_EQ(PictureType(std::string_view("RIFF\0\0\0\0WAVE", 12)), "");
  EXPECT_EQ(PictureType("RIFF"), "");
  EXPECT_EQ(PictureType("<svg onload=...>"), "");
  EXPECT_EQ(PictureType(""), "");
}

class PictureOf : public testing::Test {
 protected:
  PictureOf() {
    WriteFile(folder_ / "source/cat.png", PictureOfCode(0));
    WriteFile(folder_ / "source/deep/dog.png", PictureOfCode(1));
    WriteFile(folder_ / "second/bird.png", PictureOfCode(2));
    WriteFile(folder_ / "secret.png", PictureOfCode(3));
    WriteFile(folder_ / "source-2/near.png", PictureOfCode(4));
    fs::create_symlink(folder_ / "secret.png", folder_ / "source/out.png");
    fs::create_symlink(folder_ / "source/cat.png", folder_ / "source/in.png");
    fs::create_directory_symlink(folder_.path(), folder_ / "source/up");
    site_ = SiteOf({}, 1, {folder_ / "source", folder_ / "second", folder_ / "missing"});
  }

  fs::path Of(const std::string& facts) const { return site_->PictureOf({.facts = facts}); }
  fs::path Real(const std::string& name) const { return fs::canonical(folder_ / name); }

  TestFolder folder_{"pictures"};
  std::shared_ptr<Site> site_;
};

TEST_F(PictureOf, IsBelowItsSource) {
  EXPECT_EQ(Of(R"({"picture":"cat.png"})"), Real("source/cat.png"));
  EXPECT_EQ(Of(R"({"picture":"deep/../deep/dog.png"})"), Real("source/deep/dog.png"));
  EXPECT_EQ(Of(R"({"picture":"bird.png","source":1})"), Real("second/bird.png"));
  EXPECT_EQ(Of(R"({"picture":"in.png"})"), Real("source/cat.png"));
}

TEST_F(PictureOf, IsNeverOutside) {
  const std::string absolute = (folder_ / "secret.png").string();
  for (const std::string& picture :
       {std::string("../secret.png"), std::string("../source-2/near.png"), absolute,
        std::string("out.png"), std::string("up/secret.png"), std::string("deep/../../secret.png"),
        std::string("cat.png\\u0000.txt"), std::string("/etc/passwd"), std::string("."),
        std::string(""), std::string("deep"), std::string("missing.png"),
        std::string(100'000, 'a')}) {
    EXPECT_EQ(Of("{\"picture\":\"" + picture + "\"}"), fs::path()) << picture.substr(0, 80);
  }
  for (const char* source : {"3", "2", "-1", "1e9", "\"0\"", "4294967296"}) {
    EXPECT_EQ(Of(std::string(R"({"picture":"cat.png","source":)") + source + "}"), fs::path());
  }
  EXPECT_EQ(Of("no JSON"), fs::path());
}

}  // namespace
}  // namespace crossilo
