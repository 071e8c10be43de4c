#!/usr/bin/env bash
# The tables of docs/RESULTS.md, "The supervised systems": three seeds of each
# run, then the table.  Finished runs are kept, interrupted ones go on.
#   experiments/supervised.sh TABLE [CROSSILO]
# Tables: fashion-d5 fashion-d2 fashion-eq fashion-un, fashion-cafe,
# fashion-controls, fashion-real, wikipedia-d5, wikipedia-iid, wikipedia-dir.
# Wants data/fashion or data/wikipedia, imported as docs/DATASETS.md says.
set -euo pipefail
cd "$(dirname "$0")/.."
table=$1
crossilo=${2:-build/release/crossilo/cli/crossilo}
set=${table%%-*}
here=$set/d5
against=fedavg
runs=()

# run NAME FILE [SETTING...]: experiments/supervised/<set>/<file>.toml, three seeds.
run() {
  local name=$1 file=$2 seed setting out settings=()
  shift 2
  for setting in "$@"; do settings+=(--set "$setting"); done
  for seed in 1 2 3; do
    out=runs/supervised/$here/$name-$seed
    runs+=("$out")
    [ -f "$out/summary.json" ] || "$crossilo" simulate "experiments/supervised/$set/$file.toml" \
      --set seed=$seed "${settings[@]}" --resume --out "$out"
  done
}
all() {
  local method
  for method in local fedavg fedprox scaffold fednova moon fedproto fedcmr fedcmr-last plfedcmh \
    pepfch fedcafe; do run $method $method "$@"; done
}
# FedSCMR's family, real-valued, under a partition given by settings.
real() {
  local method
  for method in local-real fedavg-real fedprox-real fedcmr-real fedscmr; do
    run $method $method "$@"
  done
  run scmr-local fedscmr "$@" method.name=local name=scmr-losses-local
  run scmr-fedavg fedscmr "$@" method.name=fedavg name=scmr-losses-fedavg
  run dscmr-fedscmr fedscmr "$@" model.base=dscmr name=dscmr-losses-fedscmr
  run fedscmr-all fedscmr "$@" method.agg=all name=fedscmr-all-layers
  run fedscmr-nolcs fedscmr "$@" model.l_cs=false name=fedscmr-without-L_cs
  run fedscmr-nolccs fedscmr "$@" model.l_ccs=false name=fedscmr-without-L_ccs
  run fedscmr-nophi fedscmr "$@" method.phi=false name=fedscmr-without-Phi
}

case $table in
  fashion-d5) all; run fedscmr fedscmr; run centralized centralized ;;
  fashion-d2) here=fashion/d2; all partition.beta=0.2; run fedscmr fedscmr partition.beta=0.2 ;;
  fashion-eq)
    here=fashion/eq; all partition.kind=noniid-equal
    run fedscmr fedscmr partition.kind=noniid-equal ;;
  fashion-un)
    here=fashion/un; all partition.kind=noniid-unequal
    run fedscmr fedscmr partition.kind=noniid-unequal
    run scaffold-batch scaffold partition.kind=noniid-unequal model.divide=batch \
      name=scaffold-divide-batch ;;
  fashion-cafe)
    off() { local s=(); for k in "$@"; do s+=("method.$k=false"); done; printf '%s\n' "${s[@]}"; }
    run fedavg fedavg
    run cafe-afe fedcafe $(off l_e l_c l_p wa) name=+AFE
    run cafe-afe-le fedcafe $(off l_c l_p wa) name=+AFE+L_E
    run cafe-afe-le-lc fedcafe $(off l_p wa) name=+AFE+L_E+L_C
    run cafe-afe-le-lc-lp fedcafe $(off wa) name=+AFE+L_E+L_C+L_P
    run fedcafe fedcafe
    run cafe-uniform fedcafe method.wa=false method.weights=uniform name=fedcafe-uniform-weights ;;
  fashion-controls)
    against=plfedcmh
    run plfedcmh plfedcmh
    run pl-parallel plfedcmh method.order=parallel name=plfedcmh-parallel
    run pl-frozen plfedcmh method.hn_rate=0.0 name=plfedcmh-frozen
    run pfedcmh plfedcmh method.layered=identity name=pfedcmh
    run fedavg fedavg
    run fedavg-private fedavg model.start=private name=fedavg-private-start
    run fedcmr fedcmr
    run fedcmr-sharpness0 fedcmr method.sharpness=0.0 name=fedcmr-sharpness-0 ;;
  fashion-real)
    against=fedavg-real
    for method in local-real fedavg-real fedscmr; do run $method $method; done ;;
  wikipedia-d5)
    all; run centralized centralized
    run scaffold-batch scaffold model.divide=batch name=scaffold-divide-batch
    run pl-raw plfedcmh method.similar=raw name=plfedcmh-raw
    run lfedcmh plfedcmh method.proto=false name=lfedcmh ;;
  wikipedia-iid)
    here=wikipedia/iid; against=local-real; real; run centralized-real centralized-real ;;
  wikipedia-dir)
    here=wikipedia/dir; against=local-real
    real partition.kind=dirichlet partition.beta=0.5
    run fedscmr-all-nophi fedscmr partition.kind=dirichlet partition.beta=0.5 method.agg=all \
      method.phi=false name=fedscmr-all-layers-without-Phi ;;
  *) echo "no table '$table'; the head of this file names them" >&2; exit 2 ;;
esac
"$crossilo" compare --against $against "${runs[@]}"
