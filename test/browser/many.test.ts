/** What the page makes of much, and of little: a thousand arms, more than a server takes; and a token that may only look. */
import { create, toBinary } from "@bufbuild/protobuf";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  GetHistoryResponseSchema,
  GetRunResponseSchema,
  ListRunsResponseSchema,
  RunSchema,
} from "../../clients/ts/src/index.ts";
import { openServer, type TestServer } from "../support/in-process.ts";
import { temporaryFolder } from "../support/server-process.ts";
import { openBrowser, openView } from "./opened.ts";

const ARMS = 1_000;
const STEPS = 200;
/** Update batches in a step of the history, as a server merges them for a chart. */
const MERGED = 25;

const folder = temporaryFolder();
let server: TestServer;
let browser: Browser;
beforeAll(async () => {
  const file = join(folder.path, "tokens.yaml");
  const tokens = ["viewer", "trainer", "operator"].map(
    (role) => `- {name: one-${role}, role: ${role}, token: token-of-a-${role}}`,
  );
  writeFileSync(file, `${tokens.join("\n")}\n`, { mode: 0o600 });
  [server, browser] = await Promise.all([openServer({ tokensFile: file }), openBrowser()]);
});
afterAll(async () => {
  await browser?.close();
  await server?.[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

async function giveToken(page: Page, token: string): Promise<void> {
  await page.getByLabel("Token", { exact: true }).fill(token);
  await page.getByRole("button", { name: "Use it" }).click();
}

test("a token is asked for once, kept for the tab, and what it may not do is not shown", async () => {
  await using opened = await openView(browser, server.http);
  const { page } = opened;
  await giveToken(page, "token-of-a-viewer");
  await page.getByText("one-viewer, viewer").waitFor();
  await page.getByRole("heading", { name: "np/tsp" }).waitFor();
  expect(await page.getByRole("link", { name: "Plan" }).count()).toBe(0);
  await page.reload();
  await page.getByText("one-viewer, viewer").waitFor();
  await page.getByRole("button", { name: "Forget the token" }).click();
  await giveToken(page, "token-of-a-operator");
  await page.getByText("one-operator, operator").waitFor();
  await page.getByRole("link", { name: "Plan" }).waitFor();
  expect(await page.evaluate(() => localStorage.length)).toBe(0);
  expect(opened.complaints).toEqual([]);
});

/** A run of a thousand arms of twenty environments, and 5,000 update batches of it. */
function largeRun() {
  const environments = Array.from({ length: 20 }, (_, at) => `np/kind-${at}`);
  const arms = Array.from({ length: ARMS }, (_, at) => ({ id: `arm-${at}`, environment: environments[at % 20] ?? "" }));
  return create(RunSchema, {
    runId: "large",
    config: {
      arms: arms.map(({ id, environment }) => ({ id, spec: { environment } })),
      numGenerations: 8,
      promptsPerUpdate: 64,
    },
    state: {
      runId: "large",
      cursor: BigInt(STEPS * MERGED * 64),
      batchesDrawn: BigInt(STEPS * MERGED),
      policy: { kind: { case: "frontier", value: {} } },
      arms: arms.map(({ id }, at) => ({ armId: id, probability: at === 7 ? 0.1 : 0.9 / (ARMS - 1), weight: 1 })),
    },
  });
}

function history() {
  const records = Array.from({ length: STEPS }, (_, step) => ({
    kind: {
      case: "batch" as const,
      value: {
        batch: BigInt(step * MERGED),
        cursor: BigInt(step * MERGED * 64),
        merged: MERGED,
        counts: Array.from({ length: ARMS }, (_, arm) => (arm + step) % 4),
        probabilities: Array.from({ length: ARMS }, () => 1 / ARMS),
        prompts: 64 * MERGED,
        useful: 32 * MERGED,
        closed: true,
        solvedShare: step / STEPS,
        rewardMean: step / STEPS,
      },
    },
  }));
  return create(GetHistoryResponseSchema, { records });
}

test("of a thousand arms and 5,000 update batches what is looked for is found, and only what is seen is laid out", async () => {
  await using opened = await openView(browser, `${server.http}/#/runs/large`);
  const { page } = opened;
  const run = largeRun();
  const answers: Readonly<Record<string, Uint8Array>> = {
    GetRun: toBinary(GetRunResponseSchema, create(GetRunResponseSchema, { run })),
    ListRuns: toBinary(ListRunsResponseSchema, create(ListRunsResponseSchema, { runs: [run] })),
    GetHistory: toBinary(GetHistoryResponseSchema, history()),
  };
  for (const [name, body] of Object.entries(answers))
    await page.route(`**/gradus.v1.CurriculumService/${name}`, (route) =>
      route.fulfill({ contentType: "application/proto", body: Buffer.from(body) }),
    );
  // A stream that says nothing yet.
  await page.route("**/gradus.v1.CurriculumService/WatchRun", () => undefined);
  await giveToken(page, "token-of-a-viewer");
  await page.getByRole("region", { name: "Mean reward" }).locator("svg").waitFor();
  await page.getByText("Drawn most now: arm-7 (10%)").waitFor();
  const legend = page.getByRole("list", { name: "Arms" }).getByRole("listitem");
  expect(await legend.count()).toBe(20);
  await page.getByLabel("Arms to show").fill("arm-99");
  await page.getByRole("button", { name: "arm-990" }).waitFor();
  expect(await legend.count()).toBe(11);
  await opened.go("#/runs/large/arms");
  const rows = page.getByRole("region", { name: "Arms, a table" }).getByRole("row");
  await page.getByRole("rowheader", { name: "arm-7", exact: true }).waitFor();
  expect(await rows.count()).toBeLessThan(80);
  await page.getByLabel("Search arms").fill("arm-512");
  await page.getByRole("rowheader", { name: "arm-512" }).waitFor();
  expect(opened.complaints).toEqual([]);
});
