#include "crossilo/base/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "crossilo/base/error.h"

namespace crossilo {
namespace {

using ::testing::HasSubstr;

std::string Message(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "(no error)";
}

TEST(Config, GivesWhatStandsThereAndDefaultsForTheRest) {
  Config config = Config::Parse("seed = 7\n[model]\nbits = 64\nlr = 1\n", "x.toml");
  EXPECT_EQ(config.Int("seed", 1, "the seed"), 7);
  EXPECT_EQ(config.Table("model").Int("bits", 32, "length of a code"), 64);
  EXPECT_EQ(config.Table("model").Real("lr", 0.1, "rate"), 1.0);  // 1 is a number too
  EXPECT_EQ(config.Table("model").Text("base", "dcmh", "base"), "dcmh");
  EXPECT_EQ(config.Table("evaluate").Ints("at", {10, 50}, "cut-offs"),
            (std::vector<int64_t>{10, 50}));
  config.Finish();
}

TEST(Config, AnUnknownKeyNamesTheNearest) {
  Config config = Config::Parse("[partition]\nbta = 1\n", "x.toml");
  config.Table("partition").Real("beta", 0.5, "concentration");
  EXPECT_EQ(Message([&] { config.Finish(); }),
            "x.toml: unknown key 'partition.bta'; did you mean 'partition.beta'?");
}

TEST(Config, AWrongValueSaysWhatWouldBeRight) {
  const Config config = Config::Parse("a = 'x'\nb = -1\nc = 'fedavk'\nd = nan\n", "x.toml");
  EXPECT_EQ(Message([&] { config.Int("a", 1, ""); }), "x.toml: a must be a whole number, not 'x'");
  EXPECT_EQ(Message([&] { config.Real("b", 1, "", 0); }), "x.toml: b must be at least 0, not -1");
  EXPECT_THAT(Message([&] {
                config.Choice("c", "local", {"local", "fedavg"}, "");
              }),
              HasSubstr("did you mean 'fedavg'?"));
  EXPECT_THAT(Message([&] { config.Real("d", 1, ""); }), HasSubstr("finite"));
  EXPECT_THAT(Message([&] { Config::Parse("a = = 1", "x.toml"); }), HasSubstr("x.toml: line 1"));
}

TEST(Config, OverridesReplaceAndMakeTables) {
  Config config = Config::Parse("[a]\nb = 1\n", "x.toml");
  config.Set("a.b=2");
  config.Set("c.d.e=word");
  config.Set("c.list=[1, 2]");
  EXPECT_EQ(config.Table("a").Int("b", 0, ""), 2);
  EXPECT_EQ(config.Table("c").Table("d").Text("e", "", ""), "word");
  EXPECT_EQ(config.Table("c").Ints("list", {}, ""), (std::vector<int64_t>{1, 2}));
  config.SetDefault("a.b=9");
  config.SetDefault("a.z=9");
  EXPECT_EQ(config.Table("a").Int("b", 0, ""), 2);
  EXPECT_EQ(config.Table("a").Int("z", 0, ""), 9);
  EXPECT_THAT(Message([&] { config.Set("nonsense"); }), HasSubstr("key=value"));
  EXPECT_THAT(Message([&] { config.Set("a.b.c=1"); }), HasSubstr("is a value"));
}

TEST(Config, ResolvedReadsBackToTheSameBytes) {
  const auto ask = [](const Config& config) {
    config.Table("model").Text("base", "dcmh", "the base model");
    config.Int("seed", 1, "the seed");
    config.Table("model").Real("lr", 0.5, "the rate");
    config.Flag("quick", false, "less of everything");
  };
  const Config first = Config::Parse("seed = 3\n[model]\nlr = 1e-7\n", "x");
  ask(first);
  const std::string text = first.Resolved();
  EXPECT_THAT(text, HasSubstr("# the rate\nlr = 1e-07\n"));
  const Config second = Config::Parse(text, "y");
  ask(second);
  second.Finish();
  EXPECT_EQ(second.Resolved(), text);
  EXPECT_EQ(second.Table("model").Resolved(),
            "\n[model]\n# the base model\nbase = 'dcmh'\n# the rate\nlr = 1e-07\n");
}

TEST(Config, AnyTextReadsBack) {
  for (const std::string text : {"it's", "'''", "a\n'''b\n", "a'\nb'", "\nfirst",
                                 "q\"\"\"u\\o\n'''", "\x1b[31m\n", "\u5fae\u7b11\n'", ""}) {
    const Config written;
    written.Text("key", text, "any text");
    const Config read = Config::Parse(written.Resolved(), "x.toml");
    EXPECT_EQ(read.Text("key", "none", "any text"), text) << written.Resolved();
  }
}

}  // namespace
}  // namespace crossilo
