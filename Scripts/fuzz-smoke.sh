#!/usr/bin/env bash
# Runs every libFuzzer target of Fuzz/ for a few seconds each: fuzz-smoke.sh [SECONDS [release|debug]]
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-20}
configuration=${2:-release}
scratch=Fuzz/.build-fuzzer
# Without it the package holds the crash rig alone.
export CAMBIUM_FUZZERS=1
# A crash must end the process at once instead of waiting for the backtracer.
export SWIFT_BACKTRACE=enable=no

build=(swift build --package-path Fuzz --scratch-path "$scratch" -c "$configuration" --sanitize fuzzer)
"${build[@]}"
binaries=$("${build[@]}" --show-bin-path)
status=0
for target in "$binaries"/fuzz-*; do
  [[ -f $target && -x $target ]] || continue
  name=$(basename "$target")
  corpus=$scratch/corpus/$name
  mkdir -p "$corpus"
  # The hostile files that libraries have fallen for (HostileFile), unchanged: for writing and for reading only.
  if [[ $name == fuzz-open ]]; then
    for choice in {0..15}; do
      printf "\\x41\\x$(printf %02x "$choice")" >"$corpus/hostile-$choice"
      printf "\\xc1\\x$(printf %02x "$choice")" >"$corpus/hostile-read-only-$choice"
    done
  fi
  echo "== $name for $seconds s"
  log=$scratch/$name.log
  if "$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -malloc_limit_mb=256 -max_len=4096 -print_final_stats=1 \
    -artifact_prefix="$scratch/$name-" "$corpus" >"$log" 2>&1; then
    grep -E '^stat::number_of_executed_units|^stat::peak_rss_mb' "$log"
  else
    status=1
    tail -n 30 "$log"
    echo "== $name failed; the input is in $scratch/$name-*"
  fi
done
exit $status
