#include "crossilo/train/optimizer.h"

#include <ATen/Parallel.h>

#include <cmath>

namespace crossilo {
namespace {

constexpr int64_t kGrain = 1 << 15;  // elements that are worth a thread of their own

bool PlainFloats(const torch::Tensor& a, const torch::Tensor& b) {
  return !a.is_cuda() && a.is_contiguous() && b.is_contiguous() &&
         a.scalar_type() == torch::kFloat && b.scalar_type() == torch::kFloat;
}

// x - y in doubles is exact enough to be the same on every thread count: the
// norm is summed tensor by tensor, in name order.
double NormOf(const TensorMap& parameters, const std::vector<std::string>& names) {
  double squares = 0;
  for (const std::string& name : names) {
    const torch::Tensor& gradient = parameters.at(name).grad();
    if (gradient.defined()) squares += gradient.square().sum().item<double>();
  }
  return std::sqrt(squares);
}

void SgdLoop(float* p, const float* g, float* m, int64_t n, float rate, float momentum, float decay,
             float scale) {
  if (m == nullptr) {
    for (int64_t i = 0; i < n; ++i) p[i] -= rate * (scale * g[i] + decay * p[i]);
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    m[i] = momentum * m[i] + scale * g[i] + decay * p[i];
    p[i] -= rate * m[i];
  }
}

void AdamLoop(float* __restrict p, const float* __restrict g, float* __restrict m,
              float* __restrict v, int64_t n, const OptimizerOptions& o, float step,
              float correct_v, float scale) {
  const float b1 = static_cast<float>(o.beta1), b2 = static_cast<float>(o.beta2);
  const float decay = static_cast<float>(o.weight_decay);
  const float epsilon = static_cast<float>(o.epsilon);
  for (int64_t i = 0; i < n; ++i) {
    const float gradient = scale * g[i] + decay * p[i];
    m[i] = b1 * m[i] + (1 - b1) * gradient;
    v[i] = b2 * v[i] + (1 - b2) * gradient * gradient;
    p[i] -= step * m[i] / (std::sqrt(v[i]) * correct_v + epsilon);
  }
}

void RmsPropLoop(float* __restrict p, const float* __restrict g, float* __restrict v, int64_t n,
                 const OptimizerOptions& o, float scale) {
  const float a = static_cast<float>(o.alpha), rate = static_cast<float>(o.learning_rate);
  const float decay = static_cast<float>(o.weight_decay);
  const float epsilon = static_cast<float>(o.epsilon);
  for (int64_t i = 0; i < n; ++i) {
    const float gradient = scale * g[i] + decay * p[i];
    v[i] = a * v[i] + (1 - a) * gradient * gradient;
    p[i] -= rate * gradient / (std::sqrt(v[i]) + epsilon);
  }
}

}  // namespace

OptimizerOptions OptimizerOptions::From(const Config& table) {
  OptimizerOptions o;
  o.kind = table.Choice("optimizer", o.kind, {"sgd", "adam", "rmsprop"}, "sgd, adam or rmsprop");
  o.learning_rate = table.Real("learning_rate", o.learning_rate, "step size", 0);
  o.momentum = table.Real("momentum", o.momentum, "of sgd", 0, 1);
  o.weight_decay = table.Real("weight_decay", o.weight_decay, "pull of all weights to zero", 0);
  o.beta1 = table.Real("beta1", o.beta1, "adam: memory of the mean gradient", 0, 1);
  o.beta2 = table.Real("beta2", o.beta2, "adam: memory of the squared gradient", 0, 1);
  o.epsilon = table.Real("epsilon", o.epsilon, "adam, rmsprop: added to the root", 0);
  o.alpha = table.Real("alpha", o.alpha, "rmsprop: memory of the squared gradient", 0, 1);
  o.clip = table.Real("clip", o.clip, "largest norm of a step's gradient; 0: no limit", 0);
  return o;
}

void Optimizer::Step(TensorMap& parameters, const std::vector<std::string>& names) {
  torch::NoGradGuard no_grad;
  double scale = 1;
  if (options_.clip > 0) {
    // As torch's clip_grad_norm_.
    scale = std::min(1.0, options_.clip / (NormOf(parameters, names) + 1e-6));
  }
  for (const std::string& name : names) {
    torch::Tensor& parameter = parameters.at(name);
    if (!parameter.grad().defined()) continue;
    if (options_.kind == "adam") {
      Adam(name, parameter, parameter.grad(), scale);
    } else if (options_.kind == "rmsprop") {
      RmsProp(name, parameter, parameter.grad(), scale);
    } else {
      Sgd(name, parameter, parameter.grad(), scale);
    }
  }
  // A step may leave gradients on networks that it does not train.
  for (auto& [name, parameter] : parameters) parameter.mutable_grad().reset();
}

// g <- scale g + decay w;  m <- momentum m + g;  w <- w - rate m
void Optimizer::Sgd(const std::string& name, torch::Tensor& parameter,
                    const torch::Tensor& gradient, double scale) {
  const bool heavy = options_.momentum > 0;
  torch::Tensor& m = moments_["m/" + name];
  if (heavy && !m.defined()) m = torch::zeros_like(parameter, torch::MemoryFormat::Contiguous);
  if (!heavy) moments_.erase("m/" + name);
  if (PlainFloats(parameter, gradient)) {
    float* p = parameter.data_ptr<float>();
    const float* g = gradient.data_ptr<float>();
    float* moment = heavy ? m.data_ptr<float>() : nullptr;
    at::parallel_for(0, parameter.numel(), kGrain, [&](int64_t from, int64_t to) {
      SgdLoop(p + from, g + from, heavy ? moment + from : nullptr, to - from,
              static_cast<float>(options_.learning_rate), static_cast<float>(options_.momentum),
              static_cast<float>(options_.weight_decay), static_cast<float>(scale));
    });
    return;
  }
  torch::Tensor g = scale * gradient + options_.weight_decay * parameter;
  if (heavy) g = m.mul_(options_.momentum).add_(g);
  parameter.sub_(options_.learning_rate * g);
}

// Kingma and Ba, Adam, ICLR 2015, with torch's placing of epsilon:
// w <- w - rate/(1 - b1^t) m / (sqrt(v)/sqrt(1 - b2^t) + epsilon)
void Optimizer::Adam(const std::string& name, torch::Tensor& parameter,
                     const torch::Tensor& gradient, double scale) {
  torch::Tensor &m = moments_["m/" + name], &v = moments_["v/" + name];
  torch::Tensor& t = moments_["t/" + name];
  if (!m.defined()) {
    m = torch::zeros_like(parameter, torch::MemoryFormat::Contiguous);
    v = torch::zeros_like(m);
    t = torch::zeros({1}, torch::kLong);
  }
  t += 1;
  const double steps = static_cast<double>(t.item<int64_t>());
  const double step = options_.learning_rate / (1 - std::pow(options_.beta1, steps));
  const double correct_v = 1 / std::sqrt(1 - std::pow(options_.beta2, steps));
  if (PlainFloats(parameter, gradient)) {
    float *p = parameter.data_ptr<float>(), *moment = m.data_ptr<float>();
    float* square = v.data_ptr<float>();
    const float* g = gradient.data_ptr<float>();
    at::parallel_for(0, parameter.numel(), kGrain, [&](int64_t from, int64_t to) {
      AdamLoop(p + from, g + from, moment + from, square + from, to - from, options_,
               static_cast<float>(step), static_cast<float>(correct_v), static_cast<float>(scale));
    });
    return;
  }
  const torch::Tensor g = scale * gradient + options_.weight_decay * parameter;
  m.mul_(options_.beta1).add_(g, 1 - options_.beta1);
  v.mul_(options_.beta2).addcmul_(g, g, 1 - options_.beta2);
  parameter.addcdiv_(m, v.sqrt().mul_(correct_v).add_(options_.epsilon), -step);
}

// Hinton's, as torch has it: v <- alpha v + (1 - alpha) g^2;
// w <- w - rate g / (sqrt(v) + epsilon)
void Optimizer::RmsProp(const std::string& name, torch::Tensor& parameter,
                        const torch::Tensor& gradient, double scale) {
  torch::Tensor& v = moments_["v/" + name];
  if (!v.defined()) v = torch::zeros_like(parameter, torch::MemoryFormat::Contiguous);
  if (PlainFloats(parameter, gradient)) {
    float *p = parameter.data_ptr<float>(), *square = v.data_ptr<float>();
    const float* g = gradient.data_ptr<float>();
    at::parallel_for(0, parameter.numel(), kGrain, [&](int64_t from, int64_t to) {
      RmsPropLoop(p + from, g + from, square + from, to - from, options_,
                  static_cast<float>(scale));
    });
    return;
  }
  const torch::Tensor g = scale * gradient + options_.weight_decay * parameter;
  v.mul_(options_.alpha).addcmul_(g, g, 1 - options_.alpha);
  parameter.addcdiv_(g, v.sqrt().add_(options_.epsilon), -options_.learning_rate);
}

TensorMap Optimizer::State() const { return Copy(moments_); }

void Optimizer::SetState(const TensorMap& state) { moments_ = Copy(state); }

}  // namespace crossilo
