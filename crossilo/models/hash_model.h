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
  torch::Tensor input;   // what the base reads: the features, or what its input stage made of them
  torch::Tensor hidden;  // the last hidden layer, after its activation
  torch::Tensor raw;     // the output layer, before its activation
  torch::Tensor output;  // and after it: what the model's own loss is about
  // The relaxed code, whose signs are the code: `output`, unless a head makes
  // more of it.
  torch::Tensor code;
  torch::Tensor logits;  // what a head reads of the labels; undefined without one
};

// One optimiser step: which samples, and which networks it changes.
struct Step {
  torch::Tensor rows;            // int64; numbers of the silo's samples
  std::vector<Modality> trains;  // parameters of other modalities stay as they are
  // Of several steps on the same samples: which one, and whether it is the
  // last.  A method's terms join part 0, its own step follows the last.
  int part = 0;
  bool last = true;
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
  int64_t classes = 0;         // 0 without labels
  int64_t coarse_classes = 0;  // of the level above; 0 where none is learned
};

// What stands between features and the base: nothing, scaling of rows to
// length 1, or a trained layer of one width for both modalities and that
// scaling.
enum class InputStage { kRaw, kUnit, kMlp };

// A layer that a head adds to a model.
struct HeadLayer {
  std::string name;  // without ".weight"
  int64_t in = 0, out = 0;
  double deviation = -1;  // as AddLinear's
};

class HashModel;

// What a method puts between a model's output and its code.  The tensors it
// reads but does not train are the model's context.
class Head {
 public:
  virtual ~Head() = default;
  virtual std::vector<HeadLayer> Layers() const = 0;
  virtual void Apply(const HashModel& model, Modality modality, Encoded& encoded) const = 0;
  // How a bundle says which head it needs; see MakeHead in head.h.
  virtual std::string Description() const = 0;
};

// Two encoders and one objective.
class HashModel {
 public:
  explicit HashModel(const ModelShape& shape) : shape_(shape) {}
  virtual ~HashModel() = default;

  // `noise` is where dropout draws from in training; without it there is none.
  Encoded Encode(Modality modality, const torch::Tensor& x, Random* noise = nullptr) const;
  // What the base reads of features: the input stage alone.
  torch::Tensor Input(Modality modality, const torch::Tensor& x) const;
  virtual int64_t code_dims() const = 0;
  // The layers that make the output: the common subspace of both modalities.
  virtual std::vector<std::string> LastLayers() const { return {"image.hash", "text.hash"}; }
  // Whether a silo without labels has nothing to learn from.
  virtual bool needs_labels() const { return false; }
  // The silo must outlive the learner.  `own` is this silo's stream; `common`
  // is the same at every silo, for state that must not begin by contradicting
  // that of the others.
  virtual std::unique_ptr<Learner> Learn(const Silo& silo, Random own, Random common) = 0;

  const ModelShape& shape() const { return shape_; }

  // Puts a stage before the base.  With kMlp its layers join the parameters, and
  // the model must have been made for inputs of their width.
  void SetInput(InputStage stage, const ModelShape& features, Random random);
  InputStage input() const { return input_; }
  // From now on Encode takes what the input stage would have made of features.
  void SkipInput() { input_ = InputStage::kRaw; }

  // Adds the head's layers to the parameters; codes pass through it from then
  // on.
  void Attach(std::unique_ptr<Head> head, Random random);
  const Head* head() const { return head_.get(); }
  // What the head reads and no optimiser moves, on the model's device.
  const TensorMap& context() const { return context_; }
  void SetContext(const TensorMap& context);

  // Leaves that gradients flow into.  "image.hash.weight" belongs to the image
  // encoder, "text..." to the text encoder, anything else to both.
  TensorMap& parameters() { return parameters_; }
  const TensorMap& parameters() const { return parameters_; }
  // The names a step that trains these modalities changes.
  std::vector<std::string> ParametersOf(const std::vector<Modality>& trains) const;

  void To(torch::Device device);
  torch::Tensor ApplyLinear(const std::string& name, const torch::Tensor& x) const;

 protected:
  // hidden, raw and output.
  virtual Encoded Forward(Modality modality, const torch::Tensor& x) const = 0;
  // The same with dropout, where the model has any.
  virtual Encoded ForwardWithNoise(Modality modality, const torch::Tensor& x, Random& noise) const {
    (void)noise;
    return Forward(modality, x);
  }
  // Adds <name>.weight (out x in) and <name>.bias.  Deviation < 0: uniform in
  // +-1/sqrt(in), as torch does; else both normal with that deviation.
  void AddLinear(const std::string& name, int64_t in, int64_t out, double deviation,
                 Random& random);

 private:
  ModelShape shape_;
  TensorMap parameters_, context_;
  std::unique_ptr<Head> head_;
  InputStage input_ = InputStage::kRaw;
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
  // Reads its keys from the [model] table.  Call NewModel instead, which knows
  // the input stage too.
  std::unique_ptr<HashModel> (*make)(const ModelShape& shape, const Config& table, Random random);
};

// A model of that kind for features of that shape, with the input stage that
// the keys `input` and `input_dims` ask for.
std::unique_ptr<HashModel> NewModel(const ModelKind& kind, const ModelShape& shape,
                                    const Config& table, Random random);

const std::vector<ModelKind>& AllModels();
// Throws Error naming the nearest known one.
const ModelKind& FindModel(const std::string& name);

}  // namespace crossilo
