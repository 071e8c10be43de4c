#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "crossilo/federation/round.h"

namespace crossilo {

struct SimulationOptions {
  uint64_t seed = 1;
  double participation = 1;  // share of the silos that take part in a round
  int threads = 1;           // inside one silo's arithmetic; changes the last bits
  int workers = 1;           // silos trained at once; changes nothing but the time
  TrainingOptions training;
  std::filesystem::path checkpoint = {};  // where to keep one; empty: nowhere
  std::string experiment = {};            // the resolved configuration
};

// A whole federation in one process.
class Simulation {
 public:
  using MakeModel = std::function<std::unique_ptr<HashModel>()>;  // at the initial weights

  Simulation(std::vector<Silo> silos, const MakeModel& make_model, const Method& method,
             const Config& method_table, const SimulationOptions& options);
  ~Simulation();

  // Goes on from the checkpoint, if there is one.  Returns the rounds done.
  int Resume();
  // Runs the rounds that are left; `finished` is called after each, before its
  // checkpoint is written.
  void Run(const std::function<void(const RoundFacts&)>& finished);

  int silos() const;
  // Whether silos are judged by their own models; else there is a global one.
  bool personal() const;
  // The model that the method is judged by: the silo's own after its last
  // training, or one with the global weights.  Valid until the next round.
  const HashModel& SiloModel(int silo) const;
  // What the method says of a silo's last training, and of the last merge.
  Facts SiloFacts(int silo) const;
  Facts HubFacts() const;
  const HashModel& GlobalModel();

 private:
  class Local;

  void Save(int round) const;

  SimulationOptions options_;
  std::vector<Silo> data_;
  std::vector<std::unique_ptr<Local>> locals_;
  std::unique_ptr<HashModel> global_;
  std::unique_ptr<Server> server_;
  int done_ = 0;
};

}  // namespace crossilo
