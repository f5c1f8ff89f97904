/**
 * Reads a pool of rows like those of the public 3-to-4 set: all of them classified, their solutions counted, and ranked.
 *
 *   node bench/pools/run.ts [--rows 100000] [--format jsonl|parquet] [--threads 2]
 *
 * Says rows per second of the whole, bytes a row, how long the event loop was held at most, the resident memory's peak,
 * and how long the same takes from the cache.
 */
import { createWriteStream, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { once } from "node:events";
import { parseArgs } from "node:util";
import { fileWriter, ParquetWriter } from "hyparquet-writer";
import { generator } from "../../envs/countdown/generate.ts";
import { createRegistry, environments } from "../../envs/registry.ts";
import { rngFor } from "../../envs/lib/rng.ts";
import { loadPools } from "../../server/rows/pools.ts";

const { values } = parseArgs({
  options: {
    rows: { type: "string", default: "100000" },
    format: { type: "string", default: "jsonl" },
    threads: { type: "string", default: "2" },
  },
});
const rows = Number(values.rows);
const folder = mkdtempSync(join(tmpdir(), "gradus-pools-"));
const path = join(folder, `pool.${values.format}`);

/** Three or four numbers from 1 to 99 and a target from 10 to 100 that can be reached, as in the public set. */
function* made(): Iterable<{ readonly nums: number[]; readonly target: number }> {
  const rng = rngFor("pool bench");
  const parameters = Object.fromEntries(generator.parameters.map(({ name, defaultValue }) => [name, defaultValue]));
  for (let i = 0; i < rows;) {
    const instance = generator.generate({ ...parameters, target_min: 10, target_max: 100 }, rng);
    if (instance === undefined) continue;
    i++;
    yield { nums: [...instance.numbers], target: instance.target };
  }
}

async function writeJsonl(): Promise<void> {
  const file = createWriteStream(path);
  for (const row of made()) if (!file.write(`${JSON.stringify(row)}\n`)) await once(file, "drain");
  file.end();
  await once(file, "finish");
}

function writeParquet(): void {
  const writer = new ParquetWriter({
    writer: fileWriter(path),
    schema: [
      { name: "root", num_children: 2 },
      { name: "target", type: "INT64", repetition_type: "REQUIRED" },
      { name: "nums", repetition_type: "REQUIRED", num_children: 1, converted_type: "LIST" },
      { name: "list", repetition_type: "REPEATED", num_children: 1 },
      { name: "element", type: "INT64", repetition_type: "REQUIRED" },
    ],
  });
  const all = [...made()];
  void writer.write({
    columnData: [
      { name: "target", data: all.map(({ target }) => BigInt(target)) },
      { name: "nums", data: all.map(({ nums }) => nums.map(BigInt)) },
    ],
  });
  void writer.finish();
}

async function timed(label: string): Promise<void> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const begun = performance.now();
  let peak = 0;
  const watching = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 20);
  const result = await loadPools(createRegistry(environments), [{ name: "bench", path }], {
    threads: Number(values.threads),
    environmentFiles: [],
    folder: join(folder, "cache"),
  });
  clearInterval(watching);
  delay.disable();
  if (result.kind === "invalid") throw new Error(result.message);
  const seconds = (performance.now() - begun) / 1000;
  const pool = result.pools.get("bench");
  if (pool === undefined) throw new Error("no pool");
  const columns: readonly { readonly byteLength: number }[] = Object.values<Uint8Array | Uint32Array | Float64Array>({
    ...pool.columns,
  });
  const bytes = columns.reduce((sum, { byteLength }) => sum + byteLength, 0);
  console.log(
    `${label}: ${seconds.toFixed(1)} s, ${Math.round(rows / seconds)} rows/s; ${pool.size} rows held, ${pool.rejected} rejected; ` +
      `${(bytes / pool.size).toFixed(1)} bytes a row; event loop held at most ${(delay.max / 1e6).toFixed(1)} ms; ` +
      `resident memory at most ${(peak / 2 ** 20).toFixed(0)} MiB`,
  );
}

try {
  if (values.format === "parquet") writeParquet();
  else await writeJsonl();
  console.log(
    `${rows} rows as ${values.format}, ${(statSync(path).size / 1e6).toFixed(1)} MB, ${values.threads} threads`,
  );
  await timed("read");
  await timed("from the cache");
} finally {
  rmSync(folder, { recursive: true });
}
