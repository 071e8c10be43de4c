#include "crossilo/data/generate.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "crossilo/base/error.h"
#include "crossilo/tensors/random_tensor.h"

namespace crossilo {
namespace {

constexpr std::array kColours = {"red",  "green", "yellow", "white", "silver",
                                 "blue", "black", "purple", "brown", "golden"};
constexpr std::array kShapes = {"circle", "square", "star",   "heart", "arrow",
                                "flower", "cloud",  "spiral", "cross", "ring"};
constexpr std::array kManners = {"small", "large", "bright", "faint", "round", "plain"};

std::string Numbered(const std::string& word, int64_t turn) {
  return turn == 0 ? word : fmt::format("{} {}", word, turn + 1);
}

std::string GroupName(int64_t group) { return Numbered(kShapes[group % 10], group / 10); }

// Class 20a + 2b + e is shape b in colour a + 5e: 100 pairs of words before
// they repeat with a number.
std::string ClassName(int64_t c) {
  const int64_t colour = c / 20 % 5 + 5 * (c % 2);
  return Numbered(fmt::format("{} {}", kColours[colour], kShapes[c / 2 % 10]), c / 100);
}

void CheckOptions(const GenerateOptions& o) {
  if (o.samples < 2 || o.classes < 1 || o.image_dims < 1 || o.text_dims < 1 || o.houses < 1) {
    throw Error(
        "generate: {} samples, {} classes, {} and {} dimensions, {} houses; ask for at least 2"
        " samples and 1 of the others",
        o.samples, o.classes, o.image_dims, o.text_dims, o.houses);
  }
  if (!(o.noise >= 0) || !std::isfinite(o.noise)) {
    throw Error("generate: noise must be 0 or more, not {}", o.noise);
  }
  if (!(o.multi_label >= 0 && o.multi_label <= 1) || !(o.query > 0 && o.query < 1)) {
    throw Error("generate: multi_label must lie in [0, 1] and query in (0, 1), not {} and {}",
                o.multi_label, o.query);
  }
}

// Classes of each sample, one or two.  The first go round, so that all classes
// are of one size.
std::vector<std::vector<int64_t>> DrawClasses(const GenerateOptions& o) {
  Random random(o.seed, {}, "generate.classes");
  std::vector<std::vector<int64_t>> classes(o.samples);
  for (int64_t i = 0; i < o.samples; ++i) {
    classes[i] = {i % o.classes};
    if (o.classes > 1 && random.Uniform() < o.multi_label) {
      classes[i].push_back((i + 1 + random.Below(o.classes - 1)) % o.classes);
    }
  }
  return classes;
}

torch::Tensor Features(const torch::Tensor& labels, int64_t dims, double noise, Random random) {
  torch::Tensor centres = RandomNormal({labels.size(1), dims}, random);
  centres = centres / centres.norm(2, 1, true).clamp_min(1e-12);
  const torch::Tensor weights = labels.to(torch::kFloat);
  // Class by class, not as a matrix product, so that samples of one class are
  // equal to the last bit.
  torch::Tensor out = torch::zeros({labels.size(0), dims});
  const torch::Tensor shares = weights / weights.sum(1, true);
  for (int64_t c = 0; c < labels.size(1); ++c) {
    out += shares.select(1, c).unsqueeze(1) * centres[c];
  }
  return noise > 0 ? out + noise * RandomNormal(out.sizes(), random) : out;
}

Items Captions(const std::vector<std::vector<int64_t>>& classes, const GenerateOptions& o) {
  Random random(o.seed, {}, "generate.captions");
  Items items;
  items.columns = {"id", "caption", "house"};
  for (size_t i = 0; i < classes.size(); ++i) {
    std::string caption = fmt::format("a {}", kManners[random.Below(kManners.size())]);
    caption += " " + ClassName(classes[i][0]);
    if (classes[i].size() > 1) caption += " and a " + ClassName(classes[i][1]);
    items.rows.push_back(
        {fmt::format("g{:06}", i + 1), caption,
         fmt::format("house-{}", static_cast<int64_t>(i) / o.classes % o.houses + 1)});
  }
  return items;
}

}  // namespace

Dataset Generate(const GenerateOptions& options) {
  CheckOptions(options);
  const auto classes = DrawClasses(options);
  const int64_t groups = (options.classes + 1) / 2;
  torch::Tensor labels = torch::zeros({options.samples, options.classes}, torch::kByte);
  torch::Tensor coarse = torch::zeros({options.samples, groups}, torch::kByte);
  for (int64_t i = 0; i < options.samples; ++i) {
    for (int64_t c : classes[i]) {
      labels.data_ptr<uint8_t>()[i * options.classes + c] = 1;
      coarse.data_ptr<uint8_t>()[i * groups + c / 2] = 1;
    }
  }
  Dataset out;
  out.name = "generated";
  out.licence = "CC0-1.0";
  out.source = "made up by crossilo";
  out.image = Features(labels, options.image_dims, options.noise,
                       Random(options.seed, {}, "generate.image"));
  out.text =
      Features(labels, options.text_dims, options.noise, Random(options.seed, {}, "generate.text"));
  out.labels = {{"", labels}, {"group", coarse}};
  for (int64_t c = 0; c < options.classes; ++c) out.class_names[""].push_back(ClassName(c));
  for (int64_t g = 0; g < groups; ++g) out.class_names["group"].push_back(GroupName(g));
  out.items = Captions(classes, options);

  Rows order = Random(options.seed, {}, "generate.splits").Permutation(options.samples);
  const auto asked = static_cast<int64_t>(options.query * static_cast<double>(options.samples));
  const auto cut = order.begin() + std::clamp<int64_t>(asked, 1, options.samples - 1);
  std::sort(order.begin(), cut);
  std::sort(cut, order.end());
  out.splits["query"] = Rows(order.begin(), cut);
  out.splits["retrieval"] = out.splits["training"] = Rows(cut, order.end());
  return out;
}

}  // namespace crossilo
