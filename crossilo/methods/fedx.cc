// FedX: a silo contrasts its views with each other and with the global model's,
// and agrees with it on how samples relate to others; here the views of a
// sample are its image and its text.
//
// Han et al., FedX: Unsupervised Federated Learning with Cross Knowledge
// Distillation, ECCV 2022; adapted to cross-modal hashing as a baseline.
//
//   L = L_base + w1 [NT(u_I, u_T) + 1/2 (NT(q_I, U_T) + NT(q_T, U_I))]
//              + w2 [JS(u_I, u_T; u_r) + JS(q_I, q_T; U_r)]
//
// u is a relaxed code of length 1, q the prediction head's (models/head.h) view
// of it, U the code by the model received, NT in nt_xent.h, JS in relational.h.
// u_r and U_r are of a random batch of the silo's pairs, the mean of both
// modalities.  The heads are trained and averaged, and have no part in codes.
// With w1 = w2 = 0 it is FedAvg.

#include <algorithm>

#include "crossilo/methods/averaging.h"
#include "crossilo/methods/nt_xent.h"
#include "crossilo/methods/relational.h"
#include "crossilo/methods/trainer.h"
#include "crossilo/models/encode.h"
#include "crossilo/models/head.h"
#include "crossilo/tensors/random_tensor.h"

namespace crossilo {
namespace {

constexpr int64_t kFewestAnchors = 32;

struct FedXOptions {
  double w1, w2, t, t2;
  bool local_only, replace;
  int64_t anchors;

  static FedXOptions From(const Config& table) {
    FedXOptions o;
    o.w1 = table.Real("w1", 1, "weight of the contrasts", 0);
    o.w2 = table.Real("w2", 1, "weight of the relations to other samples", 0);
    o.t = table.Real("t", 0.1, "temperature of contrasts and relations", 1e-3);
    o.t2 = table.Real("t2", 0.1, "temperature of what relations are drawn to", 1e-3);
    o.local_only = table.Flag("local_only", false, "leave out all that the global model is in");
    o.replace = table.Choice("loss", "add", {"add", "replace"},
                             "add to the base's loss, or train by these terms alone") == "replace";
    o.anchors = table.Int("anchors", 0,
                          "random samples that a batch is related to; 0: as many as the batch "
                          "has, at least 32",
                          0);
    return o;
  }
};

// The width of the prediction heads.
int64_t ReadHeadWidth(const Config& table, int64_t dims) {
  const int64_t width = table.Int(
      "head_width", 0, "hidden units of the prediction heads; 0: as many as the code", 0, 1 << 16);
  return width > 0 ? width : dims;
}

// Shuffled passes over all samples, one after the other: a small silo's come up
// several times in one draw.
class Passes {
 public:
  Passes(int64_t n, Random random) : n_(n), random_(random) {}

  torch::Tensor Next(int64_t count) {
    std::vector<int64_t> rows;
    while (std::ssize(rows) < count) {
      if (left_.empty()) left_ = random_.Permutation(n_);
      rows.push_back(left_.back());
      left_.pop_back();
    }
    return IndexTensor(rows);
  }

 private:
  int64_t n_;
  Random random_;
  std::vector<int64_t> left_;
};

// Codes of length 1 of the same samples.
struct Pair {
  torch::Tensor image, text;
  torch::Tensor mean() const { return UnitRows(image + text); }
  Pair Select(const torch::Tensor& rows) const {
    return {image.index_select(0, rows), text.index_select(0, rows)};
  }
};

class FedXClient final : public Client {
 public:
  FedXClient(const ClientSetup& setup, const Config& table)
      : o_(FedXOptions::From(table)),
        trainer_(setup),
        weight_(AveragingWeight(table, trainer_.samples())) {}

  void Receive(const TensorMap& w) override { SetWeights(trainer_.model(), w); }

  Update Train(int round) override {
    TrainingHooks hooks{.own_factor = o_.replace ? 0.0 : 1.0};
    Passes passes(trainer_.silo().size(), Stream(round, "anchors"));
    Random noise = Stream(round, "anchor noise");
    Pair U;
    if (o_.w1 > 0 || o_.w2 > 0) {
      // The received model sees every sample once a round, not once a batch.
      if (!o_.local_only) U = {Global(Modality::kImage), Global(Modality::kText)};
      hooks.extra_loss = [&](const Step& step, const Seen& seen) {
        return Terms(step, seen, U, passes, noise);
      };
    }
    const double loss = trainer_.Run(round, hooks).loss;
    return {.sums = Weights(trainer_.model()), .weight = weight_, .loss = loss};
  }

