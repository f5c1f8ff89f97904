#!/usr/bin/env bash
# Runs every check that needs no running server, and fails if any of them failed.
set -uo pipefail
cd "$(dirname "$0")/.."
failed=$(mktemp)
trap 'rm -f "$failed"' EXIT
run() {
  local name=$1 output
  shift
  if output=$("$@" 2>&1); then
    echo "ok    $name"
  else
    printf 'FAIL  %s\n%s\n' "$name" "$(sed 's/^/      /' <<<"$output")"
    echo "$name" >>"$failed"
  fi
}
# Runs a check in the background, two at a time, one for each of two cores.
check() {
  while (($(jobs -rp | wc -l) >= 2)); do wait -n; done
  run "$@" &
}

# Compares the gRPC contract with the one on main. On main itself, compares it with the contract before its last change.
breaking() {
  local base last
  base=$(git rev-parse --verify --quiet origin/main || git rev-parse --verify --quiet main || true)
  if [[ -z $base || $base == $(git rev-parse HEAD) ]]; then
    last=$(git log -1 --format=%H -- proto/gradus/v1)
    base=$(git rev-parse --verify --quiet "$last^") || return 0
  fi
  git cat-file -e "$base:buf.yaml" 2>/dev/null || return 0
  buf breaking --against ".git#ref=$base"
}

# Takes promtool from Debian's package, because no registry has it. test/deploy/haproxy.test.ts checks HAProxy's file.
prometheus() {
  local promtool
  promtool=$(node --eval 'import("./test/support/debian.ts").then(({ programOf }) => console.log(programOf(["promtool"], "prometheus")))') || return 1
  "$promtool" check config --lint-fatal deploy/prometheus.yml && "$promtool" test rules test/deploy/alerts.test.yml
}

# Start the checks that take longest first.
check "types and lint (tsc, eslint)" node scripts/lint.ts
check "format (prettier)" prettier --check --log-level warn .
check "import rules (dependency-cruiser)" depcruise envs pictures server cli clients/ts/src page/src --config .dependency-cruiser.cjs
check "generated code" bash scripts/generate.sh --check
check "contract format (buf)" buf format --diff --exit-code
check "contract lint (buf)" buf lint
check "contract breaking (buf)" breaking
check "copy and paste (jscpd)" jscpd --silent envs pictures server cli clients page scripts
check "documents name what is there" node scripts/documents.ts
check "table of mounts" node scripts/mounts.ts --check
check "length of sentences (textlint)" textlint README.md CONTRIBUTING.md "docs/**/*.md" "{clients,envs}/**/README.md" examples/README.md
check "python format (ruff)" .venv/bin/python -m ruff format --check clients/python
check "python lint (ruff)" .venv/bin/python -m ruff check clients/python
# The sandbox's Python code follows the rules of the Python client.
sandbox=server/outside/sandbox/python
rules=clients/python/pyproject.toml
check "python format of the sandbox (ruff)" .venv/bin/python -m ruff format --check --config $rules $sandbox
check "python lint of the sandbox (ruff)" .venv/bin/python -m ruff check --config $rules $sandbox
# Benchmarks follow these rules too, except for docstrings, names for numbers, and imports before code, which scripts
# need not have.
check "python format of the benchmarks (ruff)" .venv/bin/python -m ruff format --check --config $rules bench
check "python lint of the benchmarks (ruff)" .venv/bin/python -m ruff check --config $rules --ignore D103,PLR2004,E402,RUF012 bench
check "python types of the sandbox (mypy)" env MYPYPATH=$sandbox .venv/bin/python -m mypy --cache-dir .mypy_cache/sandbox --config-file $rules $sandbox/zygote.py $sandbox/driver.py $sandbox/reader.py
check "python types (mypy)" .venv/bin/python -m mypy --config-file clients/python/pyproject.toml clients/python/src clients/python/examples clients/python/tests
check "compose file (dclint)" dclint --disable-rule require-quotes-in-ports --max-warnings 0 deploy/compose.yaml
check "Kubernetes manifests (kubernetes-validate)" .venv/bin/kubernetes-validate --strict deploy/kubernetes/*.yaml deploy/kubernetes/*/*.yaml
# DL3008 would pin versions of Debian packages. Debian removes old versions, so a pinned version would be missing after
# a month.
check "Dockerfile (hadolint)" .venv/bin/hadolint --ignore DL3008 --failure-threshold warning Dockerfile
check "Prometheus's files (promtool)" prometheus

wait
if [[ -s $failed ]]; then
  echo "$(wc -l <"$failed") checks failed: $(paste -sd, "$failed")"
  exit 1
fi
echo "all checks passed"
