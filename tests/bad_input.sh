# Bad input gets one sentence that says what, where and what to do, exit code
# 2, and nothing half-written.
source "$SOURCE/tests/common.sh"
make_small
simulate() { "$CROSSILO" simulate "$@" --out run; }

refuse "did you mean 'partition.beta'" simulate small.toml --set partition.bta=1
refuse "did you mean 'fedavg'" simulate small.toml --set method.name=fedavk
refuse "did you mean 'dcmh'" simulate small.toml --set model.base=dcmj
refuse "unknown key 'method.mu'" simulate small.toml --set method.mu=1
refuse "beta" simulate small.toml --set partition.beta=0
refuse "beta" simulate small.toml --set partition.beta=-1
refuse "silos" simulate small.toml --set partition.kind=iid --set partition.silos=100000
refuse "column" simulate small.toml --set partition.kind=column --set partition.column=vendor
refuse "training.rounds must be a whole number" simulate small.toml --set training.rounds=x
refuse "nowhere" simulate small.toml --set data.path=nowhere
refuse "missing.toml" simulate missing.toml
command -v nvidia-smi >/dev/null || refuse "no GPU" simulate small.toml --device cuda
refuse "not finite" simulate small.toml --set training.learning_rate=1e30
[ ! -e run/bundle.safetensors ] || fail "a run that failed left a bundle"
rm -rf run

# A supervised model without labels.
"$CROSSILO" data import --image small/image.npy --text small/text.npy --out unlabelled >/dev/null
refuse "labels" simulate small.toml --set data.path=unlabelled --set partition.kind=iid
rm -rf run

# Damaged arrays.
damage() {
  rm -rf damaged
  cp -r small damaged
}
damage; head -c 1000 small/image.npy >damaged/image.npy
refuse "image.npy" "$CROSSILO" data describe damaged
damage; printf 'nonsense' >damaged/text.npy
refuse "text.npy" "$CROSSILO" data describe damaged
damage; cp small/splits/query.npy damaged/labels.npy
refuse "labels" "$CROSSILO" data describe damaged
printf 'MATLAB 5.0 MAT-file, but no more than this line' >broken.mat
refuse "broken.mat" "$CROSSILO" data import --image broken.mat --text small/text.npy --out imported
refuse "rows" "$CROSSILO" data import --image small/image.npy --text small/splits/query.npy --out imported
[ ! -e imported ] || fail "a failed import left a folder"

# NaN features: the last four bytes of the file become a NaN.
damage
size=$(stat -c %s damaged/image.npy)
printf '\x00\x00\xc0\x7f' | dd of=damaged/image.npy bs=1 seek=$((size - 4)) conv=notrunc status=none
refuse "NaN" "$CROSSILO" data describe damaged

# A bundle where none is, and one of another embedder.
refuse "safetensors" "$CROSSILO" encode --bundle small/dataset.toml --data small --out codes
expect "results in" simulate small.toml
"$CROSSILO" data generate --samples 400 --classes 5 --image-dims 7 --out other >/dev/null
refuse "dimensions" "$CROSSILO" encode --bundle run/bundle.safetensors --data other --out codes
[ ! -e codes ] || fail "a failed encode left a folder"

# Another run in the same folder, and a checkpoint of other settings.
refuse "--resume" simulate small.toml
refuse "other settings" simulate small.toml --resume --set seed=9

# A full disk while a checkpoint is written: the folder is a small one of its own.
if [ "$(id -u)" -eq 0 ] && mkdir tiny && mount -t tmpfs -o size=64k none tiny 2>/dev/null; then
  trap 'umount "$WORK/tiny"' EXIT
  refuse "No space left on device" "$CROSSILO" simulate small.toml --out tiny/run
  [ -z "$(find tiny -name '*.part-*')" ] || fail "a half-written file stayed behind"
else
  echo "skipped: no small file system to fill here"
fi
