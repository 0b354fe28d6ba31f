#!/usr/bin/env bash
# Runs the tests of what several threads do at once under ThreadSanitizer and AddressSanitizer: sanitize.sh [thread|address]...
set -euo pipefail
cd "$(dirname "$0")/.."

suites='RacingContexts|GroupCommitTests|ConcurrentCheckpoint|ReaderTable|HandleTests|ClosingTests|TaskTests|EvictedFrame|SaveQueue'
suites+='|EarlyPages|ReservationTests|ViewContextTests|SnapshotExpiry|MergingContexts|EightWriters|UnsyncedMemory|CacheTests|SpillFile|GoneFile'
suites+='|ObservingTests\.|(GraphContextTests|ModelTests)\.(Observ|RandomObservation)|CambiumImportTests\.|CambiumOperationsTests\.|CambiumFlowTests\.'
# These run long, and on one thread.
alone='RandomLiveListTests|RandomTargetTests|LargeListTests'
kinds=("$@")
((${#kinds[@]})) || kinds=(thread address)

for kind in "${kinds[@]}"; do
  # ThreadSanitizer knows the mutexes of POSIX, not those of Swift's library.
  if [[ $kind == thread ]]; then export CAMBIUM_THREAD_SANITIZER=1; else unset CAMBIUM_THREAD_SANITIZER; fi
  log=.build-$kind/tests.log
  mkdir -p ".build-$kind"
  echo "== $kind"
  # A store is kept open by what leaks with it: the tests of leaks are others.
  ASAN_OPTIONS=detect_leaks=0 swift test --sanitize="$kind" --scratch-path ".build-$kind" --filter "$suites" --skip "$alone" 2>&1 |
    tee "$log" | grep -E '^✘|SUMMARY:|Test run with|error:' || true
  if grep -qE 'SUMMARY: (Thread|Address)Sanitizer|^✘|error:' "$log" ||
    ! grep -q 'Test run with .* passed' "$log"; then
    echo "== $kind: see $log"
    exit 1
  fi
done
