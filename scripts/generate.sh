#!/usr/bin/env bash
# Generates all code from the contract (proto/): TypeScript by protoc-gen-es with shorter comments,
# Python by a pinned protoc.
#
#   scripts/generate.sh           write the code
#   scripts/generate.sh --check   fail if the code in the repository differs from it, and write nothing
set -euo pipefail
cd "$(dirname "$0")/.."
if [[ ${1-} != --check ]]; then
  buf generate
  node scripts/trim-types.ts proto/gen
  exec sh scripts/gen-python.sh
fi
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
buf generate --output "$made"
node scripts/trim-types.ts "$made/proto/gen"
diff -r proto/gen "$made/proto/gen" || differs=yes
sh scripts/gen-python.sh --check || differs=yes
if [[ -n ${differs-} ]]; then
  echo "generated code is not what the contract generates: run 'make generate' and commit the result"
  exit 1
fi
