#include "crossilo/embed/near_words.h"

#include <gtest/gtest.h>

#include <set>

#include "crossilo/base/random.h"
#include "crossilo/embed/terms.h"

namespace crossilo {
namespace {

TEST(NearWords, LikenessIsDicesCoefficient) {
  // smile: _sm smi mil ile le_; smiled: _sm smi mil ile led ed_: 4 shared.
  EXPECT_DOUBLE_EQ(Spelling("smile").Likeness(Spelling("smiled")), 2.0 * 4 / (5 + 6));
  EXPECT_DOUBLE_EQ(Spelling("smiled").Likeness(Spelling("smile")), 2.0 * 4 / (5 + 6));
  EXPECT_EQ(Spelling("café").Likeness(Spelling("café")), 1);
  // cat: _ca cat at_; car: _ca car ar_: 2 / 6 is below the least.
  EXPECT_EQ(Spelling("cat").Likeness(Spelling("car")), 0);
  EXPECT_EQ(Spelling("").Likeness(Spelling("")), 0);
  EXPECT_EQ(Spelling("猫").Likeness(Spelling("猫")), 0);  // no runs of letters
}

TEST(NearWords, MarksRuleOutOnlyWhatIsTooUnlike) {
  Random random(9);
  const auto word = [&] {
    std::string text;
    for (uint64_t left = 1 + random.Below(9); left > 0; --left) text += "abc"[random.Below(3)];
    return text;
  };
  int alike = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::string a = word(), b = word();
    const auto of = [](const std::string& text) {
      const auto runs = Ngrams(text, 3, 3);
      return std::set<std::string>(runs.begin(), runs.end());
    };
    const auto first = of(a), second = of(b);
    double shared = 0;
    for (const std::string& run : first) shared += second.contains(run);
    double dice = 2 * shared / static_cast<double>(first.size() + second.size());
    if (dice < kLeastLikeness) dice = 0;
    alike += dice > 0;
    EXPECT_DOUBLE_EQ(Spelling(a).Likeness(Spelling(b)), dice) << a << " " << b;
  }
  EXPECT_GT(alike, 100);
}

TEST(NearWords, TheThreeLikestComeFirst) {
  std::vector<Spelling> among;
  for (const char* word : {"dog", "smiled", "smiles", "smiling", "smile", "smiler"}) {
    among.emplace_back(word);
  }
  const auto near = Nearest(Spelling("smile"), among);
  ASSERT_EQ(near.size(), 3u);
  EXPECT_EQ(near[0].number, 4);
  EXPECT_EQ(near[0].likeness, 1);
  EXPECT_EQ(near[1].number, 1);  // before smiles and smiler, which are as like
  EXPECT_EQ(near[2].number, 2);
  EXPECT_TRUE(Nearest(Spelling("zebra"), among).empty());
}

}  // namespace
}  // namespace crossilo
