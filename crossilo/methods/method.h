#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "crossilo/train/local_training.h"

namespace crossilo {

// What one silo sends after its local work.
struct Update {
  TensorMap sums = {};      // merged by weighted mean only; may travel masked
  TensorMap gathered = {};  // read silo by silo at the hub; cannot be masked
  double weight = 1;        // this silo's share of the weighted mean
  double loss = 0;          // of the last local epoch, for the progress line
};

// What the hub sees of a round.
struct Merged {
  TensorMap mean;                     // of Update::sums
  std::map<int, TensorMap> gathered;  // by silo, as sent
};

// The half of a method that runs inside a silo.  It keeps the silo's private
// state from round to round and is the only half that sees samples.
class Client {
 public:
  virtual ~Client() = default;
  virtual void Receive(const TensorMap& broadcast) = 0;
  virtual Update Train(int round) = 0;  // rounds count from 1

  // What must survive a restart; never leaves the silo.
  virtual TensorMap State() const = 0;
  virtual void SetState(const TensorMap& state) = 0;
};

// The half that runs at the hub.  Never sees a sample.
class Server {
 public:
  virtual ~Server() = default;
  virtual TensorMap Broadcast(int silo) const = 0;
  virtual void Merge(const Merged& round) = 0;

  // The weights of the global model; empty for a method that has none.
  virtual TensorMap Global() const = 0;

  virtual TensorMap State() const = 0;
  virtual void SetState(const TensorMap& state) = 0;
};

struct ClientSetup {
  const Silo& silo;  // outlives the client
  HashModel& model;  // outlives the client; at the common initial weights
  TrainingOptions training;
  uint64_t seed;  // of the run; a silo's streams are named by (seed, round, silo)
};

struct ServerSetup {
  TensorMap initial;  // the common initial weights
  int silos;
};

// One federated method, as the catalog knows it.  Both halves read their keys
// from the [method] table.
struct Method {
  std::string name;
  std::string summary;    // one line for `crossilo methods`
  std::string sends;      // what leaves a silo each round, and whether a sum can hide it
  bool personal = false;  // judged by each silo's own model, not by a global one
  std::unique_ptr<Client> (*make_client)(const ClientSetup& setup, const Config& table);
  std::unique_ptr<Server> (*make_server)(const ServerSetup& setup, const Config& table);
};

// Every method there is, in the order of docs/METHODS.md.
const std::vector<Method>& AllMethods();
// Throws Error naming the nearest known one.
const Method& FindMethod(const std::string& name);

}  // namespace crossilo
