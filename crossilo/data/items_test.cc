#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"
#include "crossilo/data/items_text.h"

namespace crossilo {
namespace {

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

TEST(Items, AwkwardCellsComeBackFromAFile) {
  const Items items{
      {"id", "caption"},
      {{"1", "tab\there"}, {"2", "line\nend\r"}, {"3", "back\\slash \\t"}, {"", "😀"}}};
  const auto path = std::filesystem::path(testing::TempDir()) / "items_test.tsv";
  WriteItems(path, items);
  EXPECT_EQ(ReadFile(path),
            "id\tcaption\n1\ttab\\there\n2\tline\\nend\\r\n3\tback\\\\slash \\\\t\n\t😀\n");
  const Items back = ReadItems(path);
  EXPECT_EQ(back.columns, items.columns);
  EXPECT_EQ(back.rows, items.rows);
}

TEST(Items, CellsAreFoundByColumn) {
  const Items items = ParseItems("id\thouse\n7\tnoto\n", "x", true);
  EXPECT_EQ(items.Cell(0, "house"), "noto");
  EXPECT_EQ(items.Cell(0, "caption"), "");
  EXPECT_EQ(items.Cell(1, "house"), "");
  EXPECT_EQ(items.Cell(-1, "house"), "");
  EXPECT_TRUE(items.Has("house"));
  EXPECT_FALSE(items.Has("House"));
}

TEST(Items, TablesFromElsewhere) {
  // A byte order mark, Windows line ends, no last line end.
  const Items items = ParseItems("\xEF\xBB\xBFid\ttext\r\n1\ta \\times b\r\n2\t", "x", false);
  EXPECT_THAT(items.columns, ElementsAre("id", "text"));
  EXPECT_EQ(items.Cell(0, "text"), "a \\times b");
  EXPECT_EQ(items.rows.size(), 2u);
  // With escapes, only the four we write mean something.
  EXPECT_EQ(ParseItems("a\n\\frac\\t\\\n", "x", true).Cell(0, "a"), "\\frac\t\\");
}

TEST(Items, FaultsNameTheirLine) {
  const auto say = [](const char* text) {
    return Message([&] { ParseItems(text, "items.tsv", true); });
  };
  EXPECT_EQ(say("a\tb\n1\t2\n3\n"),
            "items.tsv: line 3 has 1 cells but the first line names 2 columns");
  EXPECT_THAT(say("a\tb\n1\tcaf\xe9\n"), HasSubstr("line 2 is not UTF-8"));
  EXPECT_THAT(say("a\ta\n"), HasSubstr("two columns are called 'a'"));
  EXPECT_THAT(say("a\t\n"), HasSubstr("column 2 has no name"));
  EXPECT_THAT(say(""), HasSubstr("is empty"));
}

}  // namespace
}  // namespace crossilo
