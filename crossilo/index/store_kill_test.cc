// Killed at any moment, a store is as it was after the last Commit that
// returned, or after the one under way; nothing else.
// Children die before the n-th call that writes, or in the middle of it, or when
// the parent kills them.

#include <gmock/gmock.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <limits>
#include <new>

#include "crossilo/index/store_kill_calls.h"
#include "crossilo/index/store_test_model.h"

namespace crossilo {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// Shared with the children.
struct Progress {
  std::atomic<int> begun = 0, done = 0;  // commits
  std::atomic<int> steps = 0;
  std::atomic<int> allowed = 0;  // steps that the child may begin
};

Progress& Shared() {
  static auto* progress = new (::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE,
                                      MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Progress;
  return *progress;
}

struct Step {
  enum Kind { kPut, kRemove, kCommit, kCompact, kReopen } kind;
  Item item;
};

std::vector<Step> RandomSteps(const Schema& schema, Random& random) {
  std::vector<Step> steps;
  for (uint64_t left = 10 + random.Below(20); left > 0; --left) {
    const auto id = static_cast<int64_t>(random.Below(60));
    const uint64_t kind = random.Below(16);
    steps.push_back({.kind = kind < 8    ? Step::kPut
                             : kind < 11 ? Step::kRemove
                             : kind < 14 ? Step::kCommit
                             : kind < 15 ? Step::kCompact
                                         : Step::kReopen});
    steps.back().item = RandomItem(schema, id, random);
  }
  return steps;
}

// What the items are after each commit, beginning with those before the first.
std::vector<Items> StatesOf(Items items, const std::vector<Step>& steps) {
  std::vector<Items> states{items};
  for (const Step& step : steps) {
    if (step.kind == Step::kPut) items[step.item.id] = step.item;
    if (step.kind == Step::kRemove) items.erase(step.item.id);
    if (step.kind == Step::kReopen) items = states.back();
    if (step.kind == Step::kCommit || step.kind == Step::kCompact) states.push_back(items);
  }
  return states;
}

constexpr int kOneThread = 1;
const StoreOptions kOptions{.threads = kOneThread};

void Do(const fs::path& path, const std::vector<Step>& steps) {
  auto store = Store::OpenForWriting(path, kOptions);
  for (const Step& step : steps) {
    while (Shared().steps >= Shared().allowed) ::sched_yield();
    ++Shared().steps;
    switch (step.kind) {
      case Step::kPut:
        store->Put(step.item);
        break;
      case Step::kRemove:
        store->Remove(step.item.id);
        break;
      case Step::kReopen:
        store.reset();
        store = Store::OpenForWriting(path, kOptions);
        break;
      default:
        ++Shared().begun;
        step.kind == Step::kCommit ? store->Commit() : store->Compact();
        ++Shared().done;
    }
  }
}

// Does the steps in a child; returns its process id.
pid_t DoInChild(const fs::path& path, const std::vector<Step>& steps, int64_t kill_at, bool middle,
                int allowed = std::numeric_limits<int>::max()) {
  Shared().begun = Shared().done = Shared().steps = 0;
  Shared().allowed = allowed;
  const pid_t child = ::fork();
  if (child != 0) return child;
  killable_calls.left = kill_at;
  killable_calls.in_the_middle = middle;
  try {
    Do(path, steps);
  } catch (...) {
    ::_exit(2);
  }
  ::_exit(0);
}

bool HasEnded(pid_t child) {
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT);
  return info.si_pid == child;
}

// Waits for it; true where it was killed.
bool WasKilled(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0) << "a step failed";
  return WIFSIGNALED(status);
}

// Opens what the child left, for reading and, as the next writer would, for
// writing; `items` becomes what is there.
void ExpectOneOf(const fs::path& path, const std::vector<Items>& states, Items& items,
                 Random& random) {
  const int done = Shared().done, begun = Shared().begun;
  const Items found = AllOf(*Store::Open(path, kOptions));
  ASSERT_TRUE(found == states[done] || found == states[begun])
      << done << " commits returned, " << begun << " begun, " << found.size() << " items";
  items = found;
  const auto reader = Store::Open(path, kOptions);
  ExpectSame(*reader, items, random);
  reader->Verify();
}

