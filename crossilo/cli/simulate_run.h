#pragma once

#include <string>
#include <vector>

namespace crossilo {

struct SimulateArguments {
  std::string experiment, out;
  std::string device = "cpu";
  std::vector<std::string> settings;  // "key=value" that override the file's
  bool resume = false, json = false;
  int workers = 0;  // 0: as many as there are cores for
};

// `crossilo simulate`: reads the experiment, trains, judges, and fills the
// folder `out`.  A run that fails leaves no bundle and no summary behind.
void RunSimulation(const SimulateArguments& arguments);

}  // namespace crossilo
