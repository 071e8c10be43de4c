#include "crossilo/methods/fedwgan_options.h"

namespace crossilo {

FedWganOptions FedWganOptions::From(const Config& table) {
  FedWganOptions o;
  o.gan = table.Flag("gan", o.gan, "false: the inner method alone");
  o.prototypes = table.Int("prototypes", o.prototypes, "M: of a silo, and of the hub", 1, 1 << 16);
  o.space =
      table.Choice("proto_space", "concat-split", {"concat-split", "hash"},
                   "where prototypes are: among features, side by side; or among codes") == "hash"
          ? PairSpace::kCodes
          : PairSpace::kFeatures;
  o.literal_steps = table.Choice("ucch_steps", "once", {"once", "literal"},
                                 "the base's steps: one a batch; literal: with every step of "
                                 "critic and generator, as the authors do") == "literal";
  o.ReadGenerator(table);
  o.ReadHub(table);
  return o;
}

void FedWganOptions::ReadGenerator(const Config& table) {
  train_generators = table.Flag("train_generators", train_generators,
                                "false: generators stay at their random start, as a control");
  gan_epochs =
      table.Int("gan_epochs", gan_epochs, "of the WGAN in a round; 0: training.local_epochs", 0);
  output = table.Choice("output", output, {"auto", "linear", "unit", "tanh"},
                        "a generated half: of any length, of length 1, or within +-1; auto: "
                        "unit where the base reads such, else linear");
  collapse = table.Real("collapse", collapse,
                        "a generator whose pairs lie closer than this times the real ones is "
                        "not sent",
                        0);
  patience =
      table.Int("patience", patience,
                "trainings in a row that leave a generator collapsed and not growing before it "
                "starts anew; 0: it never does",
                0);
  memorisation = table.Int("memorisation", memorisation,
                           "generated and real samples that a generator is checked on", 2);
  wgan = WganOptions::From(table);
  losses = SynthesisLosses::From(table);
}

void FedWganOptions::ReadHub(const Config& table) {
  mu = table.Real("mu", mu, "generated pairs for each of a silo's samples", 0, 100);
  filter = table.Flag("filter", filter, "keep only generated pairs near a prototype");
  fixed = table.Choice("theta_rule", "quantile", {"quantile", "fixed"},
                       "the filter's threshold: from the silos' own samples, or given") == "fixed";
  theta = table.Real("theta_fixed", theta, "the threshold, as 1 - cosine, if given", 0, 2);
  quantile = table.Real("theta_quantile", quantile,
                        "share of real samples that the threshold would keep", 0, 1);
  global_epochs = table.Int("global_epochs", global_epochs,
                            "of the merged model on generated pairs, each round", 1);
  global_rate = table.Real("global_learning_rate", global_rate,
                           "its step size; 0: training.learning_rate", 0);
}

}  // namespace crossilo