fs::path NewStore(const std::string& name, const Schema& schema, const Items& items) {
  const fs::path path = FreshFolder(name) / "items.cxi";
  CreateStore(path, schema, items, kOptions);
  return path;
}

// kill -9 from outside, when the child has come to some step.
void KillAtStep(pid_t child, int step) {
  while (Shared().steps < step && !HasEnded(child)) {
  }
  ::kill(child, SIGKILL);
}

TEST(StoreKill, AThousandSequences) {
  const Schema schemas[] = {TwoColumns(16), TwoColumns(64), TwoColumns(128), TwoColumns(0, 3)};
  for (uint64_t sequence = 0; sequence < 1000; ++sequence) {
    const Schema& schema = schemas[sequence % 4];
    Random random(5, {sequence}, "kill");
    Items items = RandomItems(schema, static_cast<int>(random.Below(10)), random);
    const fs::path path = NewStore("sequence", schema, items);
    int killed = 0;
    for (int round = 0; round < 2 || killed == 0; ++round) {
      const std::vector<Step> steps = RandomSteps(schema, random);
      const std::vector<Items> states = StatesOf(items, steps);
      const bool from_outside = random.Below(3) == 0;
      const auto at = static_cast<int64_t>(1 + random.Below(16));
      const pid_t child = DoInChild(path, steps, from_outside ? -1 : at, random.Below(2) == 0);
      if (from_outside) KillAtStep(child, static_cast<int>(at));
      killed += WasKilled(child);
      ExpectOneOf(path, states, items, random);
      if (testing::Test::HasFailure()) FAIL() << "sequence " << sequence << " round " << round;
    }
    Store::OpenForWriting(path, kOptions);
    EXPECT_EQ(std::distance(fs::directory_iterator(path.parent_path()), {}), 3)
        << "the file, its log and its lock";
  }
}

// One sequence with everything in it, killed at each of its calls in turn, and
// the next writer, who mends, killed at each of its own.
TEST(StoreKill, AtEveryCall) {
  const Schema schema = TwoColumns(16);
  Random random(6, {}, "kill");
  const Items before = RandomItems(schema, 8, random);
  std::vector<Step> steps;
  for (const Step::Kind kind :
       {Step::kPut, Step::kPut, Step::kCommit, Step::kRemove, Step::kPut, Step::kCompact,
        Step::kPut, Step::kCommit, Step::kPut, Step::kReopen, Step::kPut, Step::kCompact}) {
    steps.push_back({kind, RandomItem(schema, static_cast<int64_t>(random.Below(60)), random)});
  }
  const std::vector<Items> states = StatesOf(before, steps);
  int deaths = 0;
  for (const bool middle : {false, true}) {
    for (int64_t at = 1;; ++at) {
      const fs::path path = NewStore("every", schema, before);
      if (!WasKilled(DoInChild(path, steps, at, middle))) break;
      ++deaths;
      Items items;
      ExpectOneOf(path, states, items, random);
      for (int64_t mending = 1; WasKilled(DoInChild(path, {}, mending, middle)); ++mending) {
        Items mended;
        ExpectOneOf(path, {items}, mended, random);
      }
      if (testing::Test::HasFailure()) FAIL() << "at call " << at << (middle ? " within" : "");
    }
  }
  EXPECT_GT(deaths, 60);
}

