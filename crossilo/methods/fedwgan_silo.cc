// A silo's half of FedWGAN; the paper stands in fedwgan.cc.

#include "crossilo/methods/fedwgan_silo.h"

#include "crossilo/base/error.h"
#include "crossilo/methods/facts_state.h"
#include "crossilo/tensors/random_tensor.h"

namespace crossilo {

SiloSynthesis::SiloSynthesis(const ClientSetup& setup, const FedWganOptions& options)
    : o_(options),
      setup_(setup),
      gan_(PairShapeOf(setup.model, options.output), options.wgan, DeviceOf(setup.model)) {
  if (o_.gan && o_.space == PairSpace::kCodes && setup.model.input() == InputStage::kMlp) {
    throw Error(
        "method.proto_space = 'hash' needs generated pairs encoded at a silo, which model.input = "
        "'mlp' does not allow; use model.input = 'unit' or 'raw'");
  }
}

// With frozen features the JSD of real pairs is a constant.
bool SiloSynthesis::AlignsReal() const {
  return o_.gan && o_.losses.jsd && o_.losses.gamma > 0 && setup_.model.input() == InputStage::kMlp;
}

Random SiloSynthesis::Stream(const char* purpose) const {
  return Random(setup_.seed, {static_cast<uint64_t>(round_), static_cast<uint64_t>(setup_.silo.id)},
                purpose);
}

void SiloSynthesis::Begin(int round) {
  const Batch& all = setup_.silo.all;
  round_ = round;
  alpha_ = o_.losses.AlphaAt(round, setup_.training.rounds);
  if (AlignsReal() && all.size() > 0) (void)FindPrototypes(PairFeatures(setup_.model, all));
  facts_ = {};
}

std::vector<LossTerm> SiloSynthesis::RealJsd(const Step& step, const Seen& seen) const {
  const Batch batch = setup_.silo.all.Select(step.rows);
  const auto shares = [&](Modality m, const torch::Tensor& x, const torch::Tensor& C) {
    const torch::Tensor& input = seen.of(m).input;
    return PseudoLabelShares(input.defined() ? input : setup_.model.Input(m, x), C);
  };
  const torch::Tensor jsd = JensenShannon(shares(Modality::kImage, batch.image, C_.image),
                                          shares(Modality::kText, batch.text, C_.text));
  return {{"gamma a JSD", o_.losses.gamma * alpha_ * jsd}};
}

TensorMap SiloSynthesis::Train() {
  const Batch& all = setup_.silo.all;
  if (all.size() < 2) {
    facts_["generator"] = static_cast<double>(GeneratorHealth::kTooFew);
    return {};
  }
  const torch::Tensor F = PairFeatures(setup_.model, all);
  SynthesisUpload upload = FindPrototypes(F);
  TrainGenerator(F);
  Random random = Stream("generator's check");
  const torch::Tensor F_g = gan_.Sample(o_.memorisation, random);
  const GeneratorHealth health = Check(F, F_g, random);
  if (health == GeneratorHealth::kFine) upload.generator = gan_.generator();
  RestartIfLost(health, F_g);
  return upload.Sent();
}

// Finds C_ and says what the hub is to know of it.
SynthesisUpload SiloSynthesis::FindPrototypes(const torch::Tensor& F) {
  torch::NoGradGuard no_grad;
  const Batch& all = setup_.silo.all;
  const torch::Tensor fused = ViewsOf(F, setup_.model, o_.space).fused;
  const KMeans found = PairPrototypes(
      fused, o_.prototypes,
      Random(setup_.seed, {static_cast<uint64_t>(setup_.silo.id)}, "prototypes of pairs"));
  const torch::Tensor C = found.centres.to(F.device());
  C_ = PrototypeViews(C, setup_.model, o_.space);
  facts_["prototypes_of_one_sample"] = torch::bincount(found.assignment).eq(1).sum().item<double>();
  SynthesisUpload upload{.prototypes = C,
                         .theta = QuantileOf(DistanceToNearest(fused, C), o_.quantile),
                         .samples = static_cast<double>(all.size())};
  if (setup_.model.needs_labels()) {
    const torch::Tensor labels =
        all.coarse.defined() ? torch::cat({all.labels, all.coarse}, 1) : all.labels;
    upload.labels = ClusterLabels(labels, found.assignment, C.size(0));
  }
  return upload;
}

// On L_G + lambda L_c + gamma (1 - a) JSD(Q_g^I || Q_g^T).
void SiloSynthesis::TrainGenerator(const torch::Tensor& F) {
  if (!gan_.started()) gan_.Start(Stream("generator"));
  if (!o_.train_generators) return;
  Random random = Stream("generator's training");
  const int64_t epochs = o_.gan_epochs > 0 ? o_.gan_epochs : setup_.training.local_epochs;
  gan_.Train(F, epochs, random, [this](const torch::Tensor& F_g) {
    return GeneratorTerms(ViewsOf(F_g, setup_.model, o_.space), C_, o_.losses, alpha_);
  });
}

GeneratorHealth SiloSynthesis::Check(const torch::Tensor& F, const torch::Tensor& F_g,
                                     Random& random) {
  const torch::Tensor some =
      RandomPermutation(F.size(0), random).slice(0, 0, o_.memorisation).to(F.device());
  GeneratorHealth health = HealthOf(F_g, F.index_select(0, some), o_.collapse);
  if (!FirstNotFinite(gan_.critic()).empty()) health = GeneratorHealth::kDiverged;
  facts_["generator"] = static_cast<double>(health);
  if (health == GeneratorHealth::kDiverged) return health;
  const Memorisation m = MeasureMemorisation(F_g, F, o_.memorisation, random);
  facts_["memorisation_generated"] = m.generated;
  facts_["memorisation_real"] = m.real;
  if (m.real > 0) facts_["memorisation_ratio"] = m.generated / m.real;
  return health;
}

// No training brings back a diverged generator, or one that stays collapsed.
void SiloSynthesis::RestartIfLost(GeneratorHealth health, const torch::Tensor& F_g) {
  const int64_t collapsed = collapsed_.After(health, F_g);
  const bool stuck = o_.train_generators && o_.patience > 0 && collapsed >= o_.patience;
  if (stuck || health == GeneratorHealth::kDiverged) {
    gan_.Start(Stream("generator again"));
    collapsed_ = {};
    ++restarts_;
  }
  facts_["restarts"] = static_cast<double>(restarts_);
}

TensorMap SiloSynthesis::State() const {
  TensorMap state = Prefixed("gan/", gan_.State());
  state.merge(Prefixed("collapsed/", collapsed_.State()));
  state["restarts"] = torch::tensor(restarts_);
  state.merge(FactsAsTensors(facts_));
  return state;
}

void SiloSynthesis::SetState(const TensorMap& state) {
  gan_.SetState(Under("gan/", state));
  collapsed_.SetState(Under("collapsed/", state));
  restarts_ = state.at("restarts").item<int64_t>();
  facts_ = FactsIn(state);
}

}  // namespace crossilo
