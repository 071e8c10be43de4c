#include "crossilo/cli/table.h"

#include <gtest/gtest.h>

namespace crossilo {
namespace {

TEST(Table, NumbersRightWordsLeft) {
  TextTable table({"method", "i2t", "seconds"});
  table.Row({"local", "0.2", "9"}).Row({"centralized", "0.4512", "10.5"}).Row({"fedavg", "-"});
  EXPECT_EQ(table.Text(),
            "method          i2t  seconds\n"
            "-----------  ------  -------\n"
            "local           0.2        9\n"
            "centralized  0.4512     10.5\n"
            "fedavg            -\n");
}

TEST(Table, OneWordMakesAColumnOfWords) {
  TextTable table({"key", "value"});
  table.Row({"a", "1"}).Row({"b", "iid"});
  EXPECT_EQ(table.Text(), "key  value\n---  -----\na    1\nb    iid\n");
}

TEST(Table, DeviationsAndUnitsAreNumbers) {
  TextTable table({"x"});
  table.Row({".37 ± .01"}).Row({"12 MB"}).Row({"-3%"}).Row({"1e-05"});
  EXPECT_EQ(table.Text(), "        x\n---------\n.37 ± .01\n    12 MB\n      -3%\n    1e-05\n");
}

TEST(Table, WideCharactersTakeTwoColumns) {
  TextTable table({"hit", "caption"});
  table.Row({"😺", "cat"}).Row({"日本", "land"}).Row({"é", "letter"});
  EXPECT_EQ(table.Text(),
            "hit   caption\n"
            "----  -------\n"
            "😺    cat\n"
            "日本  land\n"
            "é     letter\n");
}

TEST(Table, KeepsItsShape) {
  TextTable table({"a", "b"});
  table.Row({"one\ntwo\t3", "x", "dropped"});
  EXPECT_EQ(table.Text(), "a          b\n---------  -\none two 3  x\n");
  EXPECT_EQ(TextTable({"a"}).Text(), "a\n-\n");
  EXPECT_EQ(TextTable({}).Row({"x"}).Text(), "\n\n\n");
}

// A caption may come from somebody else.
TEST(Table, NothingInACellCommandsTheTerminal) {
  TextTable table({"a"});
  table.Row(
      {"\x1b[31mred\x7f \xc2\x9b"
       "2J \xc2\xa9"});  // ESC, DEL, CSI; U+00A9 stays
  EXPECT_EQ(table.Text(), "a\n----------------\n [31mred    2J \xc2\xa9\n");
}

TEST(Columns, OfSequences) {
  EXPECT_EQ(Columns(""), 0);
  EXPECT_EQ(Columns("abc"), 3);
  EXPECT_EQ(Columns("größe"), 5);
  EXPECT_EQ(Columns("e\u0301"), 1);                                     // e and a combining accent
  EXPECT_EQ(Columns("\u2764"), 1);                                      // a heart as text
  EXPECT_EQ(Columns("\u2764\ufe0f"), 2);                                // the same, drawn as emoji
  EXPECT_EQ(Columns("\U0001f44d\U0001f3fd"), 2);                        // thumb and its skin tone
  EXPECT_EQ(Columns("\U0001f468\u200d\U0001f469\u200d\U0001f467"), 2);  // a family, joined
  EXPECT_EQ(Columns("\U0001f1e9\U0001f1ea"), 2);                        // two letters make one flag
  EXPECT_EQ(Columns("한국어"), 6);
}

TEST(Columns, BytesThatAreNoUtf8TakeOneEach) {
  EXPECT_EQ(Columns("\xff\xfe"), 2);
  EXPECT_EQ(Columns("a\xe6\x97"), 3);  // a character cut short
  EXPECT_EQ(Columns("\xc3("), 2);
}

}  // namespace
}  // namespace crossilo
