# Kill the process at a random moment twenty times, resume each time: the final
# bundle is the same file as without a kill.
source "$SOURCE/tests/common.sh"
make_small
run=("$CROSSILO" simulate small.toml --set training.rounds=200 --resume --out)
start=$(date +%s%N)
"${run[@]}" whole >log 2>&1 || fail "$(cat log)"
took=$((($(date +%s%N) - start) / 1000000))

# Moments are drawn up to a quarter of a whole run, so that twenty of them hit
# the start, the rounds, the checkpoints and the end of the run.
RANDOM=7
kills=0
last=0
while [ $kills -lt 20 ]; do
  # A run that ended before it was killed is begun again.
  [ ! -e killed/summary.json ] || rm -rf killed
  "${run[@]}" killed >log 2>&1 &
  victim=$!
  moment=$((RANDOM * took / 4 / 32767))
  sleep "$((moment / 1000)).$(printf %03d $((moment % 1000)))"
  if kill -9 $victim 2>/dev/null; then
    wait $victim 2>/dev/null || true
    kills=$((kills + 1))
    last=$(wc -l 2>/dev/null <killed/rounds.jsonl || echo 0)
  else
    wait $victim || fail "resume after $kills kills: $(cat log)"
  fi
done
"${run[@]}" killed >log 2>&1 || fail "the last resume: $(cat log)"
cmp whole/bundle.safetensors killed/bundle.safetensors || fail "another bundle after kills"
[ "$(wc -l <killed/rounds.jsonl)" -eq 200 ] || fail "rounds.jsonl has another number of lines"
[ -z "$(find killed -name '*.part-*')" ] || fail "a half-written file stayed behind"
echo "$kills kills, the last after round $last of 200: the same bundle"
