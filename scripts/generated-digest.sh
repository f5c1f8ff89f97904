#!/usr/bin/env bash
# One line for each generated file, so that a diff names the file.
set -euo pipefail
cd "$(dirname "$0")/.."
find server/gen clients/ts/src/gen clients/python/src/gradus/v1 -type f ! -path '*/__pycache__/*' -print0 | sort -z | xargs -0 sha256sum
