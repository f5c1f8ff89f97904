/**
 * `make demo`: starts a server with its SQLite store, runs the example trainer with one seed, and says where the plots
 * are.
 */
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { startServer } from "../test/support/server-process.ts";

const repository = resolve(import.meta.dirname, "..");
const out = join(repository, "out", "demo");
const dataDir = join(out, "data");
mkdirSync(dataDir, { recursive: true });

console.log("starting the server on its embedded store …");
const server = await startServer(dataDir, "--log-level", "info");
console.log(
  `gRPC on ${server.address}, HTTP on ${server.httpAddress}; its runs are in ${relative(repository, dataDir)}\n`,
);

const trainer = spawn(
  join(repository, ".venv/bin/python"),
  ["clients/python/examples/grpo_countdown.py", "--server", server.address, "--seeds", "1", "--out", out],
  { cwd: repository, stdio: "inherit" },
);
process.on("SIGINT", () => trainer.kill("SIGINT"));
const code = await new Promise<number>((done) => trainer.once("exit", (status) => done(status ?? 1)));
const stopped = await server.kill("SIGTERM");
if (code !== 0 || stopped !== 0) {
  console.error(`the trainer ended with ${code}, the server with ${stopped}; the server's last lines:`);
  console.error(server.lines.slice(-20).join("\n"));
  process.exit(1);
}
console.log(`\nthe plots are in ${relative(process.cwd(), out)}/`);
