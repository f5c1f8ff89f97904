/**
 * An environment that holds its verdicts back while the folder in GRADUS_FLIGHT has a file "hold". Its file "asked"
 * says how many completions wait at the server.
 */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defineEnvironment } from "../../../envs/define.ts";
import type { AsyncEnvironment } from "../../../envs/environment.ts";
import { generator, inline, type Sum, sums } from "../../support/environments/sums.ts";

const folder = process.env["GRADUS_FLIGHT"] ?? "";
const LOOK_EVERY_MS = 20;
const AT_ONCE = 65_536;

let asked = 0;
let told = 0;
/** Settled once the file is gone. */
let release: Promise<void> | undefined;

async function released(): Promise<void> {
  while (existsSync(join(folder, "hold")) || told !== asked) {
    writeFileSync(join(folder, "asked"), String(asked));
    told = asked;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
  release = undefined;
}

const held: AsyncEnvironment<Sum, number> = defineEnvironment<Sum, number>({
  ...sums,
  generator,
  inline,
  id: "flight/held",
  version: 1,
  description: "Add, and wait.",
  resource: {
    name: "flight",
    concurrencyMax: AT_ONCE,
    waitingMax: AT_ONCE,
    heldBytesMax: 2 ** 30,
    timeLimitMs: 600_000,
  },
  verify: async ({ a, b }, answer) => {
    asked++;
    await (release ??= released());
    return answer === a + b ? { kind: "feasible" } : { kind: "infeasible", violation: "it is another number" };
  },
});

export default [held];
