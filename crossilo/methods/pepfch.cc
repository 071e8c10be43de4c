// PEPFCH: PLFedCMH whose prototypes travel protected.
//
// Zuo et al., Privacy-Enhanced Prototype-based Federated Cross-modal Hashing,
// ACM TOMM 2024; we know its abstract and its authors' code, which is PLFedCMH's
// with beta .1 and these changes:
// - prototypes.  The code adds N(0, I) to every sample's output before the mean
//   (to none where a class has one sample), and the hub takes a fresh draw off
//   what it gets: nothing cancels, P_c is off by a variance of
//   (1 + 1/n_c) / K_c.  That is `noise-literal`.  `mask` is what the abstract
//   promises: the hub can read nothing but the sum over all silos.
// - the hypernetworks' step goes down the loss (our default for both methods),
//   but only the embedding outlives it: hn_trains = "embedding".
// - class codes pass a sigmoid instead of a sign: the key class_codes of the
//   base shdch.  Its alpha .9 is a key of that base too; the batch of 256 and
//   the 80 rounds are settings of [training].

#include <algorithm>

#include "crossilo/base/error.h"
#include "crossilo/methods/layered_server.h"
#include "crossilo/methods/prototype_client.h"
#include "crossilo/tensors/random_tensor.h"

namespace crossilo {
namespace {

uint64_t Path(int number) { return static_cast<uint64_t>(number); }

std::string ReadPrivacy(const Config& table) {
  return table.Choice("proto_privacy", "none", {"none", "noise-literal", "mask"},
                      "of prototypes on their way: clear; noise that does not cancel, as the "
                      "authors do; or masks that cancel in the sum over all silos");
}

// Of independent draws for n_c samples the mean is one of variance 1 / n_c.
void AddNoise(const PrototypeSums& sums, Random random, TensorMap& share) {
  for (Modality m : kModalities) {
    torch::Tensor& vectors = share.at("prototype/" + NameOf(m));
    const torch::Tensor n = sums.Counts(m);
    const torch::Tensor deviation = n.gt(1) / n.clamp_min(1).sqrt();
    vectors = vectors + (share.at("owners/" + NameOf(m)) * deviation).unsqueeze(1) *
                            RandomNormal(vectors.sizes(), random);
  }
}

// Silos i < j agree on a stream; i adds what it gives and j subtracts it.  Here
// its seed is the run's; silos on machines of their own would agree on one that
// the hub does not know.  Doubles, so that masks far larger than what they hide
// cancel to more digits than a prototype has.
void AddMasks(const ClientSetup& setup, int round, TensorMap& share) {
  constexpr double kDeviation = 1e6;
  for (auto& [name, tensor] : share) tensor = tensor.to(torch::kDouble);
  const int own = setup.silo.id;
  for (int other = 0; other < setup.silos; ++other) {
    if (other == own) continue;
    const auto [i, j] = std::minmax(own, other);
    Random random(setup.seed, {Path(round), Path(i), Path(j)}, "mask");
    const double scale = own == i ? kDeviation : -kDeviation;
    for (auto& [name, tensor] : share) {
      double* at = tensor.data_ptr<double>();
      for (int64_t k = 0; k < tensor.numel(); ++k) at[k] += scale * random.Normal();
    }
  }
}

// PLFedCMH's hub, with what it does to protected prototypes.
class PepFchServer final : public Server {
 public:
  PepFchServer(const ServerSetup& setup, const Config& table)
      : layered_(setup, LayeredOptions::From(table)),
        privacy_(ReadPrivacy(table)),
        silos_(setup.silos),
        seed_(setup.seed) {}

  Exchange exchange() const override { return layered_.exchange(); }
  TensorMap Broadcast(int silo) const override { return layered_.Broadcast(silo); }

  void Arrived(int silo, const TensorMap& gathered) override {
    layered_.Arrived(silo, gathered);
    Collect(silo, gathered);
  }

  void Merge(const Merged& round) override {
    if (privacy_ == "mask" && !round.mean.empty()) RequireAll(round);
    for (const auto& [silo, gathered] : round.gathered) Collect(silo, gathered);
    layered_.Merge(
        {.mean = privacy_ == "noise-literal" ? sum_ : round.mean, .gathered = round.gathered});
    sum_.clear();
    ++round_;
  }

  TensorMap Global() const override { return {}; }
  TensorMap State() const override {
    TensorMap state = layered_.State();
    state["round"] = torch::tensor(round_, torch::kLong);
    return state;
  }
  void SetState(const TensorMap& state) override {
    layered_.SetState(state);
    round_ = state.at("round").item<int>();
  }

 private:
  // A share that came on its own, less the hub's own draw.
  void Collect(int silo, const TensorMap& gathered) {
    TensorMap share;
    Random random(seed_, {Path(round_), Path(silo)}, "prototype noise at the hub");
    for (Modality m : kModalities) {
      const auto vectors = gathered.find("prototype/" + NameOf(m));
      if (vectors == gathered.end()) return;
      const torch::Tensor& owners = gathered.at("owners/" + NameOf(m));
      share[vectors->first] =
          vectors->second - owners.unsqueeze(1) * RandomNormal(vectors->second.sizes(), random);
      share["owners/" + NameOf(m)] = owners;
    }
    sum_ = sum_.empty() ? share : sum_ + share;
  }

  void RequireAll(const Merged& round) const {
    std::vector<int> missing;
    for (int i = 0; i < silos_; ++i) {
      if (!round.gathered.contains(i)) missing.push_back(i);
    }
    if (missing.empty()) return;
    throw Error(
        "method.proto_privacy = 'mask': masks cancel only over all {} silos, and in round {} silos "
        "{} took no part; set training.participation = 1, or method.proto_privacy = 'none'",
        silos_, round_, missing);
  }

  LayeredServer layered_;
  std::string privacy_;
  int silos_, round_ = 1;
  uint64_t seed_;
  TensorMap sum_;  // of the shares that came silo by silo this round
};

std::unique_ptr<Client> MakeClient(const ClientSetup& setup, const Config& table) {
  PrototypeOptions options = PrototypeOptions::Layered(table, 0.1);
  const std::string privacy = ReadPrivacy(table);
  options.gathered = privacy == "noise-literal";
  if (privacy == "noise-literal") {
    options.protect = [seed = setup.seed, silo = setup.silo.id](
                          int round, const PrototypeSums& sums, TensorMap& share) {
      AddNoise(sums, Random(seed, {Path(round), Path(silo)}, "prototype noise"), share);
    };
  } else if (privacy == "mask") {
    options.protect = [setup](int round, const PrototypeSums&, TensorMap& share) {
      AddMasks(setup, round, share);
    };
  }
  return std::make_unique<PrototypeClient>(setup, options);
}

}  // namespace

Method PepFch() {
  return {.name = "pepfch",
          .summary = "plfedcmh whose prototypes can travel masked or with noise (TOMM 2024)",
          .sends =
              "weights' changes (silo by silo), class prototypes (in a sum; noise-literal: silo by "
              "silo)",
          .personal = true,
          .make_client = MakeClient,
          .make_server = NewServer<PepFchServer>};
}

}  // namespace crossilo
