#include "crossilo/index/generations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"
#include "crossilo/index/store_test_items.h"

namespace crossilo {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

fs::path Fresh(const std::string& name) {
  return FreshFolder("generations_" + name) / "collection";
}

int Add(const fs::path& collection) {
  const Draft draft = BeginGeneration(collection);
  WriteFile(draft.folder / "items.cxi", "items");
  Complete(collection, draft);
  return draft.generation;
}

std::string WhyNoneIsCurrent(const fs::path& collection) {
  try {
    return "generation " + std::to_string(CurrentGeneration(collection));
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Generations, AreMadeSwitchedRolledBackAndPruned) {
  const fs::path collection = Fresh("life");
  EXPECT_EQ(Add(collection), 1);
  SwitchTo(collection, 1);
  EXPECT_EQ(ReadFile(collection / "current"), "1\n");
  EXPECT_EQ(CurrentGeneration(collection), 1);
  EXPECT_EQ(Add(collection), 2);
  EXPECT_EQ(CurrentGeneration(collection), 1) << "the old one serves until the switch";
  SwitchTo(collection, 2);
  EXPECT_EQ(CurrentGeneration(collection), 2);
  SwitchTo(collection, 1);
  EXPECT_EQ(CurrentGeneration(collection), 1);
  EXPECT_EQ(Add(collection), 3);
  SwitchTo(collection, 3);
  EXPECT_THAT(Generations(collection), ElementsAre(1, 2, 3));
  // 3 is current, 2 the one before.
  EXPECT_THAT(PruneGenerations(collection), ElementsAre(1));
  EXPECT_THAT(Generations(collection), ElementsAre(2, 3));
  EXPECT_THAT(PruneGenerations(collection), IsEmpty());
  EXPECT_FALSE(fs::exists(GenerationFolder(collection, 1)));
  EXPECT_EQ(Add(collection), 4);
  EXPECT_THAT(PruneGenerations(collection), IsEmpty()) << "4 waits for its switch";
}

TEST(Generations, TheOneThatServedStaysNotTheOneThatWasRejected) {
  const fs::path collection = Fresh("rejected");
  for (int i = 0; i < 3; ++i) Add(collection);
  SwitchTo(collection, 3);
  // 1 served when 3 was made, for 2 had been switched away from.
  EXPECT_THAT(PruneGenerations(collection, 1), ElementsAre(2));
  EXPECT_THAT(Generations(collection), ElementsAre(1, 3));
}

TEST(Generations, WhatOnlyLooksLikeADraftIsSomebodys) {
  const fs::path collection = Fresh("letter");
  const std::vector<std::string> theirs = {".draft-letter", ".draft-",         ".draft-01",
                                           ".draft-1.txt",  ".draft-removed-", ".draft-removed-x"};
  for (const std::string& name : theirs) WriteFile(collection / name, "mine");
  for (const char* ours : {".draft-7", ".draft-removed-3"}) {
    WriteFile(collection / ours / "items.cxi", "half");
  }
  SwitchTo(collection, Add(collection));
  PruneGenerations(collection);
  for (const std::string& name : theirs) EXPECT_TRUE(fs::exists(collection / name)) << name;
  EXPECT_FALSE(fs::exists(collection / ".draft-7"));
  EXPECT_FALSE(fs::exists(collection / ".draft-removed-3"));
}

TEST(Generations, ADraftIsNeverListedAndTheNextOneClearsItAway) {
  const fs::path collection = Fresh("draft");
  const Draft killed = BeginGeneration(collection);
  WriteFile(killed.folder / "items.cxi", "half");
  EXPECT_THAT(Generations(collection), IsEmpty());
  EXPECT_THROW(SwitchTo(collection, killed.generation), Error);
  const Draft next = BeginGeneration(collection);
  EXPECT_EQ(next.generation, 1);
  EXPECT_TRUE(fs::is_empty(next.folder));
  EXPECT_THROW(Complete(collection, next), Error) << "it has no items";
  EXPECT_EQ(next.folder.filename().string()[0], '.');
}

TEST(Generations, WhatIsMissingIsExplained) {
  const fs::path collection = Fresh("missing");
  EXPECT_THAT(WhyNoneIsCurrent(collection), HasSubstr("crossilo index build"));
  fs::create_directories(collection);
  EXPECT_THAT(WhyNoneIsCurrent(collection), HasSubstr("crossilo index build"));
  Add(collection);
  Add(collection);
  EXPECT_THAT(WhyNoneIsCurrent(collection), HasSubstr("current: is not there; write the number"));
  EXPECT_THAT(WhyNoneIsCurrent(collection), HasSubstr("one of: 1, 2"));
  for (const std::string bad : {"", "7\n", "one", "1x", "01", "-1", "99999999999", "../x"}) {
    WriteFile(collection / "current", bad);
    EXPECT_THAT(WhyNoneIsCurrent(collection), HasSubstr("complete are: 1, 2")) << bad;
  }
  fs::create_directories(GenerationFolder(collection, 3));
  EXPECT_THAT(Generations(collection), ElementsAre(1, 2)) << "3 has no items";
  EXPECT_THROW(SwitchTo(collection, 3), Error);
  EXPECT_EQ(Add(collection), 4) << "the name of 3 is taken";
}

TEST(WriterLock, IsHeldByOneAndGivenBackByAKilledProcess) {
  const fs::path file = Fresh("lock") / "x.lock";
  {
    const WriterLock held(file);
    EXPECT_THROW(WriterLock{file}, Error);
  }
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const WriterLock held(file);
    [[maybe_unused]] const ssize_t sent = ::write(ready[1], "x", 1);
    ::pause();
    ::_exit(0);
  }
  char got = 0;
  ASSERT_EQ(::read(ready[0], &got, 1), 1);
  EXPECT_THROW(WriterLock{file}, Error);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_NO_THROW(WriterLock{file});
  ::close(ready[0]);
  ::close(ready[1]);
}

}  // namespace
}  // namespace crossilo
