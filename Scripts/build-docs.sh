#!/usr/bin/env bash
# Builds the documentation of each library module into .build/docs/MODULE.
set -euo pipefail
cd "$(dirname "$0")/.."

graphs=.build/symbol-graphs
rm -rf "$graphs" .build/docs
mkdir -p "$graphs" .build/docs
swift build --target Cambium
binaries=$(swift build --show-bin-path)
modules=$binaries/Modules
for module in PageStore Predicates GraphContext Cambium; do
  mkdir -p "$graphs/$module"
  swift symbolgraph-extract -module-name "$module" -I "$modules" \
    -Xcc -fmodule-map-file="$binaries/CLinux.build/module.modulemap" \
    -target "$(uname -m)-unknown-linux-gnu" -minimum-access-level public -skip-synthesized-members -output-dir "$graphs/$module"
  docc convert --additional-symbol-graph-dir "$graphs/$module" --fallback-display-name "$module" \
    --fallback-bundle-identifier "cambium.$module" --output-path ".build/docs/$module"
done
echo "Documentation: .build/docs"
