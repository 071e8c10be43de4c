#include "crossilo/methods/relational.h"

#include "crossilo/tensors/unit_rows.h"

namespace crossilo {

torch::Tensor RelationalLoss(const torch::Tensor& x1, const torch::Tensor& x2,
                             const torch::Tensor& anchors, double t, double t2) {
  if (x1.size(0) == 0 || anchors.size(0) == 0) return (x1.sum() + x2.sum()) * 0;
  const torch::Tensor to = UnitRows(anchors).t();
  const torch::Tensor s1 = UnitRows(x1).mm(to), s2 = UnitRows(x2).mm(to);
  const torch::Tensor target = 0.5 * (torch::softmax(s1 / t2, 1) + torch::softmax(s2 / t2, 1));
  // The KLs' common part, sum of target log target: xlogy is 0 where target is.
  const torch::Tensor entropy = torch::xlogy(target, target).sum(1);
  const torch::Tensor cross =
      (target * 0.5 * (torch::log_softmax(s1 / t, 1) + torch::log_softmax(s2 / t, 1))).sum(1);
  return (entropy - cross).mean();
}

}  // namespace crossilo
