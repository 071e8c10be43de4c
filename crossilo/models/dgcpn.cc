// DGCPN: codes as alike as their samples' features and common neighbours are,
// learned with real and with binary codes in turn.
//
// Yu et al., Deep Graph-neighbor Coherence Preserving Network for Unsupervised
// Cross-modal Hashing, AAAI 2021, in the form of its public code.  With C_xy the
// cosines of a batch's codes, m x m, and 0 on the diagonals of C' and S':
//   Q_c = mean_i (C_IT[i,i] - K)^2
//   Q_g = mse(C'_TT, S') + mse(C'_IT, S') + mse(C'_II, S')
//   Q_i = mse(C_IT, C_II) + mse(C_IT, C_TT) + mse(C_II, C_TT) + mse(C_IT, C_IT^T)
//   J = Q_c + dw Q_g + cw Q_i
// A batch takes three steps: J(I, T) moves both networks; then, encoded anew,
// J(I, sign T) the image network and J(sign I, T) the text network.

#include <algorithm>
#include <cmath>
#include <utility>

#include "crossilo/models/neighbour_graph.h"
#include "crossilo/models/two_networks.h"
#include "crossilo/tensors/random_tensor.h"
#include "crossilo/tensors/unit_rows.h"

namespace crossilo {
namespace {

struct DgcpnOptions {
  TwoNetworkOptions networks;
  double dropout = 0.5, text_deviation = 0.3;
  double K = 1.5, dw = 1, cw = 1;
  NeighbourGraphOptions graph;

  static DgcpnOptions From(const Config& table) {
    DgcpnOptions o;
    TwoNetworkOptions& w = o.networks;
    w.bits = ReadBits(table);
    w.hidden_image =
        table.Int("hidden_image", w.hidden_image, "width of the image hidden layer", 1);
    w.hidden_text = table.Int("hidden_text", w.hidden_text, "width of the text hidden layer", 1);
    o.dropout =
        table.Real("dropout", o.dropout, "share of hidden units silent in training", 0, 0.99);
    o.text_deviation = table.Real("text_deviation", o.text_deviation,
                                  "initial weights of the text output layer are normal with this "
                                  "deviation; negative: uniform in +-1/sqrt(inputs)");
    o.K = table.Real("K", o.K, "the cosine that a pair's two codes are pulled to");
    o.dw = table.Real("dw", o.dw, "weight of the likeness of features and neighbours", 0);
    o.cw = table.Real("cw", o.cw, "weight of the agreement within and between modalities", 0);
    NeighbourGraphOptions& g = o.graph;
    g.a1 = table.Real("a1", g.a1, "weight of text features in likeness; image has the rest", 0, 1);
    g.a2 = table.Real("a2", g.a2, "weight of common neighbours against that of features", 0, 1);
    g.scale = table.Real("scale", g.scale, "factor of common neighbours, times the samples", 0);
    g.discarded = table.Real("discarded", g.discarded,
                             "how many of the least alike are no neighbours, times the scale", 0);
    return o;
  }
};

// 0 with probability p, else 1 / (1 - p), so that the mean is 1; p in steps of
// 2^-16, because one draw makes four entries.
torch::Tensor DropoutMask(torch::IntArrayRef shape, double p, Random& noise) {
  const auto silent = static_cast<uint64_t>(std::lround(p * 0x1p16));
  const auto keep = static_cast<float>(1 / (1 - static_cast<double>(silent) * 0x1p-16));
  torch::Tensor mask = torch::empty(shape, torch::kFloat);
  float* at = mask.data_ptr<float>();
  // Without a branch, which half of the entries would mispredict.
  for (int64_t i = 0, n = mask.numel(); i < n; i += 4) {
    uint64_t bits = noise.Bits();
    for (int64_t j = i; j < std::min(i + 4, n); ++j, bits >>= 16) {
      at[j] = keep * static_cast<float>((bits & 0xffff) >= silent);
    }
  }
  return mask;
}

class Dgcpn final : public TwoNetworks {
 public:
  Dgcpn(const ModelShape& shape, const DgcpnOptions& options, Random random)
      : TwoNetworks(shape, options.networks, random), options_(options) {
    if (options.text_deviation < 0) return;
    Random output(random.Bits(), {}, "text output");
    torch::NoGradGuard no_grad;
    torch::Tensor& weight = parameters().at("text.hash.weight");
    weight.copy_(options.text_deviation * RandomNormal(weight.sizes(), output));
  }

  std::unique_ptr<Learner> Learn(const Silo& silo, Random own, Random common) override;
  const DgcpnOptions& options() const { return options_; }

 protected:
  Encoded Forward(Modality modality, const torch::Tensor& x) const override {
    return Through(modality, x, nullptr);
  }
  Encoded ForwardWithNoise(Modality modality, const torch::Tensor& x,
                           Random& noise) const override {
    return Through(modality, x, options_.dropout > 0 ? &noise : nullptr);
  }

