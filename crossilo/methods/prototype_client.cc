// A silo whose outputs are pulled to the federation's class prototypes.
//
//   FedProto:            L = L_base + lambda O_1
//   PLFedCMH, PEPFCH:    L = L_base + { beta |r L_b - F_b P^T|^2 + 1/eta O_1 } / (n b)
//
// for the modality that a step trains, O_1 = MSE(raw_b, P[labels_b]), r the
// length of a code.  PLFedCMH's Eq. 3 asks for O_1 + eta O_2; its authors' code
// has 1/eta times that, divided by n and their batch of 128 also where the last
// batch is smaller.  Here b is the batch's own number of rows, as in L_base.
//
// Prototypes are of the last local epoch, whose outputs are taken before each
// step: no pass over the samples is spent on them.

#include "crossilo/methods/prototype_client.h"

#include "crossilo/base/error.h"

namespace crossilo {
namespace {

int64_t Classes(const Silo& silo) {
  if (!silo.all.labels.defined()) {
    throw Error(
        "class prototypes need labels and this dataset has none; use a method without them such "
        "as fedavg");
  }
  return silo.all.labels.size(1);
}

}  // namespace

PrototypeOptions PrototypeOptions::From(const Config& table) {
  PrototypeOptions o;
  o.first = table.Choice("labels_of", "mean", {"mean", "first"},
                         "of a sample with several labels: mean: pulled to the mean of their "
                         "prototypes; first: the first label only, as the authors do") == "first";
  o.by_samples = table.Choice("prototype_weights", "uniform", {"uniform", "samples"},
                              "a silo's share of a class's prototype: all owners alike, or by "
                              "their samples of the class") == "samples";
  o.by_class = table.Choice("o1", "sample", {"sample", "class"},
                            "what is pulled to a prototype: every sample, or the mean of a "
                            "class's samples in the batch") == "class";
  return o;
}

PrototypeOptions PrototypeOptions::Layered(const Config& table, double beta) {
  PrototypeOptions o = From(table);
  o.prototypes = table.Flag("proto", true, "false: no prototypes at all, only layered weights");
  o.beta = table.Real("beta", beta, "weight of |rL - F P^T|^2, outputs like their prototypes", 0);
  o.bounded = table.Choice("similar", "bounded", {"bounded", "raw"},
                           "the prototypes in it: after tanh, like the outputs; or raw, as the "
                           "authors do, which can ask for the opposite of the prototype where it "
                           "is long") == "bounded";
  o.pull =
      1 / table.Real("eta", 1e-3,
                     "of O_1 + eta O_2: smaller pulls outputs harder to their prototypes", 1e-12);
  o.over_samples = true;
  o.sends_changes = true;
  return o;
}

PrototypeClient::PrototypeClient(const ClientSetup& setup, PrototypeOptions options)
    : options_(std::move(options)),
      trainer_(setup),
      sums_(options_.prototypes ? Classes(setup.silo) : 0, setup.model.code_dims()) {}

void PrototypeClient::Receive(const TensorMap& broadcast) {
  const torch::Device device = trainer_.model().parameters().begin()->second.device();
  image_ = Prototypes::From(broadcast, Modality::kImage, device);
  text_ = Prototypes::From(broadcast, Modality::kText, device);
  if (!options_.sends_changes) return;
  received_ = Under("w/", broadcast);
  SetWeights(trainer_.model(), received_);
}

std::vector<LossTerm> PrototypeClient::Terms(const Step& step, const Seen& seen) {
  const torch::Tensor& all = trainer_.silo().all.labels;
  const torch::Tensor L = all.index_select(0, step.rows.to(all.device()));
  const torch::Tensor members = Members(L, options_.first);
  const double over =
      options_.over_samples ? trainer_.samples() * static_cast<double>(L.size(0)) : 1;
  std::vector<LossTerm> terms;
  for (Modality m : step.trains) {
    const Encoded& encoded = seen.of(m);
    if (!encoded.raw.defined()) continue;
    sums_.Add(m, encoded.raw, members);
    const Prototypes& global = m == Modality::kImage ? image_ : text_;
    if (!global.defined()) continue;
    if (options_.pull > 0) {
      const auto mse = options_.by_class ? ClassMse : SampleMse;
      terms.push_back({"O_1", options_.pull / over * mse(encoded.raw, members, global)});
    }
    if (options_.beta > 0) {
      Prototypes target = global;
      if (options_.bounded) target.P = torch::tanh(target.P);
      terms.push_back({"|rL - F P^T|^2",
                       options_.beta / over * PrototypeSimilarity(encoded.output, L, target)});
    }
  }
  return terms;
}

Update PrototypeClient::Train(int round) {
  TrainingHooks hooks;
  if (options_.prototypes) {
    hooks.begin_epoch = [this](int) { sums_.Clear(); };
    hooks.extra_loss = [this](const Step& step, const Seen& seen) { return Terms(step, seen); };
  }
  Update update{.loss = trainer_.Run(round, hooks).loss};
  if (options_.prototypes) {
    TensorMap share = sums_.Share(options_.by_samples);
    if (options_.protect) options_.protect(round, sums_, share);
    (options_.gathered ? update.gathered : update.sums) = share;
  }
  for (const auto& [name, w] : received_) {
    const torch::Tensor& trained = trainer_.model().parameters().at(name);
    update.gathered["d/" + name] = trained.detach().to(torch::kCPU) - w;
  }
  received_.clear();
  return update;
}

TensorMap PrototypeClient::State() const { return trainer_.StateAndWeights(); }

void PrototypeClient::SetState(const TensorMap& state) { trainer_.SetStateAndWeights(state); }

}  // namespace crossilo
