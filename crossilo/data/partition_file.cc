#include "crossilo/data/partition_file.h"

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"
#include "crossilo/data/npy.h"

namespace crossilo {
namespace {

// A TOML basic string.
std::string Quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\u{:04X}", byte);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

// A TOML float needs a point or an exponent.
std::string Real(double value) {
  std::string out = fmt::format("{}", value);
  if (out.find_first_of(".en") == std::string::npos) out += ".0";
  return out;
}

std::string Settings(const std::string& table, const PartitionOptions& o) {
  std::string out = fmt::format("\n[{}]\nkind = {}\nsilos = {}\n", table, Quoted(o.kind), o.silos);
  out += fmt::format("column = {}\nlabels = {}\npseudo_labels = {}\n", Quoted(o.column),
                     Quoted(o.labels), o.pseudo_labels);
  out += fmt::format("beta = {}\nminimum = {}\ncapped = {}\n", Real(o.beta), o.minimum, o.capped);
  out += fmt::format("ways = {}\nways_spread = {}\nshots = {}\n", o.ways, o.ways_spread, o.shots);
  out += fmt::format("shard = {}\nshards_most = {}\n", o.shard, o.shards_most);
  if (o.within) out += Settings(table + ".within", *o.within);
  return out;
}

}  // namespace

void WritePartition(const std::filesystem::path& folder, int64_t samples,
                    const Partition& partition, const PartitionOptions& options, uint64_t seed) {
  std::vector<int32_t> silo(samples, -1);
  std::string toml = fmt::format("seed = {}\nsamples = {}\nsilos = [\n", seed, samples);
  for (int i = 0; i < partition.silos(); ++i) {
    for (int64_t row : partition.training[i]) {
      if (row < 0 || row >= samples) {
        throw Error("{}: silo '{}' holds sample {} of {}; deal the dataset again", folder.string(),
                    partition.names[i], row, samples);
      }
      silo[row] = i;
    }
    toml += fmt::format("  {},\n", Quoted(partition.names[i]));
  }
  toml += "]\n" + Settings("partition", options);
  WriteNpy(folder / "silo.npy", Dtype::kI32, {samples}, std::as_bytes(std::span(silo)));
  try {
    WriteFile(folder / "partition.toml", toml);
  } catch (const Error&) {
    std::error_code ignored;
    std::filesystem::remove(folder / "silo.npy", ignored);
    throw;
  }
}

}  // namespace crossilo
