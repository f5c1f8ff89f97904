/**
 * Tests the client's defaults against the table that the Python client's tests read too. One run is created with every
 * default spelled out, another by the client from only the required fields. The server must find them equal.
 */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as defaults from "../../../clients/ts/src/defaults.ts";
import { recommended, type RunChoice } from "../../../clients/ts/src/index.ts";
import { openServer, type TestServer } from "../../support/in-process.ts";

const table = JSON.parse(readFileSync(new URL("../defaults.json", import.meta.url), "utf8")) as {
  readonly client: Readonly<Record<string, number | string>>;
  readonly run: object;
  readonly runs: Readonly<Record<string, object>>;
};

let server: TestServer;
beforeAll(async () => {
  server = await openServer();
});
afterAll(() => server[Symbol.asyncDispose]());

test("calls and streams", () => {
  expect(table.client).toEqual({
    timeoutSeconds: defaults.DEADLINE_MS / 1000,
    nextBatchTimeoutSeconds: defaults.NEXT_BATCH_DEADLINE_MS / 1000,
    window: defaults.WINDOW,
    retriesUnreached: defaults.RETRIES_UNREACHED,
    firstDelaySeconds: defaults.DELAY_MS_FIRST / 1000,
    greatestDelaySeconds: defaults.DELAY_MS_MAX / 1000,
    onFeedback: defaults.ON_FEEDBACK,
  });
});

const minimal: RunChoice = {
  arms: [
    { id: "easy", environment: "countdown" },
    { id: "hard", environment: "countdown", level: "T1" },
  ],
  policy: { kind: "mixture" },
  numGenerations: 2,
  promptsPerUpdate: 4,
  length: 64,
};

const choices: Readonly<Record<string, Partial<RunChoice>>> = {
  minimal: {},
  evaluated: { evaluationArms: [{ id: "held-out", environment: "countdown", tasks: 8 }] },
  sampled: { dynamicSampling: { oversampleMax: 2 } },
  staged: { policy: { kind: "staged", stages: [{ ranks: {} }] } },
  replay: { policy: { kind: "replay", cycleTasks: 8, stages: [{}] } },
  competence: { policy: { kind: "competence", tiers: [{ easy: 1 }, { easy: 1, hard: 1 }] } },
  bandit: { policy: { kind: "bandit" } },
  forgetting: {
    policy: {
      kind: "forgetting",
      domains: [
        { name: "one", weights: { easy: 1 } },
        { name: "two", weights: { hard: 1 } },
      ],
    },
  },
  frontier: { policy: { kind: "frontier" } },
  recommended: { policy: recommended() },
};

test.each(Object.entries(table.runs))("a run: %s", async (name, expandPatterns) => {
  const created = await fetch(`${server.http}/gradus.v1.CurriculumService/CreateRun`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ runId: name, config: { ...table.run, ...expandPatterns } }),
  });
  expect(await created.json()).toHaveProperty("run.runId", name);
  await server.client.run(name).create({ ...minimal, ...choices[name] });
});
