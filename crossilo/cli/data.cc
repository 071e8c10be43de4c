#include <cstdio>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"
#include "crossilo/cli/command.h"
#include "crossilo/cli/progress.h"
#include "crossilo/cli/results.h"
#include "crossilo/data/describe.h"
#include "crossilo/data/emoji.h"
#include "crossilo/data/emojibase.h"
#include "crossilo/data/generate.h"
#include "crossilo/data/import.h"
#include "crossilo/data/partition_file.h"
#include "crossilo/embed/build.h"

namespace crossilo {
namespace {

void Say(const std::string& text) { std::fputs(text.c_str(), stdout); }

void SayWritten(const Dataset& dataset, const std::string& out) {
  Say(fmt::format("{}: {} pairs, image features {}, text features {}\n", out, dataset.size(),
                  dataset.image.size(1), dataset.text.size(1)));
}

// Embeds a collection and writes the dataset, with progress.
void Build(const Collection& collection, const BuildOptions& options, const std::string& out) {
  std::unique_ptr<Progress> progress;
  std::string stage;
  const Dataset dataset =
      BuildDataset(collection, options, [&](std::string_view now, int64_t done, int64_t total) {
        if (stage != now) {
          stage = now;
          progress = std::make_unique<Progress>(stage, total);
        }
        progress->Show(done);
      });
  progress.reset();
  WriteDataset(out, dataset, collection.pictures_root);
  SayWritten(dataset, out);
}

struct ImportArguments {
  ImportOptions arrays;
  std::string pictures, captions, out;
  std::string picture_embedder = "descriptor", word_embedder = "tfidf";
};

void Import(const ImportArguments& a) {
  if (a.pictures.empty()) {
    if (a.arrays.image.empty() || a.arrays.text.empty()) {
      throw Error("data import needs --image and --text arrays, or --pictures and --captions");
    }
    const Dataset dataset = ImportArrays(a.arrays);
    WriteDataset(a.out, dataset);
    return SayWritten(dataset, a.out);
  }
  if (a.captions.empty()) throw Error("data import --pictures needs --captions FILE");
  Collection collection = ReadCaptionedFolder(a.pictures, a.captions);
  if (a.arrays.name != "imported") collection.name = a.arrays.name;
  BuildOptions options;
  if (a.picture_embedder != "descriptor") {
    options.pictures = "torchscript";
    options.backbone = a.picture_embedder;
  }
  if (a.word_embedder != "tfidf") {
    options.words = "wordvec";
    options.vectors = a.word_embedder;
  }
  Build(collection, options, a.out);
}

void AddImport(CLI::App& data) {
  CLI::App* command = data.add_subcommand("import", "Make a dataset of arrays or of pictures");
  auto a = std::make_shared<ImportArguments>();
  ImportOptions& o = a->arrays;
  command->add_option("--image", o.image,
                      "Image features: .npy, .npz, .mat, .h5; file:name where "
                      "a file holds several arrays");
  command->add_option("--text", o.text, "Text features, likewise");
  command
      ->add_option("--labels", o.labels,
                   "Labels, n x C or n class numbers; level=FILE for a "
                   "further level")
      ->take_all();
  command->add_option("--split", o.splits, "query=FILE, retrieval=FILE, training=FILE: row numbers")
      ->take_all();
  command->add_option("--classes", o.classes, "Class names, a line each; level=FILE")->take_all();
  command->add_option("--items", o.items, "A table of items, tab-separated, may be .gz");
  command->add_option("--caption", o.caption, "The column of items that is the caption");
  command->add_flag("--escapes", o.escapes, "Cells of items are escaped as in items.tsv");
  command->add_flag("--transpose", o.transpose, "Arrays hold one sample a column");
  command->add_option("--index-base", o.index_base,
                      "First sample's number in splits (default: 1 "
                      "in .mat, else 0)");
  command->add_option("--pictures", a->pictures, "A folder of pictures, instead of arrays");
  command->add_option("--captions", a->captions,
                      "Its captions: picture<TAB>caption, or a table "
                      "with a header");
  command->add_option("--picture-embedder", a->picture_embedder,
                      "descriptor, or a TorchScript file");
  command->add_option("--word-embedder", a->word_embedder,
                      "tfidf, or a file of word vectors (.npz or text)");
  command->add_option("--name", o.name, "The dataset's name");
  command->add_option("--licence", o.licence, "Under which its samples may be used");
  command->add_option("--source", o.source, "Where they come from");
  command->add_option("--seed", o.seed, "Deals the queries where no split is given");
  command->add_option("--out", a->out, "The folder to make")->required();
  command->footer(
      "\nExamples:\n"
      "  crossilo data import --image image_cnn128.npy --text text_tfidf_svd200.npy \\\n"
      "    --labels labels.npy --split training=train.npy --split retrieval=train.npy \\\n"
      "    --split query=test.npy --out data/wikipedia\n"
      "  crossilo data import --pictures photos --captions photos.tsv --out data/mine\n");
  command->callback([a] { Import(*a); });
}

// Options that say how to deal, shared by describe and partition.
struct DealArguments {
  std::string kind, column, labels;
  std::vector<std::string> settings;
  double beta = 0;
  int64_t silos = 0;
  uint64_t seed = 1;

