#pragma once

// For tests of clients: a toy base with dropout that takes any number of steps
// on a batch, and one silo with a client.

#include <algorithm>
#include <string>
#include <utility>

#include "crossilo/methods/method.h"
#include "crossilo/tensors/random_tensor.h"

namespace crossilo {

class ToyModel final : public HashModel {
 public:
  ToyModel(int64_t dims, int parts) : HashModel({dims, dims, 2}), parts_(parts) {
    Random random(3);
    for (const char* net : {"image", "text"}) {
      AddLinear(std::string(net) + ".hidden", dims, dims, -1, random);
      AddLinear(std::string(net) + ".hash", dims, 8, -1, random);
    }
  }
  int64_t code_dims() const override { return 8; }
  std::unique_ptr<Learner> Learn(const Silo& silo, Random, Random) override {
    return std::make_unique<ToyLearner>(*this, silo);
  }

 protected:
  Encoded Forward(Modality m, const torch::Tensor& x) const override { return Make(m, x, nullptr); }
  Encoded ForwardWithNoise(Modality m, const torch::Tensor& x, Random& noise) const override {
    return Make(m, x, &noise);
  }

 private:
  class ToyLearner final : public Learner {
   public:
    ToyLearner(const ToyModel& model, const Silo& silo) : model_(model), silo_(silo) {}
    std::vector<Step> PlanEpoch(int, int64_t batch, Random& random) override {
      std::vector<Step> steps;
      for (const torch::Tensor& rows : RandomPermutation(silo_.size(), random).split(batch)) {
        for (int part = 0; part < model_.parts_; ++part) {
          steps.push_back({rows, {Modality::kImage, Modality::kText}, part});
          steps.back().last = part + 1 == model_.parts_;
        }
      }
      return steps;
    }
    torch::Tensor Loss(const Step& step, Seen& seen) override {
      const Batch batch = silo_.all.Select(step.rows);
      seen = {model_.Encode(Modality::kImage, batch.image),
              model_.Encode(Modality::kText, batch.text)};
      return (seen.image.output - seen.text.output - 0.1).square().mean();
    }

   private:
    const ToyModel& model_;
    const Silo& silo_;
  };

  Encoded Make(Modality m, const torch::Tensor& x, Random* noise) const {
    Encoded out;
    out.hidden = torch::relu(ApplyLinear(NameOf(m) + ".hidden", x));
    torch::Tensor kept = out.hidden;
    if (noise != nullptr) kept = kept * 2 * RandomUniform(x.sizes(), 0, 1, *noise).gt(0.5);
    out.raw = ApplyLinear(NameOf(m) + ".hash", kept);
    out.output = torch::tanh(out.raw);
    return out;
  }

  int parts_;
};

// One silo with a client.  A base "toy1" is a toy of one step, "toy3" of three.
struct OneSilo {
  static TrainingOptions Usual() { return {.local_epochs = 2, .batch = 5}; }

  OneSilo(const std::string& method, const std::string& table, const std::string& base = "ucch",
          TrainingOptions training = Usual(), int64_t n = 20) {
    Random random(1);
    silo.id = 3;
    silo.all = {RandomNormal({n, 3}, random), RandomNormal({n, 3}, random),
                torch::eye(2).repeat({(n + 1) / 2, 1}).slice(0, 0, n)};
    if (base.starts_with("toy")) {
      model = std::make_unique<ToyModel>(3, base.back() - '0');
    } else {
      const ModelKind& kind = FindModel(base);
      const char* sizes = kind.real_valued ? "dims = 4\nhidden = 4\n"
                                           : "bits = 16\nhidden_image = 4\nhidden_text = 4\n";
      model = kind.make({3, 3, 2}, Config::Parse(sizes, "test"), Random(2));
    }
    const Method& found = FindMethod(method);
    const Config keys = Config::Parse(table, "test");
    if (found.prepare != nullptr) found.prepare(*model, keys, 9);
    initial = Weights(*model);
    client = found.make_client({silo, *model, std::move(training), 9}, keys);
  }

  // A round that starts from the weights `w`.
  Update Round(int round, const TensorMap& w) {
    client->Receive(w);
    return client->Train(round);
  }

  // What the model makes of all samples with the weights `w`.
  Encoded Encode(Modality m, const TensorMap& w) {
    torch::NoGradGuard no_grad;
    const TensorMap now = Weights(*model);
    SetWeights(*model, w);
    const Encoded e = model->Encode(m, m == Modality::kImage ? silo.all.image : silo.all.text);
    SetWeights(*model, now);
    return e;
  }

  Silo silo;
  std::unique_ptr<HashModel> model;
  TensorMap initial;
  std::unique_ptr<Client> client;
};

inline double LargestOf(const TensorMap& a) {
  double largest = 0;
  for (const auto& [name, x] : a) largest = std::max(largest, x.abs().max().item<double>());
  return largest;
}

}  // namespace crossilo
