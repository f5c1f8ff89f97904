#!/bin/sh
# Makes the Python stubs, clients/python/src/gradus/v1, from proto/gradus/v1 (not from gradus/internal).
#
#   scripts/gen-python.sh           write the stubs
#   scripts/gen-python.sh --check   fail if the stubs in the repository differ from them
#
# grpcio-tools 1.62 is old on purpose. Later versions write a guard into the stubs that refuses a protobuf or grpcio
# older than the generator, but these stubs must load beside the versions that a trainer has installed. grpcio-tools
# 1.62 has wheels for Python up to 3.12; the stubs run on later versions too. It imports pkg_resources from setuptools.
set -eu
cd "$(dirname "$0")/.."

PINS="grpcio-tools==1.62.3 grpcio==1.62.3 protobuf==4.25.8 mypy-protobuf==3.6.0 types-protobuf==5.29.1.20250403 setuptools==80.9.0"
TOOLS=.cache/gen-python
PACKAGE=clients/python/src/gradus/v1

find_python() {
  for candidate in python3.12 python3.11 python3.10 python3; do
    if "$candidate" -c 'import sys, venv; sys.exit(not (3, 10) <= sys.version_info < (3, 13))' 2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
  echo "The pinned generator needs Python 3.10, 3.11 or 3.12 with venv: install one of them beside your own" >&2
  return 1
}

if [ "$(cat "$TOOLS/pins" 2>/dev/null)" != "$PINS" ]; then
  rm -rf "$TOOLS"
  python=$(find_python)
  "$python" -m venv "$TOOLS"
  # PINS is unquoted, because it is a list of words.
  # shellcheck disable=SC2086
  "$TOOLS/bin/pip" install --quiet --no-compile $PINS
  echo "$PINS" >"$TOOLS/pins"
fi

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
export PATH="$PWD/$TOOLS/bin:$PATH"
protoc() {
  python -m grpc_tools.protoc "$@"
}
# Files of the contract, relative to proto/. The names have no spaces, so that the variables can be unquoted.
files=$(cd proto && ls gradus/v1/*.proto)
services=$(cd proto && grep -l '^service ' gradus/v1/*.proto)
# shellcheck disable=SC2086
protoc --proto_path=proto --python_out="$out" --pyi_out="$out" --include_imports --descriptor_set_out="$out/set" $files
# shellcheck disable=SC2086
protoc --proto_path=proto --grpc_python_out="$out" $services
# Cut off the last third of each module: a class of gRPC's experimental API. No type stub declares it, and nothing here uses it.
for module in "$out"/gradus/v1/*_pb2_grpc.py; do
  sed '/^ # This class is part of an EXPERIMENTAL API\.$/,$d' "$module" >"$out/module"
  mv "$out/module" "$module"
done
# Cut __slots__ out of the types of messages: each name is declared below it again.
for module in "$out"/gradus/v1/*_pb2.pyi; do
  sed '/^ *__slots__ = /d' "$module" >"$out/module"
  mv "$out/module" "$module"
done
# Generate the type stubs from a descriptor set, which has no comments, because the plugin would repeat each comment up
# to three times. The comments are in proto/ alone.
# shellcheck disable=SC2086
protoc --descriptor_set_in="$out/set" --mypy_grpc_out="quiet:$out" $services
echo '"""Generated from proto/gradus/v1 by scripts/gen-python.sh. Do not edit."""' >"$out/gradus/v1/__init__.py"

if [ "${1-}" = --check ]; then
  diff -r --exclude=__pycache__ "$PACKAGE" "$out/gradus/v1" || {
    echo "The Python stubs differ from proto/gradus/v1: run scripts/gen-python.sh" >&2
    exit 1
  }
else
  rm -rf "$PACKAGE"
  cp -R "$out/gradus/v1" "$PACKAGE"
fi
