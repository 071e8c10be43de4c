// What FedWGAN asks of generated pairs besides fooling the critic.
//
// Zhang et al., AAAI 2025, Eqs. 4-10.  As printed the contrasts have
// exp(sum of similarities) over the negatives, which grows with their number;
// the default is InfoNCE's sum of exponentials.  Prototypes live in the space
// of fused features: C's image part is compared with images, its text part with
// texts.

#include "crossilo/methods/synthesis_losses.h"

#include "crossilo/tensors/unit_rows.h"

namespace crossilo {

SynthesisLosses SynthesisLosses::From(const Config& table) {
  SynthesisLosses o;
  o.cont = table.Flag("cont", o.cont, "generated pairs are contrasted: L_c");
  o.jsd = table.Flag("jsd", o.jsd, "images and texts are to lie alike to the prototypes: L_J");
  o.literal = table.Choice("contrast", "infonce", {"infonce", "literal"},
                           "sums of exponentials over what is pushed off; or exponents of sums, "
                           "as the paper prints") == "literal";
  o.lambda = table.Real("lambda", o.lambda, "weight of L_c", 0);
  o.gamma = table.Real("gamma", o.gamma, "weight of L_J", 0);
  o.sigma1 = table.Real("sigma1", o.sigma1, "temperature of the contrast with prototypes", 1e-6);
  o.sigma2 = table.Real("sigma2", o.sigma2, "temperature of that of images with texts", 1e-6);
  o.alpha_last = table.Real("alpha_last", o.alpha_last,
                            "where the share of real pairs in L_J falls to from 1", 0, 1);
  return o;
}

double SynthesisLosses::AlphaAt(int round, int64_t rounds) const {
  if (rounds < 1) return 1;
  return 1 - (1 - alpha_last) * (round - 1) / static_cast<double>(rounds);
}

torch::Tensor Cosines(const torch::Tensor& x, const torch::Tensor& C) {
  return UnitRows(x).mm(UnitRows(C).t());
}

torch::Tensor PseudoLabelShares(const torch::Tensor& x, const torch::Tensor& C) {
  return torch::softmax(Cosines(x, C), 1);
}

torch::Tensor IndirectContrast(const torch::Tensor& x, const torch::Tensor& C,
                               const torch::Tensor& labels, double sigma, bool literal) {
  const torch::Tensor s = Cosines(x, C) / sigma;
  const torch::Tensor own = s.gather(1, labels.unsqueeze(1)).squeeze(1);
  // -log(e^own / (e^own + e^others)) = log(1 + e^(others - own))
  if (literal) return torch::softplus(s.sum(1) - 2 * own).mean();
  return (torch::logsumexp(s, 1) - own).mean();
}

torch::Tensor DirectContrast(const torch::Tensor& x, const torch::Tensor& y,
                             const torch::Tensor& labels, double sigma, bool literal) {
  const torch::Tensor s = Cosines(x, y) / sigma;
  const torch::Tensor same = labels.unsqueeze(1).eq(labels.unsqueeze(0));
  if (literal) {
    const torch::Tensor alike = s.masked_fill(~same, 0).sum();
    return torch::softplus(s.sum() - 2 * alike);
  }
  // A pair has its own label: no row of `same` is empty.
  const torch::Tensor alike = torch::logsumexp(s.masked_fill(~same, -1e9), 1);
  return (torch::logsumexp(s, 1) - alike).mean();
}

torch::Tensor JensenShannon(const torch::Tensor& P, const torch::Tensor& Q) {
  constexpr double kTiny = 1e-12;
  const torch::Tensor logZ = (0.5 * (P + Q)).clamp_min(kTiny).log();
  const auto kl = [&](const torch::Tensor& p) { return p * (p.clamp_min(kTiny).log() - logZ); };
  return 0.5 * (kl(P) + kl(Q)).sum(1).mean();
}

torch::Tensor NearestPrototype(const torch::Tensor& fused, const torch::Tensor& C) {
  torch::NoGradGuard no_grad;
  // |x - c|^2 less the |x|^2 that all of x's distances have.
  return torch::addmm(C.square().sum(1), fused.detach(), C.t(), 1, -2).argmin(1);
}

torch::Tensor GeneratorTerms(const PairViews& F_g, const PairViews& C, const SynthesisLosses& o,
                             double alpha) {
  torch::Tensor sum;
  const auto add = [&](double weight, const torch::Tensor& term) {
    sum = sum.defined() ? sum + weight * term : weight * term;
  };
  if (o.cont && o.lambda > 0) {
    const torch::Tensor labels = NearestPrototype(F_g.fused, C.fused);
    add(o.lambda, IndirectContrast(F_g.image, C.image, labels, o.sigma1, o.literal));
    add(o.lambda, IndirectContrast(F_g.text, C.text, labels, o.sigma1, o.literal));
    // Of unequal widths, the rows of similarities to the prototypes are compared.
    const bool alike = F_g.image.size(1) == F_g.text.size(1);
    const torch::Tensor x = alike ? F_g.image : Cosines(F_g.image, C.image);
    const torch::Tensor y = alike ? F_g.text : Cosines(F_g.text, C.text);
    add(o.lambda, DirectContrast(x, y, labels, o.sigma2, o.literal));
  }
  const double share = o.gamma * (1 - alpha);
  if (o.jsd && share > 0) {
    add(share,
        JensenShannon(PseudoLabelShares(F_g.image, C.image), PseudoLabelShares(F_g.text, C.text)));
  }
  return sum;
}

}  // namespace crossilo
