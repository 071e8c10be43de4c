#include "crossilo/federation/simulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "crossilo/base/error.h"
#include "crossilo/tensors/random_tensor.h"
#include "crossilo/tensors/safetensors.h"

namespace crossilo {
namespace {

using ::testing::HasSubstr;

// Silos of different sizes whose two classes lie apart.
std::vector<Silo> Silos(int count) {
  std::vector<Silo> silos;
  for (int id = 0; id < count; ++id) {
    Random random(50 + id);
    const int64_t n = 8 + 4 * id;
    const torch::Tensor labels = torch::eye(2).repeat({n / 2, 1});
    Silo silo{.id = id, .name = "s" + std::to_string(id)};
    silo.all = {RandomNormal({n, 3}, random) + 2 * labels.select(1, 0).unsqueeze(1),
                RandomNormal({n, 4}, random) - 2 * labels.select(1, 0).unsqueeze(1), labels};
    silos.push_back(silo);
  }
  return silos;
}

struct Federation {
  std::string method = "fedavg", base = "dcmh";
  SimulationOptions options = {.training = {.rounds = 4, .local_epochs = 2, .batch = 4}};
  std::vector<Silo> silos = Silos(5);

  std::unique_ptr<Simulation> Make() const {
    const auto make_model = [base = base] {
      return FindModel(base).make(
          {3, 4, 2}, Config::Parse("bits = 16\nhidden_image = 5\nhidden_text = 5\n", "test"),
          Random(3));
    };
    return std::make_unique<Simulation>(silos, make_model, FindMethod(method),
                                        Config::Parse("", "test"), options);
  }
  // The bytes of what came out.
  static std::string Result(Simulation& simulation, bool personal) {
    std::string bytes;
    if (!personal) return EncodeTensors({Weights(simulation.GlobalModel()), {}});
    for (int i = 0; i < simulation.silos(); ++i) {
      bytes += EncodeTensors({Weights(simulation.SiloModel(i)), {}});
    }
    return bytes;
  }
  std::string operator()() const {
    auto simulation = Make();
    simulation->Run([](const RoundFacts&) {});
    return Result(*simulation, FindMethod(method).personal);
  }
};

TEST(Simulation, AnyNumberOfWorkersGivesTheSameBits) {
  for (const char* base : {"dcmh", "ucch"}) {
    Federation run{.base = base};
    const std::string one = run();
    for (int workers : {2, 3, 8}) {
      run.options.workers = workers;
      EXPECT_EQ(run(), one) << base << ", " << workers << " workers";
    }
    run.options.seed = 2;
    EXPECT_NE(run(), one) << "the seed changes nothing";
  }
}

TEST(Simulation, ResumedAfterAnyRoundItEndsInTheSameBits) {
  const auto path = std::filesystem::path(testing::TempDir()) / "simulation_test.safetensors";
  for (const char* method : {"fedavg", "local", "fedprox"}) {
    for (const char* base : {"dcmh", "ucch"}) {
      Federation run{.method = method, .base = base};
      run.options.training.keep_optimizer = true;
      run.options.training.optimizer.momentum = 0.5;
      const std::string whole = run();
      for (int stop = 1; stop < 4; ++stop) {
        std::filesystem::remove(path);
        run.options.checkpoint = path;
        struct Killed {};
        try {
          run.Make()->Run([&](const RoundFacts& facts) {
            if (facts.round > stop) throw Killed{};
          });
          FAIL();
        } catch (const Killed&) {
        }
        auto again = run.Make();
        EXPECT_EQ(again->Resume(), stop);
        again->Run([](const RoundFacts&) {});
        EXPECT_EQ(Federation::Result(*again, FindMethod(method).personal), whole)
            << method << " on " << base << " after round " << stop;
      }
    }
  }
}

TEST(Simulation, ACheckpointOfOtherSettingsIsRefused) {
  const auto path = std::filesystem::path(testing::TempDir()) / "simulation_test2.safetensors";
  Federation run;
  run.options.checkpoint = path;
  run.options.experiment = "seed = 1\n";
  run();
  run.options.experiment = "seed = 2\n";
  try {
    run.Make()->Resume();
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("seed = 1"));
  }
}

TEST(Simulation, FedAvgWithOneSiloIsLocalTraining) {
  Federation run{.silos = Silos(1)};
  const std::string fedavg = run();
  run.method = "local";
  EXPECT_EQ(run(), fedavg);
}

TEST(Simulation, AShareOfTheSilosTakesPart) {
  Federation run;
  run.options.participation = 0.4;
  std::set<int> seen;
  run.Make()->Run([&](const RoundFacts& facts) {
    EXPECT_EQ(facts.silos.size(), 2u);  // 0.4 * 5
    seen.insert(facts.silos.begin(), facts.silos.end());
  });
  EXPECT_GT(seen.size(), 2u);
}

TEST(Simulation, CountsTheBytesThatTravel) {
  Federation run;
  // weights: image 3*5+5 + 5*16+16, text 4*5+5 + 5*16+16 floats = 237, 5 silos
  run.Make()->Run([&](const RoundFacts& facts) {
    EXPECT_EQ(facts.bytes_up, 5 * 4 * (20 + 96 + 25 + 96));
    EXPECT_EQ(facts.bytes_down, facts.bytes_up);
  });
  run.method = "local";
  run.Make()->Run([&](const RoundFacts& facts) { EXPECT_EQ(facts.bytes_up, 0); });
}

TEST(Simulation, DivergenceNamesRoundAndSilo) {
  Federation run;
  run.options.training.optimizer.learning_rate = 1e30;
  for (int workers : {1, 3}) {
    run.options.workers = workers;
    try {
      run();
      FAIL() << "learned at a rate of 1e30";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("round 1, silo 0 (s0)"));
    }
  }
}

TEST(Simulation, LearnsWhatIsThere) {
  Federation run;
  run.options.training.rounds = 30;
  run.options.training.optimizer = {.kind = "adam", .learning_rate = 0.01};
  double first = 0, last = 0;
  run.Make()->Run([&](const RoundFacts& facts) {
    if (facts.round == 1) first = facts.loss;
    last = facts.loss;
  });
  EXPECT_LT(last, 0.7 * first);
}

}  // namespace
}  // namespace crossilo
