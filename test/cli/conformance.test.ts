/** Our own server keeps every clause, and clauses that a server or a provider breaks are found. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { create } from "@bufbuild/protobuf";
import { tried, type Tried } from "../../cli/conformance/clause.ts";
import { conformProvider, conformServer, isServer } from "../../cli/conformance/conform.ts";
import { ofServer } from "../../cli/conformance/server-clauses.ts";
import { GradusError, type GradusClient } from "../../clients/ts/src/public.ts";
import {
  DescribeResponseSchema,
  ProvidedFactsSchema,
  ProvidedInstanceSchema,
} from "../../proto/gen/gradus/v1/provider_pb.js";
import { Verdict } from "../../proto/gen/gradus/v1/outcome_pb.js";
import type { Generated, Provider } from "../../server/outside/mounted/provider.ts";
import { openServer, type TestServer } from "../support/in-process.ts";

async function all(found: AsyncIterable<Tried>): Promise<readonly Tried[]> {
  return Array.fromAsync(found);
}

const broken = (found: readonly Tried[]): readonly string[] =>
  found.flatMap(({ of, says, finding }) => (finding.kind === "fail" ? [`${of} ${says} ${finding.reason}`] : []));

describe("a server of ours", () => {
  let host: TestServer;
  beforeAll(async () => {
    host = await openServer({ store: "memory", workers: "1" });
  });
  afterAll(() => host[Symbol.asyncDispose]());

  test("keeps every clause of the contract", async () => {
    expect(await isServer(host.client)).toBe(true);
    const found = await all(conformServer(host.client, ["np/tsp", "countdown", "math/linear", "sequence/map"]));
    expect(broken(found)).toEqual([]);
    expect(found.filter(({ finding }) => finding.kind === "pass").length).toBeGreaterThan(20);
  });

  test("is not said to be sound where what was to be tried is not there", async () => {
    await expect(all(conformServer(host.client, ["np/tps"]))).rejects.toThrow(
      "--environment: there is no 'np/tps' there; did you mean 'np/tsp'?",
    );
  });

  test("that scored what it did not make would break a clause", async () => {
    const task = await host.client.reset({ environment: "countdown" });
    const step: GradusClient["step"] = (_, completion) => host.client.step(task, completion);
    const found = await all(tried(ofServer, { ...host.client, step }, ""));
    expect(broken(found)).toEqual([expect.stringContaining("it has a reward")]);
  });
});

/** Words to say again. */
function provider(more: Partial<Provider> = {}): Provider {
  const described = create(DescribeResponseSchema, {
    environments: [{ id: "word", version: 1, digest: "a".repeat(64), levels: [{ name: "one" }] }],
  });
  const made = (seed: bigint): Generated => {
    const canonical = `word ${seed}`;
    const prompt = [{ content: `Say ${canonical}.` }];
    const instance = Buffer.from(canonical);
    return {
      kind: "made",
      instance: create(ProvidedInstanceSchema, { instance, prompt, canonical, reference: canonical }),
    };
  };
  return {
    described,
    generate: async ({ digest }, { seeds }) =>
      seeds.map((seed) =>
        digest === "a".repeat(64) ? made(seed) : { kind: "failure", failure: "unavailable", detail: "another digest" },
      ),
    verify: async (_, { instance, answer }) => ({
      kind: "facts",
      facts: create(ProvidedFactsSchema, { solved: answer === Buffer.from(instance).toString() }),
    }),
    draw: async () => ({ kind: "failure", failure: "unavailable", detail: "it draws nothing" }),
    probe: async () => undefined,
    close: async () => undefined,
    ...more,
  };
}

test("a sound provider keeps every clause", async () => {
  const found = await all(conformProvider(provider(), []));
  expect(found.map(({ finding }) => finding.kind)).toEqual(found.map(() => "pass"));
});

const verdicts = (isRight: (answer: string, instance: string) => boolean): Partial<Provider> => ({
  verify: async (_, { instance, answer }) => {
    const verdict = isRight(answer, Buffer.from(instance).toString()) ? Verdict.FEASIBLE : Verdict.INFEASIBLE;
    return { kind: "facts", facts: create(ProvidedFactsSchema, { verdict }) };
  },
});

test("of answers that are right or wrong the verdict says it", async () => {
  const found = await all(conformProvider(provider(verdicts((answer, instance) => answer === instance)), []));
  expect(found.map(({ finding }) => finding.kind)).toEqual(found.map(() => "pass"));
});

let calls = 0;
const sound = provider();
test.each<[string, Partial<Provider>, string]>([
  [
    "changes between calls",
    {
      generate: (of, asked, how) =>
        sound.generate(of, { ...asked, seeds: asked.seeds.map((seed) => seed + BigInt(calls++)) }, how),
    },
    "another came the second time",
  ],
  [
    "takes any digest",
    { generate: (of, asked, how) => sound.generate({ ...of, digest: "a".repeat(64) }, asked, how) },
    "a digest that it does not have",
  ],
  [
    "takes nonsense",
    { verify: async () => ({ kind: "facts", facts: create(ProvidedFactsSchema, { solved: true }) }) },
    "it counts as solved",
  ],
  ["takes nonsense by its verdict", verdicts(() => true), "it counts as solved"],
  [
    "fails",
    { verify: async () => ({ kind: "failure", failure: "crashed", detail: "it fell over" }) },
    "crashed: it fell over",
  ],
  [
    "has one instance",
    { generate: (of, asked, how) => sound.generate(of, { ...asked, seeds: asked.seeds.map(() => 1n) }, how) },
    "eight seeds give one instance",
  ],
])("a provider that %s is told so", async (_, more, words) => {
  const found = await all(conformProvider(provider(more), []));
  expect(broken(found).join("\n")).toContain(words);
});

test("what answers UNIMPLEMENTED is no server, and what does not answer is nothing", async () => {
  const failing = (code: "UNIMPLEMENTED" | "UNAVAILABLE") =>
    ({ getServerInfo: () => Promise.reject(new GradusError(code, "no")) }) as unknown as GradusClient;
  expect(await isServer(failing("UNIMPLEMENTED"))).toBe(false);
  await expect(isServer(failing("UNAVAILABLE"))).rejects.toThrow("no");
});
