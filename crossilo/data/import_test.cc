#include "crossilo/data/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"
#include "crossilo/data/arrays.h"

namespace crossilo {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

std::string Message(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "(no error)";
}

std::string At(const std::string& name) {
  return (fs::path(testing::TempDir()) / "import_test" / name).string();
}

ImportOptions Example() {
  WriteTensor(At("image.npy"), torch::arange(12, torch::kInt).view({6, 2}));
  WriteTensor(At("text.npy"), torch::ones({6, 3}, torch::kDouble));
  WriteTensor(At("labels.npy"), torch::tensor({1, 2, 3, 1, 2, 3}));
  ImportOptions options;
  options.image = At("image.npy");
  options.text = At("text.npy");
  options.labels = {At("labels.npy")};
  return options;
}

TEST(Import, NumbersBecomeFloatsAndClassesColumns) {
  const Dataset dataset = ImportArrays(Example());
  EXPECT_EQ(dataset.image.scalar_type(), torch::kFloat);
  EXPECT_EQ(dataset.image[5][1].item<float>(), 11);
  EXPECT_EQ(dataset.text.scalar_type(), torch::kFloat);
  // No class 0, so classes count from 1: three columns, row 2 in the last.
  EXPECT_TRUE(torch::equal(dataset.Labels("")[2], torch::tensor({0, 0, 1}, torch::kByte)));
  EXPECT_EQ(dataset.name, "imported");
}

TEST(Import, LabelsFromZeroAndTablesKeepTheirColumns) {
  ImportOptions options = Example();
  WriteTensor(At("zero.npy"), torch::tensor({0, 2, 2, 0, 2, 2}));
  WriteTensor(At("table.npy"), torch::eye(6, torch::kDouble));
  WriteFile(At("classes.txt"), "a\nb\nc\n");
  options.labels = {At("zero.npy"), "fine=" + At("table.npy")};
  options.classes = {At("classes.txt")};
  const Dataset dataset = ImportArrays(options);
  EXPECT_TRUE(torch::equal(dataset.Labels("").sum(0), torch::tensor({2, 0, 4})));
  EXPECT_TRUE(torch::equal(dataset.Labels("fine"), torch::eye(6, torch::kByte)));
  EXPECT_THAT(dataset.class_names.at(""), ElementsAre("a", "b", "c"));
}

TEST(Import, MissingSplitsAreDealt) {
  std::map<std::string, Rows> none, query = {{"query", {1, 3}}}, training = {{"training", {0, 1}}};
  CompleteSplits(10, 1, none);
  EXPECT_THAT(none["query"], SizeIs(2));  // a fifth
  EXPECT_THAT(none["retrieval"], SizeIs(8));
  EXPECT_EQ(none["retrieval"], none["training"]);
  std::map<std::string, Rows> again;
  CompleteSplits(10, 1, again);
  EXPECT_EQ(again, none);
  CompleteSplits(4, 1, query);
  EXPECT_THAT(query["retrieval"], ElementsAre(0, 2));
  CompleteSplits(4, 1, training);
  EXPECT_THAT(training["query"], ElementsAre(2, 3));
  EXPECT_THAT(training["retrieval"], ElementsAre(0, 1));
  std::map<std::string, Rows> all = {{"training", {0, 1}}};
  EXPECT_THAT(Message([&] { CompleteSplits(2, 1, all); }), HasSubstr("give a query split"));
}

TEST(Import, ItemsAreTakenAsTheyStand) {
  ImportOptions options = Example();
  std::string table = "id\ttitle\n";
  for (int i = 0; i < 6; ++i) table += std::to_string(i) + "\tx \\times y\n";
  WriteFile(At("items.tsv"), table);
  options.items = At("items.tsv");
  options.caption = "title";
  EXPECT_EQ(ImportArrays(options).items.Cell(5, "caption"), "x \\times y");
  options.caption = "tilte";
  EXPECT_THAT(Message([&] { ImportArrays(options); }), HasSubstr("the columns are id, title"));
}

TEST(Import, FaultsAreNamed) {
  const auto say = [](const std::function<void(ImportOptions&)>& spoil) {
    ImportOptions options = Example();
    spoil(options);
    return Message([&] { ImportArrays(options); });
  };
  WriteTensor(At("five.npy"), torch::ones({5, 2}));
  WriteTensor(At("minus.npy"), torch::tensor({{-1, 1}, {1, 1}}));
  EXPECT_THAT(say([](auto& o) { o.text = At("five.npy"); }), HasSubstr("do the arrays hold one"));
  EXPECT_THAT(say([](auto& o) { o.labels = {At("minus.npy")}; }), HasSubstr("0 or 1 everywhere"));
  EXPECT_THAT(say([](auto& o) { o.splits = {At("labels.npy")}; }), HasSubstr("query=file"));
  EXPECT_THAT(say([](auto& o) { o.splits = {"query=" + At("labels.npy")}; }), HasSubstr("twice"));
  EXPECT_THAT(say([](auto& o) { o.image = At("none.npy"); }), HasSubstr("none.npy: cannot open"));
}

// The wikipedia set from its loose arrays, and the same set from the authors'
// .mat file, where samples are columns and rows count from 1.
TEST(Import, RealArraysBecomeADataset) {
  const char* shared = std::getenv("CROSSILO_SHARED");
  const fs::path wiki = fs::path(shared == nullptr ? "" : shared) / "data" / "wikipedia";
  if (shared == nullptr || !fs::exists(wiki)) GTEST_SKIP() << "no shared data here";
  const auto in = [&](const char* name) { return (wiki / name).string(); };
  ImportOptions options;
  options.image = in("image_cnn128.npy");
  options.text = in("text_tfidf_svd200.npy");
  options.labels = {in("labels.npy")};
  options.classes = {in("categories.list")};
  options.splits = {"training=" + in("train.npy"), "query=" + in("test.npy"),
                    "retrieval=" + in("train.npy")};
  options.items = in("items.tsv.gz");
  options.caption = "text";
  const fs::path folder = At("wikipedia");
  WriteDataset(folder, ImportArrays(options));
  const Dataset set = OpenDataset(folder);
  EXPECT_EQ(set.size(), 2866);
  EXPECT_EQ(set.Split("query").size(), 693u);
  EXPECT_EQ(set.class_names.at("")[0], "art");
  EXPECT_EQ(set.items.rows.size(), 2866u);

  ImportOptions published;
  const std::string mat = in("RoPH_wiki_cnn128_w2v100.mat");
  published.image = mat + ":data.X1";
  published.text = mat + ":data.X2";
  published.labels = {mat + ":data.Y"};
  published.splits = {"query=" + mat + ":data.split.ind_test",
                      "training=" + mat + ":data.split.ind_train"};
  published.transpose = true;
  const Dataset same = ImportArrays(published);
  EXPECT_TRUE(torch::equal(same.image, set.image));
  EXPECT_TRUE(torch::equal(same.Labels(""), set.Labels("")));
  EXPECT_EQ(same.Split("query")[0], 734);  // 735 in the file
  EXPECT_EQ(same.Split("retrieval").size(), 2173u);
}

}  // namespace
}  // namespace crossilo
