#include "crossilo/data/collection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"
#include "crossilo/base/random.h"
#include "crossilo/base/remove_all.h"

namespace crossilo {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

// A fresh folder with pictures a.png, b.png, sub/c.png and this caption file.
fs::path Folder(const std::string& name, const std::string& captions) {
  const fs::path folder = fs::path(testing::TempDir()) / "collection_test" / name;
  RemoveAll(folder);
  for (const char* picture : {"a.png", "b.png", "sub/c.png"}) WriteFile(folder / picture, "x");
  WriteFile(folder / "captions.tsv", captions);
  return folder;
}

Collection Read(const fs::path& folder) {
  return ReadCaptionedFolder(folder, folder / "captions.tsv");
}

TEST(Collection, TwoColumnsNeedNoHeader) {
  const fs::path folder = Folder("pairs", "a.png\ta red dot\r\n\nsub/c.png\tein grüner Punkt\n");
  const Collection all = Read(folder);
  EXPECT_EQ(all.name, "pairs");
  EXPECT_THAT(all.words, ElementsAre("a red dot", "ein grüner Punkt"));
  EXPECT_EQ(all.items.Cell(1, "picture"), "sub/c.png");
  EXPECT_EQ(all.items.Cell(1, "id"), "1");
  EXPECT_EQ(all.PictureFile(1), folder / "sub/c.png");
  EXPECT_THAT(all.labels, IsEmpty());
}

TEST(Collection, HeaderNamesLabelsTagsAndSplits) {
  const Collection all = Read(Folder("header",
                                     "\xef\xbb\xbf"
                                     "id\tcaption\tpicture\tlabel\tlabel:coarse\ttags\tsplit\n"
                                     "x\tone\ta.png\tdog|cat\tpet\tfur\ttraining\n"
                                     "y\ttwo\tb.png\tcat\t\tmiaow\tquery\n"
                                     "z\tthree\tsub/c.png\tant\tpest\t\tretrieval\n"));
  EXPECT_THAT(all.words, ElementsAre("one fur", "two miaow", "three "));
  EXPECT_THAT(all.labels.at("").names, ElementsAre("ant", "cat", "dog"));
  EXPECT_THAT(all.labels.at("").of, ElementsAre(ElementsAre(1, 2), ElementsAre(1), ElementsAre(0)));
  EXPECT_THAT(all.labels.at("coarse").of, ElementsAre(ElementsAre(1), IsEmpty(), ElementsAre(0)));
  EXPECT_THAT(all.splits.at("training"), ElementsAre(0));
  EXPECT_THAT(all.splits.at("retrieval"), ElementsAre(0, 2));
  EXPECT_THAT(all.splits.at("query"), ElementsAre(1));
}

TEST(Collection, WrongFilesAreRefusedByName) {
  const auto refuses = [](const char* captions, const char* why) {
    const fs::path folder = Folder("wrong", captions);
    EXPECT_THAT([&] { Read(folder); }, ThrowsMessage<Error>(HasSubstr(why))) << captions;
  };
  refuses("", "no captions");
  refuses("picture\tcaption\n", "no captions below");
  refuses("a.png\tone\nb.png\n", "line 2: 1 columns, not 2");
  refuses("nowhere.png\tone\n", "'nowhere.png' is not in");
  refuses("sub\ta folder\n", "'sub' is not in");
  refuses("/etc/passwd\tone\n", "must be a file below");
  refuses("sub/../../wrong/a.png\tone\n", "must be a file below");
  refuses("\tone\n", "must be a file below");
  refuses("picture\tcaption\tcaption\na.png\tx\ty\n", "same name");
  refuses("picture\tcaption\tsplit\na.png\tx\ttest\n", "split 'test' is not known");
  refuses("picture\tcaption\tsplit\na.png\tx\tquery\n", "no row has the split training");
}

TEST(Collection, DamageNeverCrashes) {
  const std::string whole = "picture\tcaption\tlabel\na.png\tone\tx|y\nb.png\ttwo\tz\n";
  Random random(3);
  int refused = 0;
  for (int i = 0; i < 500; ++i) {
    std::string damaged = whole.substr(0, random.Below(2) ? whole.size() : random.Below(50));
    for (int hits = 0; hits < 3 && !damaged.empty(); ++hits) {
      damaged[random.Below(damaged.size())] = static_cast<char>(random.Bits());
    }
    const fs::path folder = Folder("damaged", damaged);
    try {
      Read(folder);
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 100);
}

TEST(SplitByKey, HoldsOutAFifthOfTheKeysWithAllTheirRows) {
  std::vector<std::string> keys;
  for (int row = 0; row < 3000; ++row) keys.push_back(std::to_string(row % 1000));
  const auto splits = SplitByKey(keys);
  EXPECT_EQ(splits.at("query").size(), 3u * 200);
  EXPECT_EQ(splits.at("training"), splits.at("retrieval"));
  std::set<std::string> held_out;
  for (int64_t row : splits.at("query")) held_out.insert(keys[row]);
  for (int64_t row : splits.at("training")) EXPECT_FALSE(held_out.contains(keys[row]));

  // A hundred keys more push few of the old ones over the line.
  for (int key = 1000; key < 1100; ++key) keys.push_back(std::to_string(key));
  int moved = 0;
  for (int64_t row : SplitByKey(keys).at("query"))
    moved += row < 3000 && !held_out.contains(keys[row]);
  EXPECT_LT(moved, 3 * 30);
}

}  // namespace
}  // namespace crossilo
