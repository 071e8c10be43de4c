# Generate, describe, partition, train, compare, encode, evaluate, search: the
# whole way, on data whose answers are known.
source "$SOURCE/tests/common.sh"
make_small
expect "400 samples" "$CROSSILO" data describe small
expect "silo" "$CROSSILO" data partition small --kind iid --silos 3 --out parts
[ -f parts/silo.npy ] || fail "no silo.npy"

for method in local fedavg fedprox fedcafe plfedcmh fedscmr; do
  expect "results in" "$CROSSILO" simulate small.toml --set method.name=$method --out run-$method
done
for file in experiment.toml rounds.jsonl summary.json bundle.safetensors checkpoint.safetensors; do
  [ -s run-fedavg/$file ] || fail "no $file"
done
[ "$(wc -l <run-fedavg/rounds.jsonl)" -eq 6 ] || fail "not a line a round"
[ -s run-local/bundles/003.safetensors ] || fail "no bundle for every silo of local"
for key in '"map"' '"map@50"' '"bytes"' '"seconds"' '"peak_memory_bytes"' '"i2t"' '"seed"'; do
  grep -q "$key" run-fedavg/summary.json || fail "no $key in the summary"
done
expect "fedavg" "$CROSSILO" compare run-local run-fedavg
expect '"deviation"' "$CROSSILO" compare run-local run-fedavg --measure map@50 --json

# The resolved experiment runs again to the same bundle, with other workers.
expect "results in" "$CROSSILO" simulate run-fedavg/experiment.toml --workers 3 --out again
cmp again/bundle.safetensors run-fedavg/bundle.safetensors || fail "same seed, other bytes"

expect "" "$CROSSILO" encode --bundle run-fedavg/bundle.safetensors --data small --out codes
expect "text→image" "$CROSSILO" evaluate --bundle run-fedavg/bundle.safetensors --data small
expect '"hits"' "$CROSSILO" search --bundle run-fedavg/bundle.safetensors --data small --row 0 --json
expect "fedavg" "$CROSSILO" methods
expect "prototype/text" "$CROSSILO" methods --sends

# FedCAFE's codes need its memory: the bundle has it, and judged from the bundle
# the model does as well as in its run.
expect '"context/memory"' grep -ao '"context/memory"' run-fedcafe/bundle.safetensors
"$CROSSILO" evaluate --bundle run-fedcafe/bundle.safetensors --data small --json >judged.json
for way in i2t t2i; do
  first() { grep -A3 '"map": {' "$1" | grep -m1 "\"$way\"" | grep -o '0\.[0-9]\{4\}\|1\.0'; }
  [ "$(first judged.json)" = "$(first run-fedcafe/summary.json)" ] || fail "the bundle finds otherwise"
done
expect '"real_valued": true' "$CROSSILO" models --json
expect "partition" "$CROSSILO" simulate --keys
for command in "" data "data import" "data describe" "data partition" "data generate" "data emoji" \
  simulate compare encode evaluate search methods models; do
  # shellcheck disable=SC2086
  expect "" "$CROSSILO" $command --help
done

# UCCH needs no labels, DSCMR is ranked by cosine.
expect "results in" "$CROSSILO" simulate small.toml --set model.base=ucch --out run-ucch
sed -e '/hidden_/d' -e 's/bits = 16/dims = 16/' small.toml >dscmr.toml
expect "results in" "$CROSSILO" simulate dscmr.toml --set model.base=dscmr --out run-dscmr
expect "results in" "$CROSSILO" simulate small.toml --set evaluate.sets=dealt --out run-dealt

# Both kinds of sets, some silos only, a name of its own, differences on the same seeds.
for seed in 1 2; do
  expect "results in" "$CROSSILO" simulate small.toml --set method.name=fedproto --set seed=$seed \
    --set evaluate.sets=both --set evaluate.silos=2 --set name=proto --out proto-$seed
  expect "results in" "$CROSSILO" simulate small.toml --set seed=$seed --out avg-$seed
done
grep -q '"map_dealt"' proto-1/summary.json || fail "no map_dealt in the summary"
grep -q 'mean over 2 silos' proto-1/summary.json || fail "judged other silos than asked for"
expect "against fedavg" "$CROSSILO" compare proto-1 proto-2 avg-1 avg-2 --against fedavg
expect "proto, " "$CROSSILO" compare proto-1 proto-2 --silos --measure ndcg@10
expect '"against"' "$CROSSILO" compare proto-1 proto-2 avg-1 avg-2 --against fedavg --json

# Without labels: the unsupervised systems, classes that silos agree on, a table by code length.
unsupervised() { "$CROSSILO" simulate small.toml --set evaluate.sets=both --set training.rounds=3 "$@"; }
gan=(--set model.input=unit --set method.name=fedwgan --set method.gan_width=4 --set method.mu=1.0)
for base in dgcpn djsrh jdsh; do
  expect "results in" unsupervised --set model.base=$base --set method.name=feduch --out uch-$base
done
expect "results in" unsupervised --set model.base=ucch "${gan[@]}" --out gan
for key in memorisation_ratio generators_left_out '"map@50_dealt"'; do
  grep -q "$key" gan/summary.json || fail "no $key in a FedWGAN summary"
done
expect "results in" unsupervised --set model.base=ucch "${gan[@]}" --set method.inner=plfedcmh \
  --set data.pseudo=5 --out gan-plfedcmh
refuse "no model at the hub" unsupervised --set model.base=ucch "${gan[@]}" --set method.inner=fedproto \
  --set data.pseudo=5 --out gan-fedproto
for bits in 16 32; do
  expect "results in" unsupervised --set model.base=ucch --set method.name=ptfuch \
    --set model.bits=$bits --out pt-$bits
done
expect "i→t 16" "$CROSSILO" compare pt-16 pt-32 --bits --measure map@50_dealt
