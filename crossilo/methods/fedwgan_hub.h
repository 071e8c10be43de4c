#pragma once

#include <mutex>

#include "crossilo/methods/fedwgan_pairs.h"

namespace crossilo {

// What the hub does for FedWGAN besides the inner method's merge: it generates
// pairs and trains on them.
class HubSynthesis {
 public:
  // Of the names of what silos send for it.
  static constexpr char kPrefix[] = "synthesis/";

  HubSynthesis(const ServerSetup& setup, const FedWganOptions& options)
      : setup_(setup), o_(options) {}

  // Keeps what is for it of a silo's message and returns what is the inner
  // method's.  That one sees changes from what it sent itself: what TrainSent
  // did in between counts as the silo's.
  TensorMap Take(int silo, const TensorMap& gathered);

  // Makes pairs of what was taken in a round that `silos` took part in.
  // `weights` and `context` are the merged model's.
  void Generate(const TensorMap& weights, const TensorMap& context, size_t silos);

  // Whether there is anything to train on: one pair has none to compare it with.
  bool HasPairs() const { return pairs_.size() > 1; }
  // The weights after training on the pairs.
  TensorMap Trained(const TensorMap& weights, const TensorMap& context);
  // The same with the weights "w/..." of what a silo is sent.  Silos may be sent
  // to at once.
  void TrainSent(TensorMap& broadcast, const TensorMap& context, int silo) const;

  const Facts& facts() const { return pairs_.facts; }
  // The pairs are part of it where they are used after the round.
  TensorMap State(bool with_pairs) const;
  void SetState(const TensorMap& state);

 private:
  Random Stream(const char* purpose, int silo) const;
  std::unique_ptr<HashModel> ModelOf(const TensorMap& weights, const TensorMap& context) const;
  TrainingResult TrainOnPairs(HashModel& model, int whose) const;

  ServerSetup setup_;
  FedWganOptions o_;
  uint64_t round_ = 0;             // of the pairs
  std::map<int, TensorMap> sent_;  // of the round under way
  GeneratedPairs pairs_;
  mutable std::mutex mutex_;
  // By silo: how far TrainSent moved what it was sent.  From a broadcast to the
  // reply to it; a checkpoint is never written between.
  mutable std::map<int, TensorMap> shifts_;
};

}  // namespace crossilo
