#pragma once

#include <memory>
#include <string>
#include <vector>

#include "crossilo/base/config.h"
#include "crossilo/base/random.h"
#include "crossilo/data/silo.h"
#include "crossilo/tensors/tensor_map.h"

namespace crossilo {

enum class Modality { kImage, kText };
inline constexpr Modality kModalities[] = {Modality::kImage, Modality::kText};

// "image" or "text": also the first word of a network's parameter names.
std::string NameOf(Modality modality);

// What an encoder computes on its way from features to a code, one row a
// sample.
struct Encoded {
  torch::Tensor hidden;  // the last hidden layer, after its activation
  torch::Tensor raw;     // the output layer, before its activation
  torch::Tensor code;    // the relaxed code; its signs are the code
};

// One optimiser step: which samples, and which networks it changes.
struct Step {
  torch::Tensor rows;            // int64; numbers of the silo's samples
  std::vector<Modality> trains;  // parameters of other modalities stay as they are
};

// What a step's loss encoded on the way, for terms that a method adds to it.
// A modality that the step did not encode is undefined.
struct Seen {
  Encoded image, text;
  const Encoded& of(Modality m) const { return m == Modality::kImage ? image : text; }
};

// How a model learns from one silo's samples, and what it keeps there between
// steps: code buffers, a memory bank, class codes.  Lives as long as the silo
// takes part; its state never leaves the silo.
class Learner {
 public:
  virtual ~Learner() = default;

  // Called before the first epoch of a round.
  virtual void BeginRound(Random& random) { (void)random; }
  // The steps of one epoch, in order.  `epoch` counts from 0 in every round.
  virtual std::vector<Step> PlanEpoch(int epoch, int64_t batch, Random& random) = 0;
  // The model's own loss, a scalar; also refreshes the state the step touches.
  virtual torch::Tensor Loss(const Step& step, Seen& seen) = 0;
  // Called after the optimiser has moved the weights.
  virtual void AfterStep(const Step& step) { (void)step; }
  virtual void EndEpoch() {}

  // Everything that must survive a restart.
  virtual TensorMap State() const { return {}; }
  virtual void SetState(const TensorMap& state) { (void)state; }
};

// The dimensions a model is built for.
struct ModelShape {
  int64_t image_dims = 0, text_dims = 0;
  int64_t classes = 0;  // 0 without labels
};

// Two encoders and one objective.
class HashModel {
 public:
  virtual ~HashModel() = default;

  virtual Encoded Encode(Modality modality, const torch::Tensor& x) const = 0;
  virtual int64_t code_dims() const = 0;
  // The silo must outlive the learner.
  virtual std::unique_ptr<Learner> Learn(const Silo& silo, Random random) = 0;

  // Leaves that gradients flow into.  "image.hash.weight" belongs to the image
  // encoder, "text..." to the text encoder, anything else to both.
  TensorMap& parameters() { return parameters_; }
  const TensorMap& parameters() const { return parameters_; }
  // The names a step that trains these modalities changes.
  std::vector<std::string> ParametersOf(const std::vector<Modality>& trains) const;

  void To(torch::Device device);

 protected:
  // Adds <name>.weight (out x in) and <name>.bias.  Deviation < 0: uniform in
  // +-1/sqrt(in), as torch does; else both normal with that deviation.
  void AddLinear(const std::string& name, int64_t in, int64_t out, double deviation,
                 Random& random);
  torch::Tensor ApplyLinear(const std::string& name, const torch::Tensor& x) const;

 private:
  TensorMap parameters_;
};

// The key `bits` of hashing models: a multiple of 8, so that codes fill bytes.
int64_t ReadBits(const Config& table);

// Weights leave a model only as detached copies on the CPU and enter it only
// by copy: a torch::Tensor is a handle, and a shared one would keep training.
TensorMap Weights(const HashModel& model);
void SetWeights(HashModel& model, const TensorMap& weights);

// A named set of settings: "default" was chosen for heads on frozen features,
// "paper" is what the authors used.  `settings` are "table.key=value" that
// stand in for the defaults of keys the user did not set.
struct Preset {
  std::string name;
  std::vector<std::string> settings;
};

// One base model, as the catalog knows it.
struct ModelKind {
  std::string name;
  std::string summary;  // one line for `crossilo models`
  bool supervised = false;
  bool real_valued = false;  // ranked by cosine, not by Hamming distance
  std::vector<Preset> presets;
  // Reads its keys from the [model] table.
  std::unique_ptr<HashModel> (*make)(const ModelShape& shape, const Config& table, Random random);
};

const std::vector<ModelKind>& AllModels();
// Throws Error naming the nearest known one.
const ModelKind& FindModel(const std::string& name);

}  // namespace crossilo