  void AddTo(CLI::App& command) {
    command.add_option("--kind", kind,
                       "pooled, iid, column, dirichlet, noniid-equal, "
                       "noniid-unequal");
    command.add_option("--silos", silos, "How many");
    command.add_option("--beta", beta, "Dirichlet: small is uneven, large is even");
    command.add_option("--column", column, "column: which column of the items");
    command.add_option("--labels", labels, "The label level that classes are taken from");
    command.add_option("--set", settings, "key=value: any other key of [partition]")->take_all();
    command.add_option("--seed", seed, "Same seed, same silos");
  }

  PartitionOptions Read(const CLI::App& command) const {
    Config config = Config::Parse("", "partition");
    const auto set = [&](const char* name, const std::string& value) {
      if (command.count(std::string("--") + name) > 0)
        config.Set(fmt::format("{}={}", name, value));
    };
    set("kind", kind);
    set("silos", std::to_string(silos));
    set("beta", fmt::format("{}", beta));
    set("column", "\"" + column + "\"");
    set("labels", "\"" + labels + "\"");
    for (const std::string& setting : settings) config.Set(setting);
    PartitionOptions options = PartitionOptions::From(config);
    config.Finish();
    return options;
  }
};

Json ToJson(const Description& d) {
  Json out = {{"name", d.name},           {"samples", d.samples},    {"image_dims", d.image_dims},
              {"text_dims", d.text_dims}, {"splits", d.splits},      {"levels", d.levels},
              {"classes", d.classes},     {"imbalance", d.imbalance}};
  for (size_t i = 0; i < d.rows.size(); ++i) {
    Json row = {{"name", d.rows[i]}, {"samples", d.totals[i]}};
    if (!d.counts.empty()) row["counts"] = d.counts[i];
    out[d.row_word + "s_table"].push_back(row);
  }
  return out;
}

void AddDescribe(CLI::App& data) {
  CLI::App* command =
      data.add_subcommand("describe", "Tell what a dataset holds and who would hold what of it");
  struct Arguments {
    std::string folder, svg;
    bool json = false;
    DealArguments deal;
  };
  auto a = std::make_shared<Arguments>();
  command->add_option("dataset", a->folder, "A dataset folder")->required();
  a->deal.AddTo(*command);
  command->add_option("--svg", a->svg, "Also draw the table into this file");
  command->add_flag("--json", a->json, "As JSON");
  command->footer(
      "\nExample:\n  crossilo data describe data/emoji --kind dirichlet --silos 10 "
      "--beta 0.5 --svg silos.svg\n");
  command->callback([a, command] {
    const Dataset dataset = OpenDataset(a->folder);
    std::unique_ptr<Partition> partition;
    if (!a->deal.kind.empty()) {
      partition = std::make_unique<Partition>(Deal(dataset, a->deal.Read(*command), a->deal.seed));
    }
    const Description description = Describe(dataset, partition.get(), a->deal.labels);
    if (!a->svg.empty()) WriteFile(a->svg, DescribeSvg(description));
    Say(a->json ? ToJson(description).dump(2) + "\n" : DescribeText(description));
  });
}

void AddPartition(CLI::App& data) {
  CLI::App* command = data.add_subcommand("partition", "Deal the training samples to silos");
  struct Arguments {
    std::string folder, out;
    DealArguments deal;
  };
  auto a = std::make_shared<Arguments>();
  command->add_option("dataset", a->folder, "A dataset folder")->required();
  a->deal.AddTo(*command);
  command->add_option("--out", a->out, "Where silo.npy and partition.toml go")->required();
  command->footer(
      "\nExample:\n  crossilo data partition data/emoji --kind column --column house "
      "--out parts\n");
  command->callback([a, command] {
    const Dataset dataset = OpenDataset(a->folder);
    const PartitionOptions options = a->deal.Read(*command);
    const Partition partition = Deal(dataset, options, a->deal.seed);
    WritePartition(a->out, dataset.size(), partition, options, a->deal.seed);
    Say(DescribeText(Describe(dataset, &partition, a->deal.labels)));
  });
}

void AddEmoji(CLI::App& data) {
  CLI::App* command = data.add_subcommand(
      "emoji", "Make the emoji dataset from the packages that scripts/fetch_emoji.sh fetched");
  struct Arguments {
    std::string packages, out;
    std::vector<std::string> languages;
  };
  auto a = std::make_shared<Arguments>();
  command->add_option("--packages", a->packages, "The folder with the packages")->required();
  command
      ->add_option("--languages", a->languages,
                   "Languages besides English that are understood: fr,de,...; \"\" for none "
                   "(default: all that were fetched)")
      ->delimiter(',');
  command->add_option("--out", a->out, "The folder to make")->required();
  command->footer(
      "\nExample:\n  scripts/fetch_emoji.sh .cache/emoji\n"
      "  crossilo data emoji --packages .cache/emoji --out data/emoji\n");
  command->callback([a, command] {
    std::erase(a->languages, "");
    const bool named = command->count("--languages") > 0;
    Build(ReadEmoji(a->packages, named ? a->languages : EmojiLanguages(a->packages)), {}, a->out);
  });
}

void AddGenerate(CLI::App& data) {
  CLI::App* command = data.add_subcommand("generate", "Make up a dataset whose answers are known");
  struct Arguments {
    GenerateOptions options;
    std::string out;
  };
  auto a = std::make_shared<Arguments>();
  GenerateOptions& o = a->options;
  command->add_option("--samples", o.samples, "Number of pairs");
  command->add_option("--classes", o.classes, "Number of classes");
  command->add_option("--image-dims", o.image_dims, "Dimensions of image features");
  command->add_option("--text-dims", o.text_dims, "Dimensions of text features");
  command->add_option("--noise", o.noise, "Deviation of the noise in every dimension");
  command->add_option("--multi-label", o.multi_label, "Probability of a second class");
  command->add_option("--seed", o.seed, "Same seed, same data");
  command->add_option("--out", a->out, "The folder to make")->required();
  command->footer("\nExample:\n  crossilo data generate --samples 5000 --out data/generated\n");
  command->callback([a] {
    const Dataset dataset = Generate(a->options);
    WriteDataset(a->out, dataset);
    SayWritten(dataset, a->out);
  });
}

}  // namespace

void AddData(CLI::App& app) {
  CLI::App* data = app.add_subcommand("data", "Make, look at and deal datasets");
  data->require_subcommand(1);
  AddImport(*data);
  AddDescribe(*data);
  AddPartition(*data);
  AddEmoji(*data);
  AddGenerate(*data);
}

}  // namespace crossilo
