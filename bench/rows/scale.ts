/** A run over a million rows: how long a NextBatch of 256 takes, and how long it takes to read the run back. See README.md. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { ratedEvent } from "../../server/curriculum/core/row-arms.ts";
import { createRuns } from "../../server/curriculum/runs/runs.ts";
import { systemClock } from "../../server/curriculum/runs/system.ts";
import type { Ports } from "../../server/curriculum/runs/ports.ts";
import type { InstanceKey, RunConfig } from "../../server/curriculum/core/types.ts";
import { parseJson, readText } from "../../server/curriculum/core/json.ts";
import { openStores } from "../../server/stores/sqlite.ts";
import { rngFor } from "../../envs/lib/rng.ts";

const ROWS = 1_000_000;
const PROMPTS = 256;
const BATCHES = Number(process.argv[2] ?? 100);
const GENERATIONS = 8;
