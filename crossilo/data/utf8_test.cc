#include "crossilo/data/utf8.h"

#include <gtest/gtest.h>

namespace crossilo {
namespace {

// Every code point, written and judged: valid unless it is a surrogate.
TEST(Utf8, EveryCharacterIsWrittenValid) {
  for (char32_t code = 0; code <= 0x10FFFF; ++code) {
    std::string text;
    AppendUtf8(code, text);
    ASSERT_TRUE(IsUtf8(text)) << static_cast<uint32_t>(code);
  }
  std::string text;
  AppendUtf8(U'a', text);
  AppendUtf8(U'é', text);
  AppendUtf8(U'“', text);
  AppendUtf8(U'😀', text);
  EXPECT_EQ(text, "aé“😀");
  std::string replaced;
  AppendUtf8(0xD800, replaced);
  AppendUtf8(0x110000, replaced);
  EXPECT_EQ(replaced, "\uFFFD\uFFFD");
}

TEST(Utf8, WhatIsNoUtf8IsRefused) {
  for (const char* bytes : {"\xff", "\x80", "caf\xe9", "\xc3", "\xe2\x80", "\xf0\x9f\x98",
                            "\xc0\xaf", "\xe0\x80\xaf", "\xf0\x80\x80\xaf",  // overlong '/'
                            "\xed\xa0\x80",                                  // a surrogate
                            "\xf4\x90\x80\x80"}) {                           // above U+10FFFF
    EXPECT_FALSE(IsUtf8(bytes)) << bytes;
  }
  EXPECT_TRUE(IsUtf8(""));
}

}  // namespace
}  // namespace crossilo