// Kills cannot show that a loss of power is survived; the order of calls does.
TEST(StoreKill, EverythingIsSyncedBeforeItCounts) {
  const Schema schema = TwoColumns(16);
  Random random(7, {}, "kill");
  const fs::path path = NewStore("order", schema, RandomItems(schema, 5, random));
  std::string seen;
  const auto calls_of = [&](const auto& act) {
    seen.clear();
    killable_calls.seen = &seen;
    act();
    killable_calls.seen = nullptr;
    return seen;
  };
  std::unique_ptr<Store> store;
  EXPECT_EQ(calls_of([&] { store = Store::OpenForWriting(path, kOptions); }),
            " syncfolder write fsync rename syncfolder ftruncate fdatasync");
  EXPECT_EQ(calls_of([&] { store->Put(RandomItem(schema, 1, random)); }), "");
  EXPECT_EQ(calls_of([&] { store->Commit(); }), " pwrite fdatasync");
  EXPECT_EQ(calls_of([&] { store->Commit(); }), "") << "nothing to commit";
  // The file first, then its log.
  EXPECT_EQ(calls_of([&] { store->Compact(); }),
            " write fsync rename syncfolder write fsync rename syncfolder ftruncate fdatasync");
  EXPECT_EQ(calls_of([&] { CreateStore(path.string() + "2", schema, {}, kOptions); }),
            " write fsync rename syncfolder");
  // The last commit may be another's, who was killed before it was synced.
  store.reset();
  EXPECT_EQ(calls_of([&] { store = Store::OpenForWriting(path, kOptions); }),
            " syncfolder ftruncate fdatasync");
  // New folders are synced to be there.
  const fs::path deep = path.parent_path() / "new" / "folder" / "items.cxi";
  EXPECT_EQ(calls_of([&] { CreateStore(deep, schema, {}, kOptions); }),
            " syncfolder write fsync rename syncfolder");
}

// After a sync that failed the system may hold pages for written that are not, so
// nobody must take them for a commit and go on behind it.
TEST(StoreKill, ACommitThatTheDiskRefusedIsNone) {
  const fs::path path = NewStore("refused", OneColumn(), ThreeItems());
  auto store = Store::OpenForWriting(path, kOptions);
  const auto reader = Store::Open(path, kOptions);
  const auto put = [&](int64_t id) { store->Put({.id = id, .codes = {Code16(1)}}); };
  put(20);
  store->Commit();
  put(21);
  killable_calls.sync_fails = true;
  EXPECT_THAT(WhyNot([&] { store->Commit(); }), HasSubstr("nothing was committed"));
  EXPECT_THAT(WhyNot([&] { store->Commit(); }), HasSubstr("open the store anew"));
  EXPECT_THAT(WhyNot([&] { put(22); }), HasSubstr("open the store anew"));
  EXPECT_EQ(Store::Open(path, kOptions)->size(), 4);
  store.reset();
  EXPECT_THROW(Store::OpenForWriting(path, kOptions), Error) << "nor is anything begun";
  killable_calls.sync_fails = false;
  store = Store::OpenForWriting(path, kOptions);
  EXPECT_EQ(store->size(), 4);
  put(23);
  store->Commit();
  reader->Refresh();
  EXPECT_EQ(reader->size(), 5);
  EXPECT_FALSE(reader->Find(21));
}

// Reads on while another process writes and is killed in the end: commits are
// seen whole and in order, and no later than they return.
TEST(StoreKill, ReadersOfAnotherProcess) {
  const Schema schema = TwoColumns(16);
  for (uint64_t run = 0; run < 20; ++run) {
    Random random(8, {run}, "kill");
    const Items before = RandomItems(schema, 8, random);
    const fs::path path = NewStore("readers", schema, before);
    std::vector<Step> steps;
    while (steps.size() < 150) {
      for (Step& step : RandomSteps(schema, random)) steps.push_back(std::move(step));
    }
    const std::vector<Items> states = StatesOf(before, steps);
    const auto reader = Store::Open(path, kOptions);
    const auto kill_at = static_cast<int64_t>(20 + random.Below(200));
    const pid_t child = DoInChild(path, steps, kill_at, run % 2 == 0, 1);
    int seen = 0;
    for (bool running = true; running && !testing::Test::HasFailure();) {
      // A few steps a look, so that looks fall between and into all of them.
      Shared().allowed += 3;
      running = !HasEnded(child);
      const int done = Shared().done;
      reader->Refresh();
      const Items items = AllOf(*reader);
      const int begun = Shared().begun;
      int state = std::max(seen, done);
      while (state <= begun && items != states[state]) ++state;
      EXPECT_LE(state, begun) << "neither of the commits " << done << " to " << begun;
      seen = state;
    }
    ::kill(child, SIGKILL);
    WasKilled(child);
    if (testing::Test::HasFailure()) return;
    ExpectSame(*reader, states[seen], random);
  }
}

}  // namespace
}  // namespace crossilo