 private:
  // `hidden` is what comes before dropout: FedUCH's projection Z.
  Encoded Through(Modality modality, const torch::Tensor& x, Random* noise) const {
    const std::string net = NameOf(modality);
    Encoded out;
    out.hidden = torch::relu(ApplyLinear(net + ".hidden", x));
    torch::Tensor heard = out.hidden;
    if (noise != nullptr) {
      heard = heard * DropoutMask(heard.sizes(), options_.dropout, *noise).to(heard.device());
    }
    out.raw = ApplyLinear(net + ".hash", heard);
    out.output = torch::tanh(out.raw);
    return out;
  }

  DgcpnOptions options_;
};

torch::Tensor Mse(const torch::Tensor& a, const torch::Tensor& b) {
  return (a - b).square().mean();
}

torch::Tensor J(const torch::Tensor& image, const torch::Tensor& text, const torch::Tensor& S,
                const DgcpnOptions& o) {
  const torch::Tensor I = UnitRows(image), T = UnitRows(text);
  const torch::Tensor IT = I.mm(T.t()), II = I.mm(I.t()), TT = T.mm(T.t());
  const torch::Tensor Q_c = (IT.diagonal() - o.K).square().mean();
  const torch::Tensor others = 1 - torch::eye(S.size(0), S.options());
  const torch::Tensor Q_g = ((torch::stack({TT, IT, II}) - S) * others).square().mean() * 3;
  const torch::Tensor Q_i = Mse(IT, II) + Mse(IT, TT) + Mse(II, TT) + Mse(IT, IT.t());
  return Q_c + o.dw * Q_g + o.cw * Q_i;
}

class DgcpnLearner final : public Learner {
 public:
  DgcpnLearner(const Dgcpn& model, const Silo& silo, Random& random)
      : model_(model),
        silo_(silo),
        noise_(random),
        graph_(silo.all.image, silo.all.text, model.options().graph) {}

  void BeginRound(Random& random) override { noise_ = Random(random.Bits()); }

  // Shuffled passes; the ragged last batch stays.
  std::vector<Step> PlanEpoch(int, int64_t batch, Random& random) override {
    const int64_t n = silo_.size();
    const torch::Tensor order = RandomPermutation(n, random);
    std::vector<Step> steps;
    for (int64_t at = 0; at < n; at += batch) {
      const torch::Tensor rows = order.slice(0, at, std::min(n, at + batch));
      steps.push_back({rows, {Modality::kImage, Modality::kText}, 0, false});
      steps.push_back({rows, {Modality::kImage}, 1, false});
      steps.push_back({rows, {Modality::kText}, 2, true});
    }
    return steps;
  }

  // Part 2 reads what part 1 encoded: the text network has not moved in
  // between, and the image codes are to be those from before part 1's step.
  // Where a method leaves part 1 out, part 2 encodes by itself.
  torch::Tensor Loss(const Step& step, Seen& seen) override {
    if (!rows_.defined() || !torch::equal(rows_, step.rows)) {
      rows_ = step.rows;
      batch_ = silo_.all.Select(rows_);
      S_ = graph_.Target(rows_);
      second_ = {};
    }
    if (step.part == 2 && second_.text.code.defined()) {
      seen = std::exchange(second_, {});
    } else {
      seen.image = model_.Encode(Modality::kImage, batch_.image, &noise_);
      seen.text = model_.Encode(Modality::kText, batch_.text, &noise_);
    }
    if (step.part == 1) second_ = seen;
    const torch::Tensor &I = seen.image.output, &T = seen.text.output;
    return J(step.part == 2 ? I.detach().sign() : I, step.part == 1 ? T.detach().sign() : T, S_,
             model_.options());
  }

  void EndEpoch() override { second_ = {}; }

 private:
  const Dgcpn& model_;
  const Silo& silo_;
  Random noise_;
  NeighbourGraph graph_;
  torch::Tensor rows_;  // of the batch under way
  Batch batch_;
  torch::Tensor S_;
  Seen second_;  // what part 1 encoded
};

std::unique_ptr<Learner> Dgcpn::Learn(const Silo& silo, Random own, Random) {
  return std::make_unique<DgcpnLearner>(*this, silo, own);
}

std::unique_ptr<HashModel> Make(const ModelShape& shape, const Config& table, Random random) {
  return std::make_unique<Dgcpn>(shape, DgcpnOptions::From(table), random);
}

}  // namespace

ModelKind DgcpnKind() {
  const std::vector<std::string> training = {
      "training.optimizer=sgd", "training.learning_rate=0.005",
      "training.momentum=0.9",  "training.weight_decay=5e-4",
      "training.batch=32",      "training.keep_optimizer=true"};
  std::vector<std::string> paper = {"model.hidden_image=4096", "model.hidden_text=4096"};
  paper.insert(paper.end(), training.begin(), training.end());
  return {.name = "dgcpn",
          .summary = "likeness of features and of common neighbours, unsupervised (AAAI 2021)",
          .presets = {{"default", training}, {"paper", paper}},
          .make = Make};
}

}  // namespace crossilo
