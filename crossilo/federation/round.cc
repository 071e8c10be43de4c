#include "crossilo/federation/round.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "crossilo/base/error.h"
#include "crossilo/base/parallel.h"
#include "crossilo/base/random.h"
#include "crossilo/train/threads.h"

namespace crossilo {
namespace {

using Clock = std::chrono::steady_clock;

double Since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Update TrainOne(int round, Participant& silo, const TensorMap& broadcast) {
  try {
    silo.Receive(broadcast);
    Update update = silo.Train(round);
    for (const TensorMap* part : {&update.sums, &update.gathered}) {
      const std::string bad = FirstNotFinite(*part);
      if (!bad.empty()) throw Error("'{}' is not finite and was not sent", bad);
    }
    return update;
  } catch (const Error& error) {
    throw Error("round {}, silo {} ({}): {}", round, silo.id(), silo.name(), error.what());
  }
}

}  // namespace

RoundFacts RunRound(int round, Server& server, const std::vector<Participant*>& silos,
                    Combiner& combiner, int workers, int threads) {
  RoundFacts facts{.round = round};
  const int n = static_cast<int>(silos.size());
  std::vector<TensorMap> broadcasts(n);
  for (int i = 0; i < n; ++i) {
    facts.silos.push_back(silos[i]->id());
    broadcasts[i] = server.Broadcast(silos[i]->id());
    facts.bytes_down += Bytes(broadcasts[i]);
  }
  auto start = Clock::now();
  std::vector<Update> updates(n);
  ForEach(n, workers, [&](int64_t i, int) {
    UseThreads(threads);
    updates[i] = TrainOne(round, *silos[i], broadcasts[i]);
  });
  facts.train_seconds = Since(start);

  start = Clock::now();
  Merged merged;
  std::vector<Share> shares;
  double total = 0;
  for (int i = 0; i < n; ++i) {
    Update& update = updates[i];
    facts.bytes_up += Bytes(update.sums) + Bytes(update.gathered);
    facts.loss += update.weight * update.loss;
    total += update.weight;
    shares.push_back({update.weight, std::move(update.sums)});
    merged.gathered[silos[i]->id()] = std::move(update.gathered);
  }
  facts.loss /= total;
  merged.mean = combiner.Mean(shares);
  server.Merge(merged);
  facts.merge_seconds = Since(start);
  return facts;
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
