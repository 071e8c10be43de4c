#include "crossilo/data/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"
#include "crossilo/base/remove_all.h"
#include "crossilo/data/arrays.h"
#include "crossilo/data/silo.h"

namespace crossilo {
namespace {

namespace fs = std::filesystem;
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

Dataset Example() {
  Dataset dataset;
  dataset.name = "three \"pairs\"";
  dataset.licence = "CC0-1.0";
  dataset.source = "made up\nhere";
  dataset.image = torch::tensor({{1.0f, 2.0f}, {3.0f, 4.0f}, {5.0f, 6.0f}}, torch::kHalf);
  dataset.text = torch::tensor({{0.1f}, {0.2f}, {0.3f}});
  dataset.labels[""] = torch::tensor({{1, 0}, {0, 1}, {1, 1}}, torch::kByte);
  dataset.labels["fine"] = torch::tensor({{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, torch::kByte);
  dataset.class_names["fine"] = {"cat", "the \"dog\" \\ wolf", "bird"};
  dataset.splits = {{"query", {2}}, {"training", {1, 0}}};
  dataset.items = {{"id", "picture"},
                   {{"a", "pictures/a.png"}, {"b", "pictures/b.png"}, {"c", ""}}};
  dataset.text_embedding = {"tfidf", {{"grams", "3"}}, {{"idf", torch::ones({1})}}};
  return dataset;
}

fs::path Fresh(const std::string& name) {
  const fs::path path = fs::path(testing::TempDir()) / "dataset_test" / name;
  RemoveAll(path.parent_path());
  return path;
}

size_t Entries(const fs::path& folder) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(folder), {}));
}

TEST(Dataset, ComesBackFromItsFolder) {
  const fs::path folder = Fresh("set"), pictures = folder.parent_path() / "from";
  WriteFile(pictures / "a.png", "picture a");
  WriteFile(pictures / "b.png", "picture b");
  WriteDataset(folder, Example(), pictures);
  const Dataset back = OpenDataset(folder);
  EXPECT_EQ(back.name, Example().name);
  EXPECT_EQ(back.licence, Example().licence);
  EXPECT_EQ(back.source, Example().source);
  EXPECT_TRUE(torch::equal(back.image, Example().image));
  EXPECT_EQ(back.image.scalar_type(), torch::kHalf);
  EXPECT_TRUE(torch::equal(back.text, Example().text));
  EXPECT_TRUE(torch::equal(back.Labels(""), Example().Labels("")));
  EXPECT_TRUE(torch::equal(back.Labels("fine"), Example().Labels("fine")));
  EXPECT_EQ(back.class_names, Example().class_names);
  EXPECT_EQ(back.splits, Example().splits);
  EXPECT_EQ(back.items.rows, Example().items.rows);
  EXPECT_EQ(back.image_embedding.Fingerprint(), Example().image_embedding.Fingerprint());
  EXPECT_EQ(back.text_embedding.Fingerprint(), Example().text_embedding.Fingerprint());
  EXPECT_EQ(ReadFile(folder / "pictures" / "b.png"), "picture b");
  EXPECT_EQ(Entries(folder.parent_path()), 2u);  // nothing beside the set and its pictures
}

TEST(Dataset, WritingTwiceGivesTheSameBytesAndReplaces) {
  const fs::path folder = Fresh("set");
  WriteDataset(folder, Example());
  const std::string toml = ReadFile(folder / "dataset.toml");
  WriteFile(folder / "labels_old.npy", "left over");
  WriteDataset(folder, Example());
  EXPECT_EQ(ReadFile(folder / "dataset.toml"), toml);
  // A dataset may be written over the very files that it is mapped from.
  WriteDataset(folder, OpenDataset(folder));
  EXPECT_EQ(ReadFile(folder / "dataset.toml"), toml);
  EXPECT_TRUE(torch::equal(OpenDataset(folder).image, Example().image));
  EXPECT_FALSE(fs::exists(folder / "labels_old.npy"));
  EXPECT_EQ(Entries(folder.parent_path()), 1u);
}

TEST(Dataset, AFailedWriteLeavesWhatWasThere) {
  const fs::path folder = Fresh("set");
  WriteDataset(folder, Example());
  // No picture is where items say, so the second write must fail midway.
  EXPECT_THAT(Message([&] { WriteDataset(folder, Example(), folder / "none"); }),
              HasSubstr("there is no such picture"));
  EXPECT_EQ(OpenDataset(folder).size(), 3);
  EXPECT_EQ(Entries(folder.parent_path()), 1u);
}

TEST(Dataset, OtherFoldersAreNotReplaced) {
  const fs::path folder = Fresh("home");
  WriteFile(folder / "thesis.txt", "years of work");
  EXPECT_THAT(Message([&] { WriteDataset(folder, Example()); }), HasSubstr("is no dataset"));
  EXPECT_EQ(ReadFile(folder / "thesis.txt"), "years of work");
  EXPECT_THAT(Message([&] { OpenDataset(folder); }), HasSubstr("crossilo data import"));
  fs::remove(folder / "thesis.txt");
  WriteDataset(folder / "", Example());  // an empty folder is no loss
  EXPECT_EQ(OpenDataset(folder).size(), 3);
}

TEST(Dataset, CheckNamesTheFirstFault) {
  const auto say = [](const std::function<void(Dataset&)>& spoil) {
    Dataset dataset = Example();
    spoil(dataset);
    return Message([&] { Check(dataset, "set"); });
  };
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(say([](Dataset&) {}), "(no error)");
  EXPECT_THAT(say([](Dataset& d) {
                d.text = torch::zeros({2, 1});
              }),
              HasSubstr("3 rows of image features but 2 of text"));
  EXPECT_THAT(say([&](Dataset& d) {
                d.text = torch::tensor({{0.f}, {-inf}, {inf}});
              }),
              HasSubstr("row 1 of the text features has a NaN or an infinity"));
  EXPECT_THAT(say([](Dataset& d) { d.image[2][1] = std::nanf(""); }),
              HasSubstr("row 2 of the image"));
  EXPECT_THAT(say([](Dataset& d) { d.image = torch::zeros({0, 4}); }), HasSubstr("no samples"));
  EXPECT_THAT(say([](Dataset& d) {
                d.image = torch::zeros({3, 2}, torch::kInt);
              }),
              HasSubstr("float16 or float32"));
  EXPECT_THAT(say([](Dataset& d) { d.labels["fine"][0][0] = 2; }),
              HasSubstr("'fine' must be 0 or 1"));
  EXPECT_THAT(say([](Dataset& d) { d.labels["x/y"] = d.labels[""]; }), HasSubstr("need a name"));
  EXPECT_THAT(say([](Dataset& d) { d.class_names["fine"].pop_back(); }),
              HasSubstr("2 class names for labels 'fine', which have 3 classes"));
  EXPECT_THAT(say([](Dataset& d) { d.splits["query"] = {3}; }),
              HasSubstr("names row 3 but there are 3"));
  EXPECT_THAT(say([](Dataset& d) { d.splits["query"] = {-1}; }), HasSubstr("names row -1"));
  EXPECT_THAT(say([](Dataset& d) { d.splits["query"] = {1, 1}; }), HasSubstr("row 1 twice"));
  EXPECT_THAT(say([](Dataset& d) { d.splits["query"] = {}; }), HasSubstr("'query' is empty"));
  EXPECT_THAT(say([](Dataset& d) { d.items.rows.pop_back(); }), HasSubstr("2 rows of items"));
  EXPECT_THAT(say([](Dataset& d) { d.items.rows[0][1] = "pictures/../../secret"; }),
              HasSubstr("not below"));
  EXPECT_THAT(say([](Dataset& d) { d.items.rows[0][1] = "/etc/passwd"; }), HasSubstr("not below"));
}

// A sum of large numbers overflows though each is finite.
TEST(Dataset, LargeFeaturesAreNotTakenForInfinite) {
  Dataset dataset = Example();
  dataset.text = torch::full({3, 4}, 3e38f);
  EXPECT_EQ(Message([&] { Check(dataset, "set"); }), "(no error)");
}

TEST(Dataset, FilesThatDoNotBelongAreNamed) {
  const fs::path folder = Fresh("set");
  WriteDataset(folder, Example());
  const std::string toml = ReadFile(folder / "dataset.toml");
  WriteFile(folder / "dataset.toml", "licnce = 'x'\n" + toml);
  EXPECT_THAT(Message([&] { OpenDataset(folder); }), HasSubstr("did you mean 'licence'?"));
  WriteFile(folder / "dataset.toml", "format = 2\n");
  EXPECT_THAT(Message([&] { OpenDataset(folder); }), HasSubstr("newer Crossilo"));
  WriteFile(folder / "dataset.toml", toml);
  Embedding other = Example().text_embedding;
  other.settings["grams"] = "4";
  WriteEmbedding(folder / "embedding" / "text.safetensors", other);
  EXPECT_THAT(Message([&] { OpenDataset(folder); }), HasSubstr("not the embedding that"));
  RemoveAll(folder / "embedding");
  EXPECT_THAT(Message([&] { OpenDataset(folder); }), HasSubstr("of kind 'tfidf'"));
  WriteFile(folder / "dataset.toml", "");  // nothing in it is needed
  EXPECT_EQ(OpenDataset(folder).name, "set");
  WriteTensor(folder / "image.npy", torch::zeros({3, 2}, torch::kDouble));
  EXPECT_THAT(Message([&] { OpenDataset(folder); }), HasSubstr("not float64"));
}

TEST(Dataset, LevelsAndSplitsThereAreAreNamed) {
  EXPECT_EQ(Message([] { Example().Labels("coarse"); }),
            "dataset 'three \"pairs\"' has no labels 'coarse'; it has '', 'fine'");
  EXPECT_EQ(Message([] { Example().Split("retrieval"); }),
            "dataset 'three \"pairs\"' has no split 'retrieval'; it has 'query', 'training'");
}

TEST(Silo, GathersRowsAsFloats) {
  const Batch batch = Gather(Example(), {2, 0}, {"fine"});
  EXPECT_TRUE(torch::equal(batch.image, torch::tensor({{5.0f, 6.0f}, {1.0f, 2.0f}})));
  EXPECT_TRUE(torch::equal(batch.labels, torch::tensor({{0.0f, 0.0f, 1.0f}, {1.0f, 0.0f, 0.0f}})));
  EXPECT_FALSE(Gather(Example(), {0}, {"coarse"}).labels.defined());
  EXPECT_EQ(Gather(Example(), {}, {""}).size(), 0);
  const Batch second = batch.Select(torch::tensor({1}));
  EXPECT_TRUE(torch::equal(second.text, torch::tensor({{0.1f}})));
  EXPECT_EQ((Silo{0, "a", batch}).size(), 2);
}

}  // namespace
}  // namespace crossilo
