#!/usr/bin/env bash
# Runs the benchmarks, which are built, on small data. Arguments are what `swift build` was given beside the package.
set -euo pipefail
cd "$(dirname "$0")/.."

binaries=$("${SWIFT:-swift}" build --package-path Benchmarks "$@" --show-bin-path)
run() {
  echo "== $*"
  "$binaries/$1" "${@:2}" --folder .build
}

for part in run day; do run key-value-benchmarks $part --smoke; done
for part in run queries space layouts stages observing; do run object-benchmarks $part --smoke; done
run import-benchmarks --lines 2000 --batch 500
run object-benchmarks flights --data Examples/Flights/Library/Sample --rounds 1
run object-benchmarks words --data "$WORDNET" --limit 500 --rounds 1
