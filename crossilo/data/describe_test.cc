#include "crossilo/data/describe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "crossilo/base/error.h"
#include "crossilo/data/generate.h"

namespace crossilo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Classes a a a b | b b c c; row 7 has both b and c.
Dataset Small() {
  Dataset out;
  out.name = "small";
  out.licence = "CC0-1.0";
  out.image = torch::zeros({8, 5}, torch::kHalf);
  out.text = torch::zeros({8, 3});
  out.labels[""] = torch::zeros({8, 3}, torch::kByte);
  const int classes[8] = {0, 0, 0, 1, 1, 1, 2, 2};
  for (int i = 0; i < 8; ++i) out.labels[""][i][classes[i]] = 1;
  out.labels[""][7][1] = 1;
  out.class_names[""] = {"a", "b", "c"};
  out.splits = {{"training", {0, 1, 2, 3, 4, 5, 6, 7}}, {"query", {0}}};
  return out;
}

const Partition kHalves = {{"left", "right"}, {{0, 1, 2, 3}, {4, 5, 6, 7}}};

TEST(Describe, CountsByHand) {
  const Dataset dataset = Small();
  const Description d = Describe(dataset, &kHalves, "");
  EXPECT_THAT(d.counts, ElementsAre(ElementsAre(3, 1, 0), ElementsAre(0, 3, 2)));
  EXPECT_THAT(d.totals, ElementsAre(4, 4));
  EXPECT_THAT(d.present, ElementsAre(2, 2));
  EXPECT_EQ(d.labels_per_sample, 9.0 / 8);
  EXPECT_EQ(d.image_type, "float16");
  // Pooled mix 3/9, 4/9, 2/9.  Left 3/4, 1/4, 0: half of 15/36 + 7/36 + 8/36 =
  // 15/36.  Right 0, 3/5, 2/5: half of 15/45 + 7/45 + 8/45 = 15/45.
  EXPECT_NEAR(d.imbalance, (15.0 / 36 + 15.0 / 45) / 2, 1e-12);
}

TEST(Describe, TextIsAligned) {
  const std::string text = DescribeText(Describe(Small(), &kHalves, ""));
  EXPECT_THAT(text, HasSubstr("small: 8 samples\n"));
  EXPECT_THAT(text, HasSubstr("3 classes, 1.12 a sample"));
  EXPECT_THAT(text, HasSubstr("licence  CC0-1.0"));
  EXPECT_THAT(text, HasSubstr("silo   a  b  c  total  classes\n"
                              "left   3  1  0      4        2\n"
                              "right  0  3  2      4        2\n"));
  EXPECT_THAT(text, HasSubstr("Imbalance 0.375"));
}

TEST(Describe, WithoutPartitionOrLabelsShowsWhatThereIs) {
  Dataset dataset = Small();
  const std::string splits = DescribeText(Describe(dataset, nullptr, ""));
  EXPECT_THAT(splits, HasSubstr("query     1  0  0      1        1\n"));
  EXPECT_THAT(splits, Not(HasSubstr("Imbalance")));
  EXPECT_THROW(Describe(dataset, nullptr, "fine"), Error);
  dataset.labels.clear();
  const Description bare = Describe(dataset, &kHalves, "");
  EXPECT_THAT(DescribeText(bare), HasSubstr("left       4\n"));
  EXPECT_THAT(DescribeSvg(bare), HasSubstr(">left</text>"));
}

TEST(Describe, ManyClassesBecomeBlocks) {
  const Dataset dataset = Generate({.samples = 600, .classes = 30});
  const Partition partition = Deal(dataset, {.kind = "dirichlet", .silos = 4, .beta = 0.3}, 1);
  const std::string text = DescribeText(Describe(dataset, &partition, ""));
  EXPECT_THAT(text, HasSubstr("█"));
  std::istringstream lines(text);
  int rows = 0;
  for (std::string line; std::getline(lines, line);) {
    const size_t from = line.find('|'), to = line.rfind('|');
    if (from == std::string::npos) continue;
    ++rows;
    int columns = 0;  // blocks take three bytes, blanks one
    for (size_t i = from + 1; i < to; ++i) columns += (line[i] & 0xc0) != 0x80;
    EXPECT_EQ(columns, 30);
  }
  EXPECT_EQ(rows, 4);
}

TEST(Describe, SvgEscapesNamesAndHasATooltipForEveryCount) {
  Dataset dataset = Small();
  dataset.name = "<b>&\"x\"";
  dataset.class_names[""][1] = "b<script>alert(1)</script>";
  const std::string svg = DescribeSvg(Describe(dataset, &kHalves, ""));
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
  EXPECT_THAT(svg, Not(HasSubstr("<b>")));
  EXPECT_THAT(svg, HasSubstr("&lt;b&gt;&amp;&quot;x&quot;"));
  EXPECT_THAT(svg, HasSubstr("<title>left, a: 3</title>"));
  EXPECT_THAT(svg, HasSubstr("<title>right, c: 2</title>"));
  EXPECT_THAT(svg, Not(HasSubstr("left, c: 0")));
  // Tags balance: every circle and text that opens closes.
  const auto count = [&](const std::string& what) {
    size_t found = 0;
    for (size_t at = 0; (at = svg.find(what, at)) != std::string::npos; ++at) ++found;
    return found;
  };
  EXPECT_EQ(count("<text "), count("</text>"));
  EXPECT_EQ(count("<circle "), count("</circle>"));
  EXPECT_EQ(count("</svg>"), 1u);
}

}  // namespace
}  // namespace crossilo
