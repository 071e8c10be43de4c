#include "crossilo/federation/round.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>

#include "crossilo/base/elapsed.h"
#include "crossilo/base/error.h"
#include "crossilo/base/parallel.h"
#include "crossilo/base/random.h"
#include "crossilo/train/threads.h"

namespace crossilo {
namespace {

using Clock = std::chrono::steady_clock;

// Runs what a silo does; an Error says where it happened.
template <typename Work>
void AtSilo(int round, const Participant& silo, const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    throw Error("round {}, silo {} ({}): {}", round, silo.id(), silo.name(), error.what());
  }
}

// One round under way.
class Round {
 public:
  Round(int round, Server& server, const std::vector<Participant*>& silos, int workers, int threads)
      : server_(server), silos_(silos), workers_(workers), threads_(threads) {
    facts_.round = round;
    for (const Participant* silo : silos) facts_.silos.push_back(silo->id());
    updates_.resize(silos.size());
  }

  RoundFacts operator()(Combiner& combiner) {
    const Exchange exchange = server_.exchange();
    auto start = Clock::now();
    // A silo is sent to by the worker that trains it: never more broadcasts in
    // memory than workers.
    const bool sends_first = exchange != Exchange::kReplied;
    if (exchange == Exchange::kOneByOne) {
      for (size_t i = 0; i < silos_.size(); ++i) {
        UseThreads(threads_);
        Train(i, sends_first);
        server_.Arrived(silos_[i]->id(), updates_[i].gathered);
        updates_[i].gathered.clear();
      }
    } else {
      EachSilo([&](int64_t i) { Train(i, sends_first); });
    }
    facts_.train_seconds = SecondsSince(start);
    start = Clock::now();
    Merge(combiner);
    facts_.merge_seconds = SecondsSince(start);
    start = Clock::now();
    if (exchange == Exchange::kReplied) EachSilo([&](int64_t i) { Send(i); });
    facts_.train_seconds += SecondsSince(start);
    facts_.bytes_down = bytes_down_;
    return facts_;
  }

 private:
  template <typename Work>
  void EachSilo(const Work& work) {
    ForEach(static_cast<int64_t>(silos_.size()), workers_, [&](int64_t i, int) {
      UseThreads(threads_);
      work(i);
    });
  }

  void Send(int64_t i) {
    Participant& silo = *silos_[i];
    const TensorMap broadcast = server_.Broadcast(silo.id());
    bytes_down_ += Bytes(broadcast);
    AtSilo(facts_.round, silo, [&] { silo.Receive(broadcast); });
  }

  void Train(int64_t i, bool sends_first) {
    if (sends_first) Send(i);
    AtSilo(facts_.round, *silos_[i], [&] {
      updates_[i] = silos_[i]->Train(facts_.round);
      for (const TensorMap* part : {&updates_[i].sums, &updates_[i].gathered}) {
        const std::string bad = FirstNotFinite(*part);
        if (!bad.empty()) throw Error("'{}' is not finite and was not sent", bad);
      }
      bytes_up_ += Bytes(updates_[i].sums) + Bytes(updates_[i].gathered);
    });
  }

  void Merge(Combiner& combiner) {
    Merged merged;
    std::vector<Share> shares;
    double total = 0;
    for (size_t i = 0; i < silos_.size(); ++i) {
      Update& update = updates_[i];
      facts_.loss += update.weight * update.loss;
      total += update.weight;
      shares.push_back({update.weight, std::move(update.sums)});
      merged.gathered[silos_[i]->id()] = std::move(update.gathered);
    }
    facts_.loss /= total;
    facts_.bytes_up = bytes_up_;
    merged.mean = combiner.Mean(shares);
    UseThreads(threads_);  // a hub may train too
    server_.Merge(merged);
    facts_.hub = server_.facts();
  }

  Server& server_;
  const std::vector<Participant*>& silos_;
  int workers_, threads_;
  RoundFacts facts_;
  std::vector<Update> updates_;
  std::atomic<int64_t> bytes_down_ = 0, bytes_up_ = 0;
};

}  // namespace

RoundFacts RunRound(int round, Server& server, const std::vector<Participant*>& silos,
                    Combiner& combiner, int workers, int threads) {
  return Round(round, server, silos, workers, threads)(combiner);
}

std::vector<int> ChooseSilos(int silos, double share, uint64_t seed, int round) {
  const int wanted = std::clamp(static_cast<int>(std::lround(share * silos)), 1, silos);
  Random random(seed, {static_cast<uint64_t>(round)}, "participants");
  const std::vector<int64_t> order = random.Permutation(silos);
  std::vector<int> chosen(order.begin(), order.begin() + wanted);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace crossilo
