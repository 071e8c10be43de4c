#include "crossilo/federation/simulation.h"

#include "crossilo/federation/checkpoint.h"

namespace crossilo {

// A silo that lives in this process.
class Simulation::Local final : public Participant {
 public:
  Local(const Silo& silo, std::unique_ptr<HashModel> model, const Method& method,
        const Config& table, const SimulationOptions& options, int silos)
      : silo_(silo),
        model_(std::move(model)),
        client_(
            method.make_client({silo_, *model_, options.training, options.seed, silos}, table)) {}

  int id() const override { return silo_.id; }
  std::string name() const override { return silo_.name; }
  void Receive(const TensorMap& broadcast) override { client_->Receive(broadcast); }
  Update Train(int round) override { return client_->Train(round); }

  const HashModel& model() const { return *model_; }
  Client& client() { return *client_; }
  const Client& client() const { return *client_; }

 private:
  const Silo& silo_;
  std::unique_ptr<HashModel> model_;
  std::unique_ptr<Client> client_;
};

Simulation::Simulation(std::vector<Silo> silos, const MakeModel& make_model, const Method& method,
                       const Config& method_table, const SimulationOptions& options)
    : options_(options), data_(std::move(silos)) {
  const auto make = [make_model, &method, method_table, seed = options.seed] {
    auto model = make_model();
    if (method.prepare != nullptr) method.prepare(*model, method_table, seed);
    return model;
  };
  const int count = static_cast<int>(data_.size());
  for (const Silo& silo : data_) {
    locals_.push_back(std::make_unique<Local>(silo, make(), method, method_table, options_, count));
  }
  global_ = make();
  server_ = method.make_server({Weights(*global_), count, global_->shape(), global_->code_dims(),
                                options.seed, options.training, make},
                               method_table);
}

Simulation::~Simulation() = default;

int Simulation::silos() const { return static_cast<int>(locals_.size()); }

bool Simulation::personal() const { return server_->Global().empty(); }

int Simulation::Resume() {
  const auto checkpoint = ReadCheckpoint(options_.checkpoint, options_.experiment);
  if (!checkpoint) return 0;
  server_->SetState(checkpoint->server);
  for (const auto& local : locals_) {
    const auto state = checkpoint->silos.find(local->id());
    if (state != checkpoint->silos.end()) local->client().SetState(state->second);
  }
  return done_ = checkpoint->round;
}

void Simulation::Run(const std::function<void(const RoundFacts&)>& finished) {
  PlainCombiner combiner;
  while (done_ < options_.training.rounds) {
    std::vector<Participant*> chosen;
    for (int id : ChooseSilos(silos(), options_.participation, options_.seed, done_ + 1)) {
      chosen.push_back(locals_[id].get());
    }
    const RoundFacts facts =
        RunRound(done_ + 1, *server_, chosen, combiner, options_.workers, options_.threads);
    ++done_;
    finished(facts);
    if (!options_.checkpoint.empty()) Save(done_);
  }
}

void Simulation::Save(int round) const {
  Checkpoint checkpoint{.round = round, .experiment = options_.experiment};
  checkpoint.server = server_->State();
  for (const auto& local : locals_) checkpoint.silos[local->id()] = local->client().State();
  WriteCheckpoint(options_.checkpoint, checkpoint);
}

const HashModel& Simulation::SiloModel(int silo) const { return locals_.at(silo)->model(); }

Facts Simulation::SiloFacts(int silo) const { return locals_.at(silo)->client().facts(); }

Facts Simulation::HubFacts() const { return server_->facts(); }

const HashModel& Simulation::GlobalModel() {
  SetWeights(*global_, server_->Global());
  global_->SetContext(server_->Context());
  return *global_;
}

}  // namespace crossilo
