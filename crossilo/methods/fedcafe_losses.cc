#include "crossilo/methods/fedcafe_losses.h"

#include <algorithm>

namespace crossilo {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// A scalar whose gradient with respect to two inputs is known.
struct Known : torch::autograd::Function<Known> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& a,
                               const torch::Tensor& b, const torch::Tensor& value,
                               const torch::Tensor& da, const torch::Tensor& db) {
    (void)a, (void)b;
    context->save_for_backward({da, db});
    return value.clone();
  }
  static variable_list backward(AutogradContext* context, variable_list outputs) {
    const auto saved = context->get_saved_variables();
    const auto times = [&](const torch::Tensor& g) {
      return g.defined() ? g * outputs[0] : torch::Tensor();
    };
    return {times(saved[0]), times(saved[1]), {}, {}, {}};
  }
};

torch::Tensor Dot(const torch::Tensor& a, const torch::Tensor& b) {
  return (a * b).sum(1, /*keepdim=*/true);
}

// d f / d a of f(a / |a|), given g = df/da^, a^ = a / |a| and 1 / |a|.
torch::Tensor ThroughUnit(const torch::Tensor& g, const torch::Tensor& unit,
                          const torch::Tensor& inverse) {
  return (g - unit * Dot(unit, g)) * inverse;
}

// 0 for a row of zeros, which has no direction to turn.
torch::Tensor InverseLength(const torch::Tensor& a) {
  const torch::Tensor square = a.square().sum(1, /*keepdim=*/true);
  return square.rsqrt().masked_fill_(square < 1e-20, 0);
}

// gamma L_P and its gradient with respect to the logits.
void AddPrediction(const CafeBatch& x, const CafeWeights& w, const torch::Tensor& Lhat,
                   CafeLoss& loss, torch::Tensor& d_logits) {
  const auto b = static_cast<double>(std::max<int64_t>(1, x.labels.size(0)));
  torch::Tensor target = x.labels;
  double scale = 1 / (b * static_cast<double>(x.labels.size(1))), entropy = 0;
  if (w.normalised_kl) {
    target = x.labels / x.labels.sum(1, /*keepdim=*/true).clamp_min(1);
    scale = 1 / b;
    entropy = torch::xlogy(target, target).sum().item<double>();
  }
  loss.l_p = scale * (entropy - (target * torch::log_softmax(x.logits, 1)).sum().item<double>());
  d_logits = (w.gamma * scale) * (Lhat * target.sum(1, /*keepdim=*/true) - target);
}

}  // namespace

CafeLoss CafeTerms(const CafeBatch& in, const CafeWeights& w) {
  CafeLoss loss;
  torch::Tensor dO, dZ;
  {
    torch::NoGradGuard no_grad;
    const CafeBatch x{in.O.detach(), in.logits.defined() ? in.logits.detach() : torch::Tensor(),
                      in.memory, in.globally, in.labels};
    const double b = static_cast<double>(std::max<int64_t>(1, x.O.size(0)));
    const bool enhanced = x.memory.defined(), l_e = enhanced && w.alpha > 0, l_c = w.eta > 0;
    const torch::Tensor Lhat = x.logits.defined() ? torch::softmax(x.logits, 1) : torch::Tensor();
    if (w.gamma > 0) AddPrediction(x, w, Lhat, loss, dZ);
    if (l_e || l_c) {
      torch::Tensor t, V_m, V = x.O;
      if (enhanced) {
        t = torch::tanh(x.O);
        V_m = Lhat.mm(x.memory);
        V = x.O + t * V_m;
      }
      const torch::Tensor inverse = InverseLength(V), v = V * inverse;
      torch::Tensor g = torch::zeros_like(v);  // of the loss with respect to v
      if (l_c) {
        loss.l_c = 1 - (v * x.globally).sum().item<double>() / b;
        g.add_(x.globally, -w.eta / b);
      }
      dO = torch::zeros_like(v);
      if (l_e) {
        const torch::Tensor inverse_o = InverseLength(x.O), o = x.O * inverse_o;
        loss.l_e = 1 - (v * o).sum().item<double>() / b;
        g.add_(o, -w.alpha / b);
        dO = ThroughUnit((-w.alpha / b) * v, o, inverse_o);
      }
      const torch::Tensor dV = ThroughUnit(g, v, inverse);
      dO = dO + (enhanced ? dV * (1 + (1 - t * t) * V_m) : dV);
      if (enhanced) {
        const torch::Tensor d_Lhat = (dV * t).mm(x.memory.t());
        const torch::Tensor through = Lhat * (d_Lhat - Dot(Lhat, d_Lhat));
        dZ = dZ.defined() ? dZ + through : through;
      }
    }
  }
  const double value = w.alpha * loss.l_e + w.eta * loss.l_c + w.gamma * loss.l_p;
  const torch::Tensor scalar = torch::full({}, value, in.O.options().requires_grad(false));
  loss.sum = Known::apply(in.O, in.logits.defined() ? in.logits : in.O, scalar,
                          dO.defined() ? dO : torch::zeros_like(in.O),
                          in.logits.defined() ? (dZ.defined() ? dZ : torch::zeros_like(in.logits))
                                              : torch::zeros_like(in.O));
  return loss;
}

}  // namespace crossilo
