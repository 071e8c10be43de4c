// FedCMR: the silos' layers of the common subspace are mixed by how much data
// they hold and how low their loss is; then each goes on from the mix, less
// half of its own last update, and trains on samples it has kept back.
//
// Zong et al., FedCMR: Federated Cross-Modal Retrieval, SIGIR 2021, as the
// authors' code has it:
//
//   f_k = softmax_k( w_k + 100 exp(-exp(loss_k / mean loss)) )
//   w_k = n_k c_k / sum_j n_j c_j
//   W = sum_k f_k W_k,    W_k <- W - 0.5 (W_k - W_old)
//
// n_k samples with c_k distinct labels; loss_k is the sum over all steps.

#include <cmath>

#include "crossilo/methods/subspace.h"

namespace crossilo {
namespace {

bool AllLayers(const Config& table) {
  return table.Choice("layers", "all", {"all", "last"},
                      "what is mixed: all, which makes a global model; or the last layers, with "
                      "every silo judged by its own model, as the authors do") == "all";
}

std::unique_ptr<Client> MakeClient(const ClientSetup& setup, const Config& table) {
  SubspaceOptions options{.all_layers = AllLayers(table)};
  const bool sum =
      table.Choice("loss", "sum", {"sum", "mean"},
                   "what silos are weighed by: sum: over all steps, as the authors do, which "
                   "favours silos with few; mean: over the last epoch's") == "sum";
  options.loss = sum ? &TrainingResult::loss_sum : &TrainingResult::loss;
  options.residual = table.Real(
      "residual", 0.5, "share of its own last update that a silo takes back from the mix", 0, 1);
  options.refine =
      table.Real("refine", 0.2,
                 "share of a silo's samples, drawn anew every round, that trains only after the "
                 "mix has come back; 0: none",
                 0, 0.9);
  return SubspaceClient(setup, options);
}

std::unique_ptr<Server> MakeServer(const ServerSetup& setup, const Config& table) {
  const double sharpness =
      table.Real("sharpness", 100, "how much a lower loss counts; 0: only samples and labels", 0);
  const auto f = [sharpness](const std::vector<Contribution>& all) {
    std::vector<double> held;
    for (const Contribution& k : all) held.push_back(k.samples * k.classes);
    std::vector<double> logits = Shares(held);
    const std::vector<double> loss = RelativeLosses(all);
    for (size_t k = 0; k < all.size(); ++k) {
      logits[k] += sharpness * std::exp(-std::exp(loss[k]));
    }
    return Softmax(logits);
  };
  return SubspaceServer(setup, AllLayers(table), f);
}

}  // namespace

Method FedCmr() {
  return {.name = "fedcmr",
          .summary = "layers mixed by data and loss, each silo less its own update (SIGIR 2021)",
          .sends = "weights, counts and loss (each silo's own)",
          .make_client = MakeClient,
          .make_server = MakeServer};
}

}  // namespace crossilo
