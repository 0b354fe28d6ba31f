#!/usr/bin/env bash
# Fetches ObjectBox's C library, which comes in its Python wheel, to where the benchmarks look for it. They run without it, too: what
# goes wrong here is said, and nothing more.
set -uo pipefail
cd "$(dirname "$0")/.."

folder=Benchmarks/.build/objectbox
[ -f "$folder/libobjectbox.so" ] && exit 0

# One wheel holds the libraries of all machines. Wheels after it hold none.
wheel=objectbox-4.0.0-py3-none-any.whl
pinned="objectbox==4.0.0 --hash=sha256:eb1281660ede3923501c47a68c6ad97e551c44061828530731525c7b271cfb2f"

fetch() {
  mkdir -p "$folder" &&
    python3 -m pip download --quiet --disable-pip-version-check --retries 1 --timeout 10 --no-deps --only-binary :all: \
      --require-hashes --requirement <(echo "$pinned") --dest "$folder" &&
    python3 -m zipfile --extract "$folder/$wheel" "$folder/wheel" &&
    mv "$folder/wheel/objectbox/lib/$(uname -m)/libobjectbox.so" "$folder/"
}

echo "Fetching ObjectBox with pip"
fetch || echo "ObjectBox can't be had; the benchmarks run without it"
rm -rf "${folder:?}/wheel" "$folder/$wheel"
exit 0
