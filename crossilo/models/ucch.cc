// UCCH: contrast each pair's codes with a memory bank of binarised codes, and
// rank the true pair above the others of its batch.
//
// Hu et al., Unsupervised Contrastive Cross-modal Hashing, TPAMI 2023.
//
//   L = beta L_c + (1 - beta) L_r
//   L_c = -mean_i log softmax_0(<k_j, h_i> / (tau sqrt(r))), both modalities,
//         keys k = sign(V): slot 0 the pair's own, `negatives` drawn from all
//   L_r = mean_i [-S_ii + log sum_j e^S_ij + margin], both directions, where
//         S_ij = M_ij if M_ij >= M_ii - margin else M_ij - shift, M = H_x H_y^T

#include <algorithm>
#include <cmath>

#include "crossilo/models/plan_pairs.h"
#include "crossilo/tensors/random_tensor.h"
#include "crossilo/tensors/unit_rows.h"

namespace crossilo {
namespace {

struct UcchOptions {
  int64_t bits = 32;
  int64_t hidden_image = 1024, hidden_text = 1024, layers_image = 3;
  double beta = 0.9, margin = 0.2, shift = 1, tau = 0.9, momentum = 0.4;
  int64_t negatives = 4096, warmup = 1;
  std::string bank = "round";

  static UcchOptions From(const Config& table) {
    UcchOptions o;
    o.bits = ReadBits(table);
    o.hidden_image = table.Int("hidden_image", o.hidden_image, "width of image hidden layers", 1);
    o.hidden_text = table.Int("hidden_text", o.hidden_text, "width of the text hidden layer", 1);
    o.layers_image = table.Int("layers_image", o.layers_image, "layers of the image network", 2, 9);
    o.beta = table.Real("beta", o.beta, "weight of the contrast; the ranking has 1 - beta", 0, 1);
    o.margin = table.Real("margin", o.margin, "a pair within this of the true one ranks fully", 0);
    o.shift = table.Real("shift", o.shift, "how far easy pairs are pushed down in the ranking", 0);
    o.tau = table.Real("tau", o.tau, "temperature of the contrast", 1e-6);
    o.momentum =
        table.Real("momentum", o.momentum, "how much of a bank row survives an update", 0, 1);
    o.negatives = table.Int("negatives", o.negatives, "bank rows drawn against each sample", 1);
    o.warmup = table.Int("warmup", o.warmup, "first epochs that contrast within the batch only", 0);
    o.bank = table.Choice("bank", o.bank, {"round", "kept"},
                          "round: a new bank, and its warm-up, every round; kept: one for all");
    return o;
  }
};

class Ucch final : public HashModel {
 public:
  Ucch(const ModelShape& shape, const UcchOptions& options, Random random)
      : HashModel(shape), options_(options) {
    int64_t in = shape.image_dims;
    for (int64_t layer = 1; layer < options.layers_image; ++layer) {
      AddLinear("image.hidden" + std::to_string(layer), in, options.hidden_image, -1, random);
      in = options.hidden_image;
    }
    AddLinear("image.hash", in, options.bits, -1, random);
    AddLinear("text.hidden1", shape.text_dims, options.hidden_text, -1, random);
    AddLinear("text.hash", options.hidden_text, options.bits, -1, random);
  }

  // h = tanh(net(x)), scaled to length 1.
  Encoded Forward(Modality modality, const torch::Tensor& x) const override {
    const std::string net = NameOf(modality);
    const int64_t layers = modality == Modality::kImage ? options_.layers_image : 2;
    Encoded out;
    out.hidden = x;
    for (int64_t layer = 1; layer < layers; ++layer) {
      out.hidden = torch::relu(ApplyLinear(net + ".hidden" + std::to_string(layer), out.hidden));
    }
    out.raw = ApplyLinear(net + ".hash", out.hidden);
    out.output = UnitRows(torch::tanh(out.raw));
    return out;
  }

  int64_t code_dims() const override { return options_.bits; }
  std::unique_ptr<Learner> Learn(const Silo& silo, Random own, Random common) override;
  const UcchOptions& options() const { return options_; }

 private:
  UcchOptions options_;
};

class UcchLearner final : public Learner {
 public:
  UcchLearner(const Ucch& model, const Silo& silo, Random& random)
      : model_(model), silo_(silo), draws_(random) {
    NewBank(random);
  }

  void BeginRound(Random& random) override {
    if (!Kept()) NewBank(random);
    draws_ = Random(random.Bits());
  }

  std::vector<Step> PlanEpoch(int epoch, int64_t batch, Random& random) override {
    warming_ = (Kept() ? warm_epochs_++ : epoch) < model_.options().warmup;
    return PlanGroups(silo_.size(), batch, random);
  }

  torch::Tensor Loss(const Step& step, Seen& seen) override {
    const Batch batch = silo_.all.Select(step.rows);
    seen.image = model_.Encode(Modality::kImage, batch.image);
    seen.text = model_.Encode(Modality::kText, batch.text);
    const torch::Tensor &x = seen.image.output, &y = seen.text.output;
    const torch::Tensor rows = step.rows.to(V_.device());
    mean_ = (0.5 * (x + y)).detach();
    const torch::Tensor contrast = warming_ ? InBatchContrast(x, y) : BankContrast(x, y, rows);
    const double beta = model_.options().beta;
    return beta * contrast + (1 - beta) * Ranking(x, y);
  }

