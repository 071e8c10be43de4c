#include <cstdio>

#include "crossilo/base/error.h"
#include "crossilo/cli/command.h"
#include "crossilo/cli/experiment.h"
#include "crossilo/cli/simulate_run.h"

namespace crossilo {
namespace {

// Every key there is for this base and method, with its value and its sentence.
void PrintKeys(const SimulateArguments& arguments) {
  Config config = arguments.experiment.empty() ? Config() : Config::Load(arguments.experiment);
  for (const std::string& setting : arguments.settings) config.Set(setting);
  std::fputs(ReadExperiment(config).config.Resolved().c_str(), stdout);
}

}  // namespace

void AddSimulate(CLI::App& app) {
  CLI::App* command = app.add_subcommand("simulate", "Run a federation in one process");
  auto arguments = std::make_shared<SimulateArguments>();
  auto keys = std::make_shared<bool>(false);
  command->add_option("experiment", arguments->experiment, "The experiment, a TOML file");
  command->add_option("--out", arguments->out, "Where the results go");
  command->add_option("--set", arguments->settings, "key=value: overrides a key; may be repeated")
      ->take_all();
  command->add_flag("--resume", arguments->resume, "Go on after the last finished round");
  command->add_option("--device", arguments->device, "cpu, cuda or cuda:N")
      ->check([](const std::string& name) {
        return name == "cpu" || name.starts_with("cuda") ? "" : "cpu, cuda or cuda:N";
      });
  command->add_option("--workers", arguments->workers,
                      "Silos trained at once; changes the time, not the result (default: cores)");
  command->add_flag("--json", arguments->json, "Print the summary as JSON");
  command->add_flag(
      "--keys", *keys,
      "Print every key with its value and meaning; --set model.base=ucch for another base's");
  command->footer(
      "\nExample:\n  crossilo simulate experiments/fedavg.emoji.toml --out runs/fedavg "
      "--set training.rounds=10\n");
  command->callback([arguments, keys] {
    if (*keys) return PrintKeys(*arguments);
    if (arguments->experiment.empty() || arguments->out.empty()) {
      throw Error(
          "simulate needs an experiment file and --out DIR; see `crossilo simulate "
          "--help`");
    }
    RunSimulation(*arguments);
  });
}

}  // namespace crossilo
