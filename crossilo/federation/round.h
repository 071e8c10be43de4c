#pragma once

#include <cstdint>
#include <vector>

#include "crossilo/methods/method.h"
#include "crossilo/privacy/combiner.h"

namespace crossilo {

// A silo as the hub sees it: in this process or across the wire.
class Participant {
 public:
  virtual ~Participant() = default;
  virtual int id() const = 0;
  virtual std::string name() const = 0;
  virtual void Receive(const TensorMap& broadcast) = 0;
  virtual Update Train(int round) = 0;
};

// What is worth knowing about a finished round.
struct RoundFacts {
  int round = 0;
  std::vector<int> silos;                // who took part, ascending
  double loss = 0;                       // mean over silos, by weight
  int64_t bytes_down = 0, bytes_up = 0;  // of all silos together
  double train_seconds = 0, merge_seconds = 0;
  Facts hub = {};  // what the method says of its merge
};

// Broadcast, train, merge, in the order that the server's exchange asks for.
// Up to `workers` silos train at once unless they go one by one; their updates
// are merged in the order of their ids, so the result does not depend on it.
// An Error of a silo names the round and the silo.
RoundFacts RunRound(int round, Server& server, const std::vector<Participant*>& silos,
                    Combiner& combiner, int workers, int threads);

// The silos of a round: a share of all, at least one, drawn by (seed, round).
std::vector<int> ChooseSilos(int silos, double share, uint64_t seed, int round);

}  // namespace crossilo
