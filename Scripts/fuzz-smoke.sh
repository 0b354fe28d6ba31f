#!/usr/bin/env bash
# Runs every libFuzzer target of Fuzz/ for a few seconds each: fuzz-smoke.sh [SECONDS]
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-20}
scratch=Fuzz/.build-fuzzer
# A crash must end the process at once instead of waiting for the backtracer.
export SWIFT_BACKTRACE=enable=no

swift build --package-path Fuzz --scratch-path "$scratch" -c release --sanitize fuzzer
binaries=$(swift build --package-path Fuzz --scratch-path "$scratch" -c release --sanitize fuzzer --show-bin-path)
for target in "$binaries"/fuzz-*; do
  [[ -f $target && -x $target ]] || continue
  name=$(basename "$target")
  corpus=$scratch/corpus/$name
  mkdir -p "$corpus"
  echo "== $name for $seconds s"
  "$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 "$corpus" 2>&1 | tail -n 8
done
