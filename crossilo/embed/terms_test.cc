#include "crossilo/embed/terms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "crossilo/base/random.h"
#include "crossilo/data/utf8.h"

namespace crossilo {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Words, AreLowerCaseRunsOfLetters) {
  EXPECT_THAT(Words("The CAT's 2nd-best hat, a cat!"),
              ElementsAre("the", "cat", "s", "2nd", "best", "hat", "a", "cat"));
  EXPECT_THAT(Words(" \t.,-"), IsEmpty());
}

TEST(Words, OtherAlphabetsAreLoweredToo) {
  EXPECT_THAT(Words("ÄRGER Ÿ Čeština ŁÓDŹ ŽENA ĽAD"),
              ElementsAre("ärger", "ÿ", "čeština", "łódź", "žena", "ľad"));
  EXPECT_THAT(Words("ΓΆΤΑ Ώρα ΛΌΓΟΣ λόγος"), ElementsAre("γάτα", "ώρα", "λόγοσ", "λόγοσ"));
  EXPECT_THAT(Words("КОШКА Ёж ЇЖАК Ґанок"), ElementsAre("кошка", "ёж", "їжак", "ґанок"));
  EXPECT_THAT(Words("VIỆT ＡＢ"), ElementsAre("việt", "ａｂ"));
}

TEST(Words, ScriptsWithoutSpacesAreCutIntoCharacters) {
  EXPECT_THAT(Words("笑う猫。cat"), ElementsAre("笑", "う", "猫", "cat"));
  EXPECT_THAT(Words("웃는 고양이"), ElementsAre("웃는", "고양이"));  // Korean has spaces
  EXPECT_THAT(Words("हँसती बिल्ली"), ElementsAre("हँसती", "बिल्ली"));    // vowel marks stay
  EXPECT_THAT(Words("a😀😺b"), ElementsAre("a", "😀", "😺", "b"));
}

TEST(Words, WrongUtf8SeparatesWords) {
  EXPECT_THAT(Words("ab\xff"
                    "cd\xc3"),
              ElementsAre("ab", "cd"));
  EXPECT_THAT(Words("x\xc0\xafy\xed\xa0\x80z"), ElementsAre("x", "y", "z"));
}

TEST(Ngrams, HaveTheirWordsEndsMarked) {
  EXPECT_THAT(Ngrams("Ab cde", 3, 4),
              ElementsAre("#_ab", "#ab_", "#_ab_", "#_cd", "#cde", "#de_", "#_cde", "#cde_"));
  EXPECT_THAT(Ngrams("äö", 3, 3), ElementsAre("#_äö", "#äö_"));
  EXPECT_THAT(Ngrams("笑う猫", 3, 4), ElementsAre("#笑う", "#う猫"));
  EXPECT_THAT(Ngrams("abc", 3, 2), IsEmpty());
}

TEST(Terms, AnyBytesGiveUtf8WithoutLineEnds) {
  Random random(9);
  for (int i = 0; i < 2000; ++i) {
    std::string text;
    for (uint64_t n = random.Below(40); n > 0; --n) text += static_cast<char>(random.Bits());
    for (const auto& terms : {Words(text), Ngrams(text, 2, 4)}) {
      for (const std::string& term : terms) {
        EXPECT_TRUE(IsUtf8(term));
        EXPECT_EQ(term.find('\n'), std::string::npos);
      }
    }
  }
}

}  // namespace
}  // namespace crossilo
