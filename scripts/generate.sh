#!/usr/bin/env bash
# Generates code from the contract: TypeScript by protoc-gen-es, which git ignores, and Python by a pinned protoc, which
# git holds, so that pip installs the client from a checkout with any Python.
#
#   scripts/generate.sh           write it
#   scripts/generate.sh --check   fail if the Python code differs from what is checked in, and write nothing
set -euo pipefail
cd "$(dirname "$0")/.."
[[ ${1-} == --check ]] || buf generate
exec sh scripts/gen-python.sh "$@"
