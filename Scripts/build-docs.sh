#!/usr/bin/env bash
# Builds the documentation of the library modules into .build/docs, one site with links between them. A warning fails the build.
# Arguments are flags of `swift build`.
set -euo pipefail
cd "$(dirname "$0")/.."

work=.build/documentation
output=.build/docs
rm -rf "$work" "$output"
mkdir -p "$work"
for module in CambiumCSV CambiumOperations CambiumFlow; do swift build "$@" --target "$module"; done
binaries=$(swift build "$@" --show-bin-path)

# Swift 6.3's extractor says this of the `isolated deinit` of a public actor, and goes on: no symbol is left out.
without_false_alarm() { grep -vx '<unknown>:0: error: circular reference' >&2 || true; }

# A module's documentation links to those before it: docc_catalogue.py has the same order.
archives=() dependencies=()
for module in PageStore Predicates GraphContext Cambium CambiumImport CambiumCSV CambiumOperations CambiumFlow; do
  graphs=$work/symbol-graphs/$module archive=$PWD/$work/$module.doccarchive
  mkdir -p "$graphs"
  swift symbolgraph-extract -module-name "$module" -I "$binaries/Modules" \
    -Xcc -fmodule-map-file="$binaries/CLinux.build/module.modulemap" \
    -target "$(uname -m)-unknown-linux-gnu" -minimum-access-level public -skip-synthesized-members \
    -emit-extension-block-symbols -output-dir "$graphs" 2> >(without_false_alarm)
  python3 -B Scripts/docc_catalogue.py "$module" "$graphs" "$work/$module.docc"
  docc convert "$work/$module.docc" --additional-symbol-graph-dir "$graphs" --warnings-as-errors \
    --fallback-display-name "$module" --fallback-bundle-identifier "cambium.$module" \
    --enable-experimental-external-link-support ${dependencies[@]+"${dependencies[@]}"} --output-path "$archive"
  archives+=("$archive") dependencies+=(--dependency "$archive")
done
docc merge "${archives[@]}" --synthesized-landing-page-name Cambium --output-path "$output"
echo "Documentation: $output (python3 -m http.server -d $output, then /documentation)"
