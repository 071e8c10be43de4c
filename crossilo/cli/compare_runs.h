#pragma once

#include <string>
#include <vector>

#include "crossilo/cli/results.h"

namespace crossilo {

// What `crossilo compare` is asked.
struct CompareArguments {
  std::vector<std::string> runs;
  std::string measure = "map";
  std::string against;  // a name; "" for no differences
  bool silos = false;   // a row a silo
  bool bits = false;    // a column a code length
  bool json = false;
};

// Runs that differ in nothing but their seed.
struct Group {
  Json first;
  std::vector<double> i2t, t2i;
  std::vector<int64_t> seeds;
};

// In the order in which they were named.  Throws Error on a folder that holds
// no finished run, or one without the measure.
std::vector<Group> Grouped(const CompareArguments& arguments);

// The group of that name with the same data and partition, or null: also where
// that is the group itself; of several
// one with the same code length and base, where there is one.
const Group* Rival(const std::vector<Group>& groups, const Group& group, const std::string& name);

double Mean(const std::vector<double>& x);
double Deviation(const std::vector<double>& x);  // of a sample: divided by n - 1

// What a group has more than another on the seeds that both have.
std::vector<double> Differences(const Group& a, const Group& b, std::vector<double> Group::*x);

// Whether a mean difference is below its spread over seeds.
bool IsNothing(const std::vector<double>& differences);

}  // namespace crossilo
