// What must hold for every method of the catalog, whatever it does: small and
// empty cases, resumption, workers.

#include <gtest/gtest.h>

#include "crossilo/base/error.h"
#include "crossilo/federation/simulation.h"
#include "crossilo/tensors/random_tensor.h"
#include "crossilo/tensors/safetensors.h"

namespace crossilo {
namespace {

Silo MakeSilo(int id, const std::vector<int64_t>& classes) {
  Random random(70 + id);
  const auto n = static_cast<int64_t>(classes.size());
  Silo silo{.id = id, .name = "s" + std::to_string(id)};
  const torch::Tensor labels = torch::eye(4).index_select(0, IndexTensor(classes));
  silo.all = {RandomNormal({n, 3}, random), RandomNormal({n, 5}, random), labels};
  return silo;
}

// Of four classes nobody has the last.  One silo is a single sample, one knows
// a single class, one has fewer samples than the batch.
std::vector<Silo> Uneven() {
  return {MakeSilo(0, {0, 1, 2, 0, 1, 2, 0, 1, 2, 0}), MakeSilo(1, {1}),
          MakeSilo(2, {2, 2, 2, 2, 2, 2}), MakeSilo(3, {0, 1, 1})};
}

struct Case {
  std::string method, base;
  std::string table = "";
  double participation = 1;
  int workers = 1;
  std::vector<Silo> silos = Uneven();
  std::filesystem::path checkpoint = {};

  std::unique_ptr<Simulation> Make() const {
    const bool real = FindModel(base).real_valued;
    const std::string text =
        real ? "dims = 6\nhidden = 5\n" : "bits = 8\nhidden_image = 5\nhidden_text = 5\n";
    const auto make_model = [this, text] {
      return FindModel(base).make({3, 5, 4}, Config::Parse(text, "test"), Random(3));
    };
    SimulationOptions options;
    options.seed = 5;
    options.participation = participation;
    options.workers = workers;
    options.training.rounds = 3;
    options.training.local_epochs = 2;
    options.training.batch = 4;
    options.training.optimizer.kind = "adam";
    options.training.optimizer.learning_rate = 0.01;
    options.checkpoint = checkpoint;
    return std::make_unique<Simulation>(silos, make_model, FindMethod(method),
                                        Config::Parse(table, "test"), options);
  }
  static std::string Bytes(Simulation& simulation) {
    std::string bytes;
    const auto add = [&](const HashModel& model) {
      for (const TensorMap& part : {Weights(model), model.context()}) {
        EXPECT_EQ(FirstNotFinite(part), "");
        bytes += EncodeTensors({part, {}});
      }
    };
    if (!simulation.personal()) {
      add(simulation.GlobalModel());
      return bytes;
    }
    for (int i = 0; i < simulation.silos(); ++i) add(simulation.SiloModel(i));
    return bytes;
  }
  std::string operator()() const {
    auto simulation = Make();
    simulation->Run([](const RoundFacts& facts) { EXPECT_TRUE(std::isfinite(facts.loss)); });
    return Bytes(*simulation);
  }
};

// Small networks for a method that brings its own.
std::string TableOf(const std::string& method) {
  return method == "fedwgan" ? "gan_width = 4\nmu = 2.0\n" : "";
}

class EveryMethod : public testing::TestWithParam<std::string> {};

TEST_P(EveryMethod, HoldsOnUnevenSilosOfEveryBase) {
  const std::string table = TableOf(GetParam());
  for (const ModelKind& kind : AllModels()) {
    const std::string& base = kind.name;
    SCOPED_TRACE(base);
    Case whole{.method = GetParam(), .base = base, .table = table};
    const std::string one = whole();
    EXPECT_EQ(whole(), one) << "same seed, other bits";
    whole.workers = 3;
    EXPECT_EQ(whole(), one) << "other bits with three workers";
    (void)Case{.method = GetParam(), .base = base, .table = table, .participation = 0.5}();
    (void)Case{.method = GetParam(), .base = base, .table = table, .silos = {Uneven()[0]}}();
    (void)Case{.method = GetParam(), .base = base, .table = table, .silos = {MakeSilo(0, {1})}}();
  }
}

TEST_P(EveryMethod, ResumedItEndsInTheSameBits) {
  const auto path = std::filesystem::path(testing::TempDir()) / ("every_" + GetParam());
  for (const char* base : {"shdch", "scmr", "ucch", "djsrh", "jdsh", "dgcpn"}) {
    for (double participation : {1.0, 0.5}) {
      Case run{.method = GetParam(),
               .base = base,
               .table = TableOf(GetParam()),
               .participation = participation};
      const std::string whole = run();
      run.checkpoint = path;
      for (int stop : {1, 2}) {
        std::filesystem::remove(path);
        struct Killed {};
        EXPECT_THROW(run.Make()->Run([&](const RoundFacts& facts) {
          if (facts.round > stop) throw Killed{};
        }),
                     Killed);
        auto again = run.Make();
        EXPECT_EQ(again->Resume(), stop);
        again->Run([](const RoundFacts&) {});
        EXPECT_EQ(Case::Bytes(*again), whole) << base << " after round " << stop;
      }
    }
  }
}

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const Method& method : AllMethods()) names.push_back(method.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Catalog, EveryMethod, testing::ValuesIn(Names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace crossilo
