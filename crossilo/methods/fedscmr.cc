// FedSCMR: the silos' layers of the common subspace are mixed by how much data
// they hold, how low their loss is and how well they retrieve.  All else stays
// at the silo, which is judged by its own model.
//
// Li, Li and Shao, FedSCMR, World Wide Web 2024, Eqs. 9 to 13; its networks and
// losses are the base scmr.
//
//   W = sum_k lam_k W_k,    lam = softmax_k( Om_k + Psi_k + gamma Phi_k )
//   Om_k = (n_k / sum n)(c_k / sum c),   Psi_k = exp(-l_k / mean l),
//   Phi_k = v_k / sum v
//
// n_k samples with c_k distinct labels; l_k is the mean loss of the last local
// epoch, v_k the silo's mAP.

#include <cmath>

#include "crossilo/eval/evaluate.h"
#include "crossilo/methods/subspace.h"

namespace crossilo {
namespace {

Relevance RelevanceOf(const Batch& samples) {
  if (!samples.labels.defined()) {
    std::vector<int64_t> pairs(samples.size());
    for (size_t i = 0; i < pairs.size(); ++i) pairs[i] = static_cast<int64_t>(i);
    return Relevance::FromPairs(pairs, pairs);
  }
  const torch::Tensor labels = samples.labels.gt(0).to(torch::kCPU).to(torch::kUInt8).contiguous();
  const std::span<const uint8_t> bytes(labels.data_ptr<uint8_t>(),
                                       static_cast<size_t>(labels.numel()));
  return Relevance::FromLabels(bytes, bytes, labels.size(1));
}

// v: mean of both directions, over the whole ranking of the other modality.
// By cosine of the relaxed codes on every base, also on a hashing one, which
// the model does not say it is: FedSCMR itself knows real-valued ones only.
double MeanMap(const HashModel& model, const Batch& samples) {
  torch::NoGradGuard no_grad;
  const torch::Tensor x = model.Encode(Modality::kImage, samples.image).code.cpu().contiguous();
  const torch::Tensor y = model.Encode(Modality::kText, samples.text).code.cpu().contiguous();
  const Relevance relevance = RelevanceOf(samples);
  const auto map = [&](const torch::Tensor& queries, const torch::Tensor& database) {
    const auto floats = [](const torch::Tensor& t) {
      return std::span<const float>(t.data_ptr<float>(), static_cast<size_t>(t.numel()));
    };
    // One thread: other silos are at work beside this one.
    return EvaluateCosine(floats(queries), floats(database), x.size(1), relevance,
                          {.cutoffs = {}, .threads = 1})
        .map;
  };
  return 0.5 * (map(x, y) + map(y, x));
}

bool AllLayers(const Config& table) {
  return table.Choice("agg", "linear-only", {"linear-only", "all"},
                      "what is mixed: the last layers only, with every silo judged by its own "
                      "model; or all, which makes a global model") == "all";
}

bool UsesMap(const Config& table) {
  return table.Flag("phi", true, "silos that retrieve better count more; off: no mAP is sent");
}

std::unique_ptr<Client> MakeClient(const ClientSetup& setup, const Config& table) {
  SubspaceOptions options{.all_layers = AllLayers(table), .loss = &TrainingResult::loss};
  if (UsesMap(table)) options.score = MeanMap;
  options.validation = table.Real("validation", 0,
                                  "share of a silo's samples that never trains and measures its "
                                  "mAP; 0: the training samples do",
                                  0, 0.9);
  const std::string residual =
      table.Choice("residual", "off", {"off", "fedcmr"},
                   "fedcmr: a silo takes half of its own last update back from the mix");
  options.residual = residual == "fedcmr" ? 0.5 : 0;
  return SubspaceClient(setup, options);
}

std::unique_ptr<Server> MakeServer(const ServerSetup& setup, const Config& table) {
  const double gamma = table.Real("gamma", 30, "how much a better mAP counts", 0);
  const auto lam = [gamma = UsesMap(table) ? gamma : 0](const std::vector<Contribution>& all) {
    const std::vector<double> n = Shares(Each(all, &Contribution::samples));
    const std::vector<double> c = Shares(Each(all, &Contribution::classes));
    const std::vector<double> l = RelativeLosses(all);
    const std::vector<double> Phi = Shares(Each(all, &Contribution::map));
    std::vector<double> logits;
    for (size_t k = 0; k < all.size(); ++k) {
      const double Om = n[k] * c[k], Psi = std::exp(-l[k]);
      logits.push_back(Om + Psi + gamma * Phi[k]);
    }
    return Softmax(logits);
  };
  return SubspaceServer(setup, AllLayers(table), lam);
}

}  // namespace

Method FedScmr() {
  return {.name = "fedscmr",
          .summary = "last layers mixed by data, loss and mAP; the rest stays (WWW Journal 2024)",
          .sends = "the last layers, counts, loss and mAP (each silo's own)",
          .personal = true,
          .make_client = MakeClient,
          .make_server = MakeServer};
}

}  // namespace crossilo
