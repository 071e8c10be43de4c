#!/usr/bin/env bash
# The tables of docs/RESULTS.md, "The unsupervised systems": three seeds of each
# run, then the table.  Finished runs are kept, interrupted ones go on.
#   experiments/unsupervised.sh TABLE [CROSSILO]
#   experiments/unsupervised.sh TABLE --list    one line a run: folder, file, settings
# Tables, each with wikipedia- or fashion- before it:
#   d5 d1         all methods, 16 to 128 bits, Dirichlet 0.5 and 0.1
#   feduch        FedUCH's parts and its control
#   fedwgan       FedWGAN's parts, its control, and the stage around other methods
#   bases         FedUCH on DJSRH and JDSH
#   paper         silos' own sets drawn as the papers' code does
#   beta          Dirichlet 0.1, 0.5, 1 and 10 at 16 bits
# Wants data/wikipedia or data/fashion, imported as docs/DATASETS.md says.
set -euo pipefail
cd "$(dirname "$0")/.."
table=$1
crossilo=${2:-build/release/crossilo/cli/crossilo}
set=${table%%-*}
what=${table#*-}
here=$set/$what
measure=map@50_dealt
how=()
runs=()

# run NAME FILE [SETTING...]: three seeds.
run() {
  local name=$1 file=$2 seed setting out settings=()
  shift 2
  for seed in 1 2 3; do
    out=runs/unsupervised/$here/$name-$seed
    runs+=("$out")
    if [ "$crossilo" = --list ]; then
      echo "$out" "experiments/unsupervised/$file.$set.toml" "seed=$seed" "$@"
      continue
    fi
    settings=()
    for setting in seed=$seed "$@"; do settings+=(--set "$setting"); done
    [ -f "$out/summary.json" ] || "$crossilo" simulate "experiments/unsupervised/$file.$set.toml" \
      "${settings[@]}" --resume --out "$out"
  done
}
# What stands in for labels where a method needs some.
pseudo=data.pseudo=20
of_dgcpn() {  # METHOD [SETTING...]
  local method=$1
  shift
  run "dgcpn-$method${tag:-}" feduch "method.name=$method" "$@"
}
of_ucch() {
  local method=$1
  shift
  case $method in
    fedwgan) run "ucch-$method${tag:-}" fedwgan "$@"; return ;;
    fedcafe | plfedcmh | pepfch) set -- $pseudo "$@" ;;
    fedx) set -- method.w1=0.1 method.w2=0.1 "$@" ;;
  esac
  run "ucch-$method${tag:-}" ucch "method.name=$method" "$@"
}
all() {
  local bits method
  for bits in 16 32 64 128; do
    tag=-$bits
    for method in local fedavg fedprox scaffold fednova moon feduch; do
      of_dgcpn $method model.bits=$bits "$@"
    done
    for method in local fedavg fedprox scaffold fednova moon fedx fedcafe plfedcmh ptfuch fedwgan; do
      of_ucch $method model.bits=$bits "$@"
    done
  done
  tag=
}

case $what in
  d5) all; how=(--bits) ;;
  d1) all partition.beta=0.1; how=(--bits) ;;
  feduch)
    for bits in 32 64; do
      s="model.bits=$bits"
      here=$set/d5 tag=-$bits
      for method in fedavg feduch; do of_dgcpn $method $s; done
      here=$set/feduch
      run cr-$bits feduch $s method.kd=false name=feduch-2-cr-only
      run kd-$bits feduch $s method.cr=false name=feduch-3-kd-only
      run zero-$bits feduch $s method.mu=0.0 method.phi=0.0 name=feduch-steps-only
    done
    s=model.bits=32
    run strong-32 feduch $s method.mu=6.0 method.phi=4.0 name=feduch-ten-times
    run joint-32 feduch $s method.reg_step=joint name=feduch-joint
    run released-32 feduch $s method.prev_model=global-as-released name=feduch-as-released
    how=(--bits) ;;
  fedwgan)
    off() { for k in "$@"; do printf 'method.%s=false ' "$k"; done; }
    here=$set/d5 tag=-32
    of_ucch fedavg model.bits=32
    here=$set/fedwgan
    run gan fedwgan $(off cont jsd filter) name=w/GAN
    run cont fedwgan $(off jsd filter) name=w/cont
    run jsd fedwgan $(off filter) name=w/JSD
    here=$set/d5
    of_ucch fedwgan model.bits=32
    here=$set/fedwgan
    run untrained fedwgan method.train_generators=false name=untrained-generators
    here=$set/d5
    of_ucch moon model.bits=32
    here=$set/fedwgan
    run moon-gan fedwgan method.inner=moon name=moon+generator
    for method in plfedcmh pepfch; do
      [ $set-$method = wikipedia-pepfch ] && continue
      run $method ucch method.name=$method $pseudo
      run $method-gan fedwgan method.inner=$method $pseudo name=$method+generator
    done
    if [ $set = fashion ]; then
      run mlp-fedavg ucch model.input=mlp name=fedavg-mlp
      run mlp fedwgan model.input=mlp name=fedwgan-mlp
      run long fedwgan method.gan_epochs=6 name=fedwgan-6-gan-epochs
    fi ;;
  paper)
    for method in local fedavg moon feduch; do of_dgcpn $method evaluate.deal=query; done
    for method in local fedavg fedcafe plfedcmh ptfuch fedwgan; do
      of_ucch $method evaluate.deal=all model.bits=16 partition.beta=0.1
    done ;;
  bases)
    for base in djsrh jdsh; do
      for method in local fedavg fedprox moon feduch; do
        run $base-$method feduch model.base=$base method.name=$method training.learning_rate=0.01
      done
    done ;;
  beta)
    for beta in 0.1 0.5 1.0 10.0; do
      tag=-16
      case $beta in 0.1) here=$set/d1 ;; 0.5) here=$set/d5 ;; *) here=$set/beta; tag=-$beta ;; esac
      for method in fedavg feduch; do of_dgcpn $method model.bits=16 partition.beta=$beta; done
      for method in fedavg moon ptfuch fedwgan; do
        of_ucch $method model.bits=16 partition.beta=$beta
      done
    done ;;
  *) echo "no table '$table'; the head of this file names them" >&2; exit 2 ;;
esac
[ "$crossilo" = --list ] && exit
for measure in map@50 map@50_dealt; do
  echo "$measure"
  "$crossilo" compare "${how[@]}" --against fedavg --measure $measure "${runs[@]}"
done
