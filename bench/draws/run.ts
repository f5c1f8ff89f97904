/**
 * What drawing update batches costs: the server's CPU for each NextBatch of a run, all threads of it, against the CPU
 * that making the same number of tasks takes in one process without a server, and against a server that does nothing but
 * make, sign and give them (minimal-server.ts).
 *
 *   node bench/draws/run.ts [--environment countdown] [--level T2] [--sizes 256,16] [--repetitions 9] [--profile]
 */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createClient } from "../../clients/ts/src/index.ts";
import { deriveSeed } from "../../envs/lib/rng.ts";
import { spreadOf } from "../transport/measure.ts";
import { startMinimal, startOurs } from "../transport/processes.ts";
import { summarize } from "../transport/profile.ts";
import { makerOf } from "./make.ts";

const { values: options } = parseArgs({
  options: {
    environment: { type: "string", default: "countdown" },
    level: { type: "string", default: "T2" },
    sizes: { type: "string", default: "256,16" },
    repetitions: { type: "string", default: "9" },
    profile: { type: "boolean", default: false },
  },
});
const { environment: id, level } = options;
const sizes = options.sizes.split(",").map(Number);
const repetitions = Number(options.repetitions);
/** After so many V8's own threads have taken their part of the CPU: from 4 to 1.5 ms of each batch of 256. */
const WARM_UP_ROUNDS = 20;
/** Batches in one measurement, so that it takes long enough to be measured. */
const batchesFor = (size: number): number => Math.max(4, Math.round(1024 / size));

const make = makerOf(id, level);

/** CPU of making tasks here, milliseconds. */
function madeHere(tasks: number, round: number): number {
  const before = process.cpuUsage();
  for (let i = 0; i < tasks; i++) make(deriveSeed("bench", round, i));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const folder = mkdtempSync(join(tmpdir(), "gradus-draws-"));
const profile = options.profile ? ["--cpu-prof", "--cpu-prof-dir", join(folder, "profiles")] : [];
const server = await startOurs(folder, profile);
const client = createClient(`127.0.0.1:${server.port}`);
const minimal = await startMinimal(folder, [], ["bench/draws/minimal-server.ts", id, level]);
const minimalClient = createClient(`127.0.0.1:${minimal.port}`);

/** The server's CPU for drawing `batches` update batches, milliseconds. */
async function drawn(name: string, size: number, batches: number, seed: number): Promise<number> {
  const run = client.run(name);
  const arms = [{ id: "only", environment: id, level }];
  await run.create({
    arms,
    policy: { kind: "mixture" },
    numGenerations: 16,
    promptsPerUpdate: size,
    seed: BigInt(seed),
  });
  const before = server.cpuSeconds();
  for (let i = 0; i < batches; i++) await run.nextBatch({ cursor: BigInt(i * size), count: size });
  const cpuMs = (server.cpuSeconds() - before) * 1000;
  await run.delete();
  return cpuMs;
}

/** The minimal server's, for as many tasks that nobody has drawn before. */
async function given(size: number, batches: number, round: number): Promise<number> {
  const run = minimalClient.run("minimal");
  const before = minimal.cpuSeconds();
  for (let i = 0; i < batches; i++) await run.nextBatch({ cursor: BigInt((round * batches + i) * size), count: size });
  return (minimal.cpuSeconds() - before) * 1000;
}

try {
  for (const size of sizes) {
    const batches = batchesFor(size);
    // New code is slow, and V8's compiler counts as the server's CPU until it has seen everything often enough.
    for (let i = 0; i < WARM_UP_ROUNDS; i++) await drawn(`warm-${size}-${i}`, size, batches, 1000 + i);
    for (let i = 0; i < WARM_UP_ROUNDS; i++) await given(size, batches, 1000 + i);
    for (let i = 0; i < WARM_UP_ROUNDS; i++) madeHere(size * batches, 1000 + i);
    const pairs = [];
    for (let i = 0; i < repetitions; i++) {
      const here = madeHere(size * batches, i) / batches;
      const there = (await drawn(`run-${size}-${i}`, size, batches, i)) / batches;
      const least = (await given(size, batches, i)) / batches;
      pairs.push({ here, there, least });
    }
    const [here, there, least, ratio, overLeast] = [
      spreadOf(pairs.map((pair) => pair.here)),
      spreadOf(pairs.map((pair) => pair.there)),
      spreadOf(pairs.map((pair) => pair.least)),
      spreadOf(pairs.map((pair) => pair.there / pair.here)),
      spreadOf(pairs.map((pair) => pair.there / pair.least)),
    ];
    const spread = ({ median, min, max }: typeof here): string =>
      `${median.toFixed(2)} (${min.toFixed(2)}–${max.toFixed(2)})`;
    console.log(
      `${id} ${level}, ${size} tasks: here ${spread(here)} ms, server ${spread(there)} ms, minimal server ${spread(least)} ms;`,
    );
    console.log(`  server over here ${spread(ratio)}, over the minimal server ${spread(overLeast)}`);
  }
} finally {
  client.close();
  minimalClient.close();
  await Promise.all([server.stop(), minimal.stop()]);
  if (options.profile) {
    for (const file of readdirSync(join(folder, "profiles"))) {
      const { packages, files } = summarize(join(folder, "profiles", file));
      console.log(`\n${file}`);
      for (const { name, share } of [...packages.slice(0, 8), ...files.slice(0, 25)])
        console.log(`  ${(100 * share).toFixed(1).padStart(5)}%  ${name}`);
    }
  }
  rmSync(folder, { recursive: true, force: true });
}
