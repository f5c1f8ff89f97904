/**
 * An environment whose judge obeys files, for servers in processes of their own. GRADUS_TEST_JUDGE names the folder.
 * While it has a file "down", the judge is down; while it has a file "hold", the judge holds its answers back. Each
 * question adds a character to the file "asked".
 */
import { appendFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import type { Failed } from "../../../envs/facts.ts";
import { NO_ANSWER } from "./flaky.ts";
import { asking, judged } from "./slow.ts";

const folder = process.env["GRADUS_TEST_JUDGE"] ?? "";
const is = (name: string): boolean => existsSync(join(folder, name));

async function probe(): Promise<Failed | undefined> {
  return is("down") ? NO_ANSWER : undefined;
}

const environment = asking(
  async (sum, answer) => {
    appendFileSync(join(folder, "asked"), ".");
    while (is("hold")) await new Promise((resolve) => setTimeout(resolve, 20));
    return is("down") ? NO_ANSWER : judged(sum, answer);
  },
  { name: "held-judge", concurrencyMax: 16, waitingMax: 256, heldBytesMax: 1e6, timeLimitMs: 600_000, probe },
);

export default [{ ...environment, id: "test/held", description: "Add, and have it judged when files say so." }];
