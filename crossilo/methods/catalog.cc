#include "crossilo/base/error.h"
#include "crossilo/base/nearest.h"
#include "crossilo/methods/method.h"

namespace crossilo {

Method Local();
Method FedAvg();
Method FedProx();
Method Scaffold();
Method FedNova();
Method Moon();
Method FedProto();
Method FedCmr();
Method PlFedCmh();
Method PepFch();
Method FedScmr();
Method FedCafe();
Method FedUch();
Method FedX();
Method PtFuch();
Method FedWgan();

const std::vector<Method>& AllMethods() {
  static const std::vector<Method> all = {
      Local(),    FedAvg(), FedProx(), Scaffold(), FedNova(), Moon(), FedProto(), FedCmr(),
      PlFedCmh(), PepFch(), FedScmr(), FedCafe(),  FedUch(),  FedX(), PtFuch(),   FedWgan()};
  return all;
}

void Server::SetGlobal(const TensorMap&) {
  throw Error(
      "this method's hub cannot go on from weights that another stage trained; use a method such "
      "as fedavg, fedprox, moon, plfedcmh or pepfch with fedwgan");
}

const Method& FindMethod(const std::string& name) {
  std::vector<std::string> known;
  for (const Method& method : AllMethods()) {
    if (method.name == name) return method;
    known.push_back(method.name);
  }
  throw Error("method.name is '{}', which is not known{}", name, Suggestion(name, known));
}

}  // namespace crossilo
