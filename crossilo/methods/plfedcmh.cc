// PLFedCMH: personal models from layers mixed by hypernetworks, and class
// prototypes.
//
// Liu et al., Prototype-based Layered Federated Cross-Modal Hashing, ICASSP
// 2023.  Meant for the base shdch, whose loss is the paper's alpha and mu terms;
// the losses that are added to it stand in prototype_client.cc, the hub's work
// in layered_server.cc.
//
// The paper's ablations: PFedCMH is layered = "identity" (no layered weights),
// LFedCMH is proto = false (no prototypes).  Its rounds (50), local epochs (5),
// batch (128) and Adam's rate (1e-4) are settings of [training].

#include "crossilo/methods/layered_server.h"
#include "crossilo/methods/prototype_client.h"

namespace crossilo {

Method PlFedCmh() {
  return {
      .name = "plfedcmh",
      .summary = "layers mixed for every silo by hypernetworks, and class prototypes (ICASSP 2023)",
      .sends = "weights' changes (silo by silo), class prototypes (in a sum)",
      .personal = true,
      .make_client = [](const ClientSetup& setup, const Config& table) -> std::unique_ptr<Client> {
        return std::make_unique<PrototypeClient>(setup, PrototypeOptions::Layered(table, 0.5));
      },
      .make_server = [](const ServerSetup& setup, const Config& table) -> std::unique_ptr<Server> {
        return std::make_unique<LayeredServer>(setup, LayeredOptions::From(table));
      }};
}

}  // namespace crossilo
