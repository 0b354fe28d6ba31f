#!/usr/bin/env bash
# Builds Examples/DepartureServer, starts it, and checks that its pages follow what is posted and that it ends when it is asked to: server-smoke.sh [FLAGS OF swift build]...
set -euo pipefail
cd "$(dirname "$0")/.."

package=(--package-path Examples/DepartureServer "$@")
port=${SERVER_SMOKE_PORT:-8417}
url=http://127.0.0.1:$port
folder=$(mktemp -d)

"${SWIFT:-swift}" build "${package[@]}" --product DepartureServer
"$("${SWIFT:-swift}" build "${package[@]}" --show-bin-path)/DepartureServer" "$folder/airport.cambium" "$port" > "$folder/log" 2>&1 &
server=$!
trap '{ kill -KILL $(jobs -p) || true; wait; } 2> "$folder/kill"; rm -rf "$folder"' EXIT

fail() {
  echo "server-smoke: $1" >&2
  for file in "$folder"/{log,departures,board}; do [[ ! -f $file ]] || { echo "== $file" >&2; cat "$file" >&2; }; done
  exit 1
}

# Waits until a page has sent an event with these two texts, for at most 20 seconds.
await() {
  for _ in {1..200}; do
    if grep '^data: ' "$folder/$1" | grep -F "$2" | grep -qF "$3"; then return; fi
    sleep 0.1
  done
  fail "/$1 never sent an event with $2 and $3"
}

post() { curl --silent --fail --max-time 10 --output "$folder/answer" --request POST "$url/$1" || fail "POST /$1 failed"; }

for _ in {1..200}; do
  kill -0 "$server" 2> "$folder/kill" || fail "the server ended"
  curl --silent --max-time 10 --output "$folder/answer" "$url/" && break
  sleep 0.1
done
for page in departures board; do
  curl --silent --no-buffer --max-time 60 "$url/$page" > "$folder/$page" &
done
await departures '"op":"replace"' '"value":[]'
post 'departures?minute=600&city=Basel'
await departures '"op":"add"' Basel
await board '"op":"replace"' Basel
post 'departures/delay?minute=600&by=10'
await departures '"op":"replace"' '"delay":10'
await board '"op":"replace"' '"delay":10'

# It ends although pages are open.
kill "$server"
for _ in {1..200}; do
  kill -0 "$server" 2> "$folder/kill" || { echo "server-smoke: both pages followed what was posted"; exit; }
  sleep 0.1
done
fail "the server is still there 20 seconds after SIGTERM"
