/** Our own server keeps every clause, and clauses that a server or a provider breaks are found. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { create } from "@bufbuild/protobuf";
import { tried, type ClauseResult } from "../../cli/conformance/clause.ts";
import { conformProvider, conformServer, isServer } from "../../cli/conformance/conform.ts";
import { ofServer } from "../../cli/conformance/server-clauses.ts";
import { GradusError, type GradusClient } from "../../clients/ts/src/public.ts";
import {
  DescribeResponseSchema,
  ProvidedFactsSchema,
  ProvidedInstanceSchema,
} from "../../proto/gen/gradus/v1/provider_pb.js";
import { Verdict } from "../../proto/gen/gradus/v1/outcome_pb.js";
import {
  type AskedEnvironment,
  type Failure,
  failure,
  type GenerateResult,
  type Provider,
} from "../../server/outside/mounted/provider.ts";
import { openServer, type TestServer } from "../support/in-process.ts";

async function all(found: AsyncIterable<ClauseResult>): Promise<readonly ClauseResult[]> {
  return Array.fromAsync(found);
}

const broken = (found: readonly ClauseResult[]): readonly string[] =>
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
      "--environment: the server has no environment 'np/tps'; did you mean 'np/tsp'?",
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
  const digest = "a".repeat(64);
  const described = create(DescribeResponseSchema, {
    protocol: 1,
    environments: [{ id: "word", version: 1, digest, levels: [{ name: "one" }] }],
  });
  const made = (seed: bigint): GenerateResult => {
    const canonical = `word ${seed}`;
    const prompt = [{ role: "user", content: `Say ${canonical}.` }];
    const instance = Buffer.from(canonical);
    return {
      kind: "made",
      instance: create(ProvidedInstanceSchema, { instance, prompt, canonical, reference: canonical }),
    };
  };
  const refusal = (asked: AskedEnvironment): Failure | undefined =>
    asked.id === "word" && asked.version === 1 && asked.digest === digest
      ? undefined
      : failure("unavailable", "there is no such one here");
  return {
    described,
    generate: async (asked, { level, seeds }) =>
      seeds.map((seed) => refusal(level === "one" ? asked : { ...asked, version: 2 }) ?? made(seed)),
    verify: async (asked, { instance, answer }) => {
      const verdict = answer === Buffer.from(instance).toString() ? Verdict.FEASIBLE : Verdict.INFEASIBLE;
      return refusal(asked) ?? { kind: "facts", facts: create(ProvidedFactsSchema, { verdict }) };
    },
    advance: async () => failure("unavailable", "it has no turns"),
    draw: async () => failure("unavailable", "it draws nothing"),
    probe: async () => undefined,
    close: async () => undefined,
    ...more,
  };
}

test("a sound provider keeps every rule, each with the time that trying it took", async () => {
  const found = await all(conformProvider(provider(), { environments: [] }));
  expect(found.map(({ finding }) => finding.kind)).toEqual(found.map(() => "pass"));
  expect(found.filter(({ ms }) => ms > 0).map(({ part }) => part)).toEqual([
    "Describe",
    "Making",
    "Repeating",
    "Answering",
  ]);
});

test("rules that nothing can be tried on are skipped, and not kept", async () => {
  const generate: Provider["generate"] = async (_, { seeds }) =>
    seeds.map(() => failure("raised", "no\u001b[2J words"));
  const found = await all(conformProvider(provider({ generate }), { environments: [] }));
  expect(broken(found)).toEqual([expect.stringContaining("raised: no\\u{1b}[2J words")]);
  const same = found.find(({ says }) => says.startsWith("EnvironmentProvider.Generate"));
  expect(same?.finding.kind).toBe("skip");
  expect(found.filter(({ part, finding }) => part === "Answering" && finding.kind !== "skip")).toEqual([]);
});

test("what answers UNIMPLEMENTED is no server, and what does not answer is nothing", async () => {
  const failing = (code: "UNIMPLEMENTED" | "UNAVAILABLE") =>
    ({ getServerInfo: () => Promise.reject(new GradusError(code, "no")) }) as unknown as GradusClient;
  expect(await isServer(failing("UNIMPLEMENTED"))).toBe(false);
  await expect(isServer(failing("UNAVAILABLE"))).rejects.toThrow("no");
});
