#include "crossilo/base/error.h"
#include "crossilo/base/nearest.h"
#include "crossilo/models/hash_model.h"

namespace crossilo {

ModelKind DcmhKind();
ModelKind ShdchKind();
ModelKind UcchKind();
ModelKind DjsrhKind();
ModelKind JdshKind();
ModelKind DgcpnKind();
ModelKind DscmrKind();
ModelKind ScmrKind();

const std::vector<ModelKind>& AllModels() {
  static const std::vector<ModelKind> all = {DcmhKind(), ShdchKind(), UcchKind(),  DjsrhKind(),
                                             JdshKind(), DgcpnKind(), DscmrKind(), ScmrKind()};
  return all;
}

const ModelKind& FindModel(const std::string& name) {
  std::vector<std::string> known;
  for (const ModelKind& kind : AllModels()) {
    if (kind.name == name) return kind;
    known.push_back(kind.name);
  }
  throw Error("model.base is '{}', which is not known{}", name, Suggestion(name, known));
}

}  // namespace crossilo
