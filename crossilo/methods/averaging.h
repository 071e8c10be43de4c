#pragma once

#include "crossilo/methods/method.h"

namespace crossilo {

// Broadcasts one set of weights and replaces it with the silos' mean: the hub
// of every method whose merge is FedAvg's.
class AveragingServer final : public Server {
 public:
  AveragingServer(const ServerSetup& setup, const Config&) : global_(setup.initial) {}

  TensorMap Broadcast(int) const override { return global_; }
  void Merge(const Merged& round) override { global_ = round.mean; }
  TensorMap Global() const override { return global_; }
  void SetGlobal(const TensorMap& weights) override { global_ = weights; }
  TensorMap State() const override { return global_; }
  void SetState(const TensorMap& state) override { global_ = state; }

 private:
  TensorMap global_;
};

// The key `weights` of averaging methods: a silo's share of the mean.
double AveragingWeight(const Config& table, double samples);

}  // namespace crossilo