  TensorMap State() const override { return trainer_.State(); }
  void SetState(const TensorMap& state) override { trainer_.SetState(state); }

 private:
  Random Stream(int round, const char* purpose) const {
    return Random(trainer_.setup().seed,
                  {static_cast<uint64_t>(round), static_cast<uint64_t>(trainer_.silo().id)},
                  purpose);
  }

  torch::Tensor Global(Modality m) const {
    return UnitRows(EncodeAll(trainer_.model(), m, trainer_.Features(m), &Encoded::code));
  }

  // A network that the step does not train is a constant.
  torch::Tensor Local(Modality m, const Step& step, const torch::Tensor& at, Random& noise) const {
    const torch::Tensor x = trainer_.Features(m).index_select(0, at);
    const auto code = [&] { return UnitRows(trainer_.model().Encode(m, x, &noise).code); };
    if (std::find(step.trains.begin(), step.trains.end(), m) != step.trains.end()) return code();
    torch::NoGradGuard no_grad;
    return code();
  }

  std::vector<LossTerm> Terms(const Step& step, const Seen& seen, const Pair& all_U, Passes& passes,
                              Random& noise) const {
    const torch::Device device = trainer_.silo().all.image.device();
    const torch::Tensor at = step.rows.to(device);
    const auto local = [&](Modality m) {
      const torch::Tensor& code = seen.of(m).code;
      return code.defined() ? UnitRows(code) : Local(m, step, at, noise);
    };
    const Pair u{local(Modality::kImage), local(Modality::kText)};
    Pair q;
    if (!o_.local_only) {
      q = {Predict(trainer_.model(), Modality::kImage, u.image),
           Predict(trainer_.model(), Modality::kText, u.text)};
    }
    std::vector<LossTerm> terms;
    if (o_.w1 > 0) {
      const Pair U = o_.local_only ? Pair{} : all_U.Select(at);
      terms.push_back({"w1 NT", o_.w1 * Contrast(u, q, U)});
    }
    if (o_.w2 > 0) {
      const int64_t count = o_.anchors > 0 ? o_.anchors : std::max(kFewestAnchors, at.size(0));
      const torch::Tensor r = passes.Next(count).to(device);
      const Pair u_r{Local(Modality::kImage, step, r, noise),
                     Local(Modality::kText, step, r, noise)};
      const Pair U_r = o_.local_only ? Pair{} : all_U.Select(r);
      terms.push_back({"w2 JS", o_.w2 * Relation(u, u_r, q, U_r)});
    }
    return terms;
  }

  torch::Tensor Contrast(const Pair& u, const Pair& q, const Pair& U) const {
    torch::Tensor own = NtXent(u.image, u.text, o_.t);
    if (o_.local_only) return own;
    return own + 0.5 * (NtXent(q.image, U.text, o_.t) + NtXent(q.text, U.image, o_.t));
  }

  torch::Tensor Relation(const Pair& u, const Pair& u_r, const Pair& q, const Pair& U_r) const {
    torch::Tensor own = RelationalLoss(u.image, u.text, u_r.mean(), o_.t, o_.t2);
    if (o_.local_only) return own;
    return own + RelationalLoss(q.image, q.text, U_r.mean(), o_.t, o_.t2);
  }

  FedXOptions o_;
  Trainer trainer_;
  double weight_;
};

}  // namespace

Method FedX() {
  return {
      .name = "fedx",
      .summary = "fedavg with contrasts and relations distilled from the global model (ECCV 2022)",
      .sends = "weights (in a sum)",
      .make_client = NewClient<FedXClient>,
      .make_server = NewServer<AveragingServer>,
      .prepare = [](HashModel& model, const Config& table, uint64_t seed) {
        const int64_t dims = model.code_dims();
        model.Attach(MakePredictionHead(dims, ReadHeadWidth(table, dims)),
                     Random(seed, {}, "prediction heads"));
      }};
}

}  // namespace crossilo
