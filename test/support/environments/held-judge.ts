/**
 * An environment whose judge does as files say, for servers in processes of their own: in the folder that
 * GRADUS_TEST_JUDGE names, it is down while there is a file "down", and holds its answers back while there is one "hold".
 * Each question is a character more in "asked".
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
