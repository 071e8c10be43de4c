#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "crossilo/cli/judge.h"
#include "crossilo/federation/round.h"

namespace crossilo {

using Json = nlohmann::ordered_json;

// {"map": {"i2t": .., "t2i": ..}, "map@50": {..}, "ndcg@50": {..}, ...}
Json ToJson(const Scores& scores);

// One line of rounds.jsonl.  `scores` may be null: not every round is judged.
Json RoundLine(const RoundFacts& facts, const Scores* scores, double evaluate_seconds);

// rounds.jsonl, of which only the first `rounds` lines count: a run that is
// resumed repeats the rounds after its checkpoint.
class RoundLog {
 public:
  RoundLog(const std::filesystem::path& path, int rounds);

  void Append(const Json& line);
  const std::vector<Json>& lines() const { return lines_; }

 private:
  std::filesystem::path path_;
  std::vector<Json> lines_;
};

// The largest memory this process held so far, in bytes.
int64_t PeakMemory();

}  // namespace crossilo
