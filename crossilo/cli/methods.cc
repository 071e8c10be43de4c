#include <cstdio>
#include <nlohmann/json.hpp>

#include "crossilo/cli/command.h"
#include "crossilo/cli/table.h"
#include "crossilo/methods/sends.h"

namespace crossilo {
namespace {

void ListMethods(bool as_json) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  TextTable table({"method", "judged by", "leaves a silo each round", "what it does"});
  for (const Method& method : AllMethods()) {
    const std::string judged = method.personal ? "each silo's model" : "global model";
    table.Row({method.name, judged, method.sends, method.summary});
    all.push_back({{"name", method.name},
                   {"personal", method.personal},
                   {"sends", method.sends},
                   {"summary", method.summary}});
    for (const Sent& sent : as_json ? WhatItSends(method) : std::vector<Sent>{}) {
      all.back()["messages"].push_back({{"what", sent.what},
                                        {"shape", sent.shape},
                                        {"bytes", sent.bytes},
                                        {"direction", sent.up ? "up" : "down"},
                                        {"in_sum", sent.in_sum}});
    }
  }
  std::fputs(as_json ? (all.dump(2) + "\n").c_str() : table.Text().c_str(), stdout);
}

void ListMessages() {
  TextTable table({"method", "direction", "what", "shape", "bytes", "may hide in a sum"});
  for (const Method& method : AllMethods()) {
    const std::vector<Sent> all = WhatItSends(method);
    if (all.empty()) table.Row({method.name, "–", "nothing", "", "0", ""});
    for (const Sent& sent : all) {
      table.Row({method.name, sent.up ? "silo → hub" : "hub → silo", sent.what, sent.shape,
                 std::to_string(sent.bytes),
                 !sent.up      ? ""
                 : sent.in_sum ? "yes"
                               : "no"});
    }
  }
  std::fputs(table.Text().c_str(), stdout);
}

void ListModels(bool as_json) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  TextTable table({"base", "labels", "ranked by", "what it does"});
  for (const ModelKind& kind : AllModels()) {
    table.Row({kind.name, kind.supervised ? "needed" : "not used",
               kind.real_valued ? "cosine" : "Hamming distance", kind.summary});
    nlohmann::ordered_json presets = nlohmann::ordered_json::object();
    for (const Preset& preset : kind.presets) presets[preset.name] = preset.settings;
    all.push_back({{"name", kind.name},
                   {"supervised", kind.supervised},
                   {"real_valued", kind.real_valued},
                   {"summary", kind.summary},
                   {"presets", presets}});
  }
  std::fputs(as_json ? (all.dump(2) + "\n").c_str() : table.Text().c_str(), stdout);
}

}  // namespace

void AddMethods(CLI::App& app) {
  CLI::App* command = app.add_subcommand("methods", "List the federated methods");
  command->footer("\nExample:\n  crossilo methods --json\n");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "As JSON");
  auto sends = std::make_shared<bool>(false);
  command->add_flag("--sends", *sends,
                    "What passes in a round between one silo and the hub: DCMH, 32 bits, 512 image "
                    "and 1000 text features, 10 classes");
  command->callback([json, sends] { *sends ? ListMessages() : ListMethods(*json); });
}

void AddModels(CLI::App& app) {
  CLI::App* command = app.add_subcommand("models", "List the base models");
  command->footer("\nExample:\n  crossilo models --json\n");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "As JSON");
  command->callback([json] { ListModels(*json); });
}

}  // namespace crossilo
