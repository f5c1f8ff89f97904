#!/usr/bin/env bash
# Makes all generated code from the contract: TypeScript by protoc-gen-es, Python by a pinned protoc.
set -euo pipefail
cd "$(dirname "$0")/.."
buf generate
bash scripts/gen-python.sh
