#include "crossilo/models/linear.h"

#include <vector>

namespace crossilo {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// A tensor of this shape whose memory nobody else refers to.  The pool keeps
// one handle to each; a gradient in use holds another, so a weight that occurs
// twice in one graph simply gets two.
torch::Tensor Recycled(torch::IntArrayRef shape) {
  thread_local std::vector<torch::Tensor> pool;
  for (torch::Tensor& kept : pool) {
    if (kept.sizes() == shape && kept.storage().use_count() == 1) return kept.alias();
  }
  pool.push_back(torch::empty(shape, torch::kFloat));
  return pool.back().alias();
}

struct LinearFunction : torch::autograd::Function<LinearFunction> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& weight, const torch::Tensor& bias) {
    context->save_for_backward({x, weight});
    return torch::addmm(bias, x, weight.t());
  }

  static variable_list backward(AutogradContext* context, variable_list outputs) {
    const auto saved = context->get_saved_variables();
    const torch::Tensor &x = saved[0], &weight = saved[1], &g = outputs[0];
    torch::Tensor dx, dw, db;
    if (context->needs_input_grad(0)) dx = g.mm(weight);
    if (context->needs_input_grad(1)) {
      dw = Recycled(weight.sizes());
      torch::mm_out(dw, g.t(), x);
    }
    if (context->needs_input_grad(2)) db = g.sum(0);
    return {dx, dw, db};
  }
};

}  // namespace

torch::Tensor Linear(const torch::Tensor& x, const torch::Tensor& weight,
                     const torch::Tensor& bias) {
  // A GPU's allocator recycles by itself.
  if (x.is_cuda() || weight.scalar_type() != torch::kFloat) {
    return torch::linear(x, weight, bias);
  }
  return LinearFunction::apply(x, weight, bias);
}

}  // namespace crossilo