  // V_i <- normalise(d V_i + (1 - d) normalise((h_x + h_y) / 2)); d = 0 while
  // warming up.
  void AfterStep(const Step& step) override {
    torch::NoGradGuard no_grad;
    const torch::Tensor rows = step.rows.to(V_.device());
    const double d = warming_ ? 0 : model_.options().momentum;
    const torch::Tensor moved = d * V_.index_select(0, rows) + (1 - d) * UnitRows(mean_);
    V_.index_copy_(0, rows, UnitRows(moved));
  }

  TensorMap State() const override {
    return Copy({{"V", V_}, {"warm_epochs", torch::tensor({warm_epochs_})}});
  }
  void SetState(const TensorMap& state) override {
    V_.copy_(state.at("V"));
    warm_epochs_ = state.at("warm_epochs").item<int64_t>();
  }

 private:
  bool Kept() const { return model_.options().bank == "kept"; }

  // normalise(sign(noise)): the authors' uniform scale cancels in the sign.
  void NewBank(Random& random) {
    const int64_t r = model_.options().bits;
    const torch::Tensor noise = RandomNormal({silo_.size(), r}, random);
    V_ = (torch::where(noise > 0, 1.0, -1.0).to(torch::kFloat) / std::sqrt(double(r)))
             .to(silo_.all.image.device());
  }

  double Temperature() const {
    return model_.options().tau * std::sqrt(static_cast<double>(model_.options().bits));
  }

  // -mean log softmax at column 0, which holds the positive.
  static torch::Tensor FirstWins(const torch::Tensor& logits) {
    return (torch::logsumexp(logits, 1) - logits.select(1, 0)).mean();
  }

  // All n products are cheaper than gathering `negatives` keys a sample, and
  // the draws then only pick from them.
  torch::Tensor BankContrast(const torch::Tensor& x, const torch::Tensor& y,
                             const torch::Tensor& rows) {
    const int64_t m = rows.size(0), k = model_.options().negatives + 1;
    torch::Tensor drawn = torch::empty({m, k}, torch::kLong);
    int64_t* at = drawn.data_ptr<int64_t>();
    for (int64_t i = 0; i < m * k; ++i) at[i] = static_cast<int64_t>(draws_.Below(silo_.size()));
    drawn.select(1, 0).copy_(rows);
    drawn = drawn.to(V_.device());
    const torch::Tensor keys = V_.sign().t() / Temperature();
    return FirstWins(x.mm(keys).gather(1, drawn)) + FirstWins(y.mm(keys).gather(1, drawn));
  }

  // The dictionary is the batch's own mean codes.
  torch::Tensor InBatchContrast(const torch::Tensor& x, const torch::Tensor& y) const {
    const torch::Tensor keys = mean_.sign().t() / Temperature();
    const auto own_wins = [&](const torch::Tensor& h) {
      const torch::Tensor logits = h.mm(keys);
      return (torch::logsumexp(logits, 1) - logits.diagonal()).mean();
    };
    return own_wins(x) + own_wins(y);
  }

  torch::Tensor Ranking(const torch::Tensor& x, const torch::Tensor& y) const {
    const double margin = model_.options().margin, shift = model_.options().shift;
    const torch::Tensor M = x.mm(y.t());
    const auto one_way = [&](const torch::Tensor& scores) {
      const torch::Tensor own = scores.diagonal();
      const torch::Tensor easy =
          scores.detach().lt(own.detach().unsqueeze(1) - margin).to(torch::kFloat);
      return (torch::logsumexp(scores - shift * easy, 1) - own + margin).mean();
    };
    return one_way(M) + one_way(M.t());
  }

  const Ucch& model_;
  const Silo& silo_;
  Random draws_;
  torch::Tensor V_;          // n x r, rows of length 1
  torch::Tensor mean_;       // (h_x + h_y) / 2 of the step under way
  int64_t warm_epochs_ = 0;  // of a bank that is kept
  bool warming_ = false;
};

std::unique_ptr<Learner> Ucch::Learn(const Silo& silo, Random own, Random) {
  return std::make_unique<UcchLearner>(*this, silo, own);
}

std::unique_ptr<HashModel> Make(const ModelShape& shape, const Config& table, Random random) {
  return std::make_unique<Ucch>(shape, UcchOptions::From(table), random);
}

}  // namespace

ModelKind UcchKind() {
  return {.name = "ucch",
          .summary = "contrast with a memory bank of codes and a ranking of pairs (TPAMI 2023)",
          .presets = {{"default",
                       {"training.optimizer=adam", "training.learning_rate=0.001",
                        "training.weight_decay=1e-6", "training.clip=1.0", "training.batch=64"}},
                      {"paper",
                       {"model.hidden_image=8192", "model.hidden_text=8192",
                        "training.optimizer=adam", "training.learning_rate=0.0001",
                        "training.weight_decay=1e-6", "training.clip=1.0", "training.batch=256"}}},
          .make = Make};
}

}  // namespace crossilo
