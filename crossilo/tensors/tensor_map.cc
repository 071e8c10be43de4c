#include "crossilo/tensors/tensor_map.h"

namespace crossilo {
namespace {

template <typename F>
TensorMap Zip(const TensorMap& a, const TensorMap& b, F combine) {
  TORCH_CHECK(a.size() == b.size(), "tensor maps differ in their names");
  TensorMap out;
  for (const auto& [name, x] : a) out[name] = combine(x, b.at(name));
  return out;
}

}  // namespace

TensorMap operator+(const TensorMap& a, const TensorMap& b) {
  return Zip(a, b, [](const auto& x, const auto& y) { return x + y; });
}

TensorMap operator-(const TensorMap& a, const TensorMap& b) {
  return Zip(a, b, [](const auto& x, const auto& y) { return x - y; });
}

TensorMap operator*(double factor, const TensorMap& a) {
  TensorMap out;
  for (const auto& [name, x] : a) out[name] = factor * x;
  return out;
}

TensorMap ZerosLike(const TensorMap& a) {
  TensorMap out;
  for (const auto& [name, x] : a) out[name] = torch::zeros_like(x);
  return out;
}

TensorMap Copy(const TensorMap& a, torch::Device device) {
  TensorMap out;
  for (const auto& [name, x] : a) out[name] = x.detach().to(device, x.scalar_type(), false, true);
  return out;
}

TensorMap Prefixed(std::string_view prefix, const TensorMap& a) {
  TensorMap out;
  for (const auto& [name, x] : a) out[std::string(prefix) + name] = x;
  return out;
}

TensorMap Under(std::string_view prefix, const TensorMap& a) {
  TensorMap out;
  for (const auto& [name, x] : a) {
    if (name.starts_with(prefix)) out[name.substr(prefix.size())] = x;
  }
  return out;
}

int64_t Bytes(const TensorMap& a) {
  int64_t sum = 0;
  for (const auto& [name, x] : a) sum += x.numel() * static_cast<int64_t>(x.element_size());
  return sum;
}

std::string FirstNotFinite(const TensorMap& a) {
  for (const auto& [name, x] : a) {
    if (x.is_floating_point() && !torch::isfinite(x).all().item<bool>()) return name;
  }
  return "";
}

}  // namespace crossilo
