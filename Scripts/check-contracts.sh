#!/usr/bin/env bash
# Breaks each contract of the library in a release build, and checks that the program ends with the contract's sentence.
set -uo pipefail
cd "$(dirname "$0")/.."

build=("${SWIFT:-swift}" build -c release "$@" --package-path Fuzz --product contract-failures)
"${build[@]}" || exit 1
program="$("${build[@]}" --show-bin-path)/contract-failures"

# A program that crashes, or lists nothing, must not pass as one without contracts.
contracts=$("$program") || { echo "the list of contracts ended with status $?" >&2; exit 1; }
[ -n "$contracts" ] || { echo "the list of contracts is empty" >&2; exit 1; }

failed=0
count=0
while IFS=$'\t' read -r name sentence; do
  count=$((count + 1))
  # The runtime would look for symbols for seconds to print where it was.
  output=$(SWIFT_BACKTRACE=enable=no "$program" "$name" 2>&1)
  status=$?
  if [ "$status" -ne 0 ] && grep -qF -- "$sentence" <<<"$output"; then
    echo "$name: $sentence"
  else
    echo "$name: ended with status $status, and said: $output"
    failed=1
  fi
done <<<"$contracts"
echo "$count contracts"
exit "$failed"
