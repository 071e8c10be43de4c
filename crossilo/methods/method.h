#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "crossilo/train/local_training.h"

namespace crossilo {

// What an operator may want to know besides losses, by name, such as how many
// samples a filter kept.
using Facts = std::map<std::string, double>;

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
  // Of the last training; for the silo's own operator, not for the hub.
  virtual Facts facts() const { return {}; }

  // What must survive a restart; never leaves the silo.
  virtual TensorMap State() const = 0;
  virtual void SetState(const TensorMap& state) = 0;
};

// How the messages of a round follow one another.
enum class Exchange {
  kAtOnce,    // all silos are sent to, then all train, then their updates are merged
  kOneByOne,  // a silo is sent to when the update of the silo before it has arrived
  kReplied,   // all train; what is merged is sent back to those who took part
};

// The half that runs at the hub.  Never sees a sample.
class Server {
 public:
  virtual ~Server() = default;
  virtual Exchange exchange() const { return Exchange::kAtOnce; }
  // Must not depend on who calls it when; silos may be sent to at once.
  virtual TensorMap Broadcast(int silo) const = 0;
  // kOneByOne only: one silo's `gathered`, before the next silo is sent to.
  virtual void Arrived(int silo, const TensorMap& gathered) { (void)silo, (void)gathered; }
  // Ends the round.  With kOneByOne `gathered` is empty for every silo that
  // took part: it has arrived.
  virtual void Merge(const Merged& round) = 0;

  // The weights of the global model; empty where every silo has its own and is
  // judged by it.
  virtual TensorMap Global() const = 0;
  // Puts weights that a stage has trained further at the hub in the place of
  // the global model's.  A method whose hub could not go on from them throws
  // Error.
  virtual void SetGlobal(const TensorMap& weights);
  // What the global model's head reads besides weights; see HashModel.
  virtual TensorMap Context() const { return {}; }
  virtual Facts facts() const { return {}; }  // of the last merge

  virtual TensorMap State() const = 0;
  virtual void SetState(const TensorMap& state) = 0;
};

struct ClientSetup {
  const Silo& silo;  // outlives the client
  HashModel& model;  // outlives the client; at the common initial weights
  TrainingOptions training;
  uint64_t seed;  // of the run; a silo's streams are named by (seed, round, silo)
  int silos = 1;  // in the federation
  // What a stage around the method adds to its extra_loss.
  decltype(TrainingHooks::extra_loss) stage_loss = {};
};

struct ServerSetup {
  TensorMap initial;  // the common initial weights
  int silos;
  ModelShape shape = {};
  int64_t code_dims = 0;
  uint64_t seed = 0;  // of the run
  TrainingOptions training = {};
  // For a hub that trains: a model like the silos', at the initial weights.
  std::function<std::unique_ptr<HashModel>()> make_model = {};
};

// One federated method, as the catalog knows it.  Both halves read their keys
// from the [method] table.
struct Method {
  std::string name;
  std::string summary;    // one line for `crossilo methods`
  std::string sends;      // what leaves a silo each round, and whether a sum can hide it
  bool personal = false;  // as it comes, judged by each silo's own model, not by a global one
  std::unique_ptr<Client> (*make_client)(const ClientSetup& setup, const Config& table);
  std::unique_ptr<Server> (*make_server)(const ServerSetup& setup, const Config& table);
  // Gives a model the head that the method's codes need; null: none.  Called
  // on every model of a run, with the same seed, before anything else.
  void (*prepare)(HashModel& model, const Config& table, uint64_t seed) = nullptr;
};

// For Method::make_client and make_server of a class that is made of both
// arguments.
template <typename T>
std::unique_ptr<Client> NewClient(const ClientSetup& setup, const Config& table) {
  return std::make_unique<T>(setup, table);
}
template <typename T>
std::unique_ptr<Server> NewServer(const ServerSetup& setup, const Config& table) {
  return std::make_unique<T>(setup, table);
}

// Every method there is, in the order of docs/METHODS.md.
const std::vector<Method>& AllMethods();
// Throws Error naming the nearest known one.
const Method& FindMethod(const std::string& name);

}  // namespace crossilo
