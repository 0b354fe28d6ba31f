#!/usr/bin/env bash
# Runs every test that is built. When some fail, the end of the output says which, with the seeds that repeat
# them: a log of which only the end is kept still tells what happened.
set -uo pipefail
cd "$(dirname "$0")/.."

# By default all tests begin at once and take turns. With a few at a time the whole takes half as long.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH="${SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH:-$((2 * $(nproc)))}"

log=.build/tests.log
failed=.build/failed-tests.txt
rm -f "$failed"
"${SWIFT:-swift}" test --skip-build "$@" 2>&1 | tee "$log"
status=${PIPESTATUS[0]}
[ "$status" -eq 0 ] && exit 0

{
  printf '\n== What failed\n'
  grep -aE -A 3 'recorded an issue|Caught error|Fatal error|unexpected signal' "$log" | cut -c1-600 | tail -n 80
  grep -aoE '✘ Test [[:alnum:]]+' "$log" | sort -u | while read -r _ _ name; do
    grep -aE "^$name(\(.*\))?: CAMBIUM_SEED=" "$log"
  done
} | tee "$failed"
exit "$status"
