/** Each rule of provider.proto, broken by a provider that keeps all others: a mount and `gradus conformance` both name the rule. */
import { expect, test } from "vitest";
import { create } from "@bufbuild/protobuf";
import { conformProvider } from "../../../../cli/conformance/conform.ts";
import { Goal } from "../../../../proto/gen/gradus/v1/environment_pb.js";
import { Verdict } from "../../../../proto/gen/gradus/v1/outcome_pb.js";
import {
  type GenerateRequest,
  GenerateResponseSchema,
  ProvidedComponentSchema,
  type ProvidedEnvironment,
  type ProvidedFacts,
  type ProvidedInstance,
  ProviderComponentSchema,
  type ProviderFailureKind,
  type ProviderLevel,
  ProviderLevelSchema,
  type VerifyRequest,
  VerifyResponseSchema,
} from "../../../../proto/gen/gradus/v1/provider_pb.js";
import { openMounts } from "../../../../server/outside/mounted/open-mounts.ts";
import { openRemote } from "../../../../server/outside/mounted/remote-provider.ts";
import type { RemoteMount } from "../../../../server/outside/mounted/mount-options.ts";
import { type Behaviour, described, made, startProvider, verified } from "../../../support/mounted/provider.ts";

const MIB = 1024 ** 2;

// Makers of behaviours. Each changes one message.

const environments = (change: (environment: ProvidedEnvironment) => readonly ProvidedEnvironment[]): Behaviour => ({
  describe: () => ({ environments: described().environments.flatMap(change) }),
});
const environment = (changes: Partial<ProvidedEnvironment>): Behaviour =>
  environments((each) => [{ ...each, ...changes }]);
const level = (...levels: readonly Partial<Omit<ProviderLevel, "$typeName" | "$unknown">>[]): Behaviour =>
  environment({ levels: levels.map((each) => create(ProviderLevelSchema, { name: "all", ...each })) });
const component = (...names: readonly object[]): Behaviour =>
  environment({
    components: names.map((each) => create(ProviderComponentSchema, { name: "score", weight: 1, ...each })),
  });

type Changed<Value> = Partial<Value> | ((value: Value, text: string) => Partial<Value>);
const changed = <Value>(value: Value, changes: Changed<Value>, text = ""): Value => ({
  ...value,
  ...(typeof changes === "function" ? changes(value, text) : changes),
});

function instanceOf(seed: bigint): ProvidedInstance {
  const { result } = made(0, String(seed));
  if (result.case !== "made") throw new Error("it makes something");
  return result.value;
}
const instance = (changes: Changed<ProvidedInstance>): Behaviour => ({
  generate: ({ seeds }, call) => {
    for (const [index, seed] of seeds.entries())
      call.write(
        create(GenerateResponseSchema, { index, result: { case: "made", value: changed(instanceOf(seed), changes) } }),
      );
    call.end();
  },
});
const generated = (write: (index: number, request: GenerateRequest) => readonly object[]): Behaviour => ({
  generate: (request, call) => {
    for (const index of request.seeds.keys())
      for (const each of write(index, request)) call.write(create(GenerateResponseSchema, { index, ...each }));
    call.end();
  },
});

function factsOf(index: number, isRight: boolean): ProvidedFacts {
  const { result } = verified(index, isRight);
  if (result.case !== "facts") throw new Error("it finds something");
  return result.value;
}
const verifying = (write: (index: number, request: VerifyRequest) => readonly object[]): Behaviour => ({
  verify: (request, call) => {
    for (const [place, { index }] of request.answers.entries())
      for (const each of write(place, request)) call.write(create(VerifyResponseSchema, { index, ...each }));
    call.end();
  },
});
const facts = (changes: Changed<ProvidedFacts>): Behaviour =>
  verifying((place, { instance: bytes, answers }) => {
    const text = answers[place]?.text ?? "";
    const value = changed(factsOf(0, text === Buffer.from(bytes).toString()), changes, text);
    return [{ result: { case: "facts", value } }];
  });

const failing = (kind: number, detail = "it fell over") => ({
  result: { case: "failure" as const, value: { kind: kind as ProviderFailureKind, detail } },
});

// Environments of other kinds, which keep every rule.

const isFeasible = ({ verdict }: ProvidedFacts): boolean => verdict === Verdict.FEASIBLE;
const GRADED: Behaviour = {
  ...component({}, { name: "style" }),
  ...facts((given) => ({
    verdict: Verdict.GRADED,
    solved: isFeasible(given),
    components: ["score", "style"].map((name) =>
      create(ProvidedComponentSchema, { name, value: isFeasible(given) ? 1 : 0 }),
    ),
  })),
};
const graded = (components: readonly object[], more: Partial<ProvidedFacts> = {}): Behaviour => ({
  ...GRADED,
  ...facts((given) => ({
    verdict: Verdict.GRADED,
    solved: isFeasible(given),
    components: components.map((each) => create(ProvidedComponentSchema, { name: "score", value: 0, ...each })),
    ...more,
  })),
});
const best = (changes: Partial<ProvidedInstance>, objective: Partial<ProvidedFacts> = { objective: 7 }): Behaviour => ({
  ...environment({ goal: Goal.MINIMIZE }),
  ...instance({ baseline: 7, ...changes }),
  ...facts(objective),
});
const drawing = (draw: NonNullable<Behaviour["draw"]>): Behaviour => ({ ...environment({ draws: true }), draw });
const svg = (value: string): Behaviour => drawing(() => ({ case: "svg", value }));

let calls = 0;
/** Counts the checks of nonsense; an examination makes three for the first instance. */
let asked = 0;
/** Differs from call to call. */
const random = (): string => `random ${calls++}`;

type Case = readonly [rule: string, how: string, broken: Behaviour];

const REFUSED: readonly Case[] = [
  ["DescribeResponse.protocol", "another revision", { describe: () => ({ protocol: 2 }) }],
  ["DescribeResponse.environments", "none", { describe: () => ({ environments: [] }) }],
  [
    "DescribeResponse.environments",
    "1,025 of them",
    environments((each) => Array.from({ length: 1025 }, (_, i) => ({ ...each, id: `far/${i}` }))),
  ],
  ["DescribeResponse.environments", "one twice", environments((each) => [each, each])],
  [
    "EnvironmentProvider.Describe",
    "another digest each time",
    {
      describe: () => ({
        environments: described().environments.map((each) => ({ ...each, digest: String(calls++).padStart(64, "0") })),
      }),
    },
  ],
  ["ProvidedEnvironment.id", "capitals", environment({ id: "Far/Number" })],
  ["ProvidedEnvironment.id", "129 characters", environment({ id: "f".repeat(129) })],
  ["ProvidedEnvironment.version", "0", environment({ version: 0 })],
  ["ProvidedEnvironment.version", "2^31", environment({ version: 2 ** 31 })],
  ["ProvidedEnvironment.digest", "no SHA-256", environment({ digest: "d".repeat(40) })],
  ["ProvidedEnvironment.digest", "in capitals", environment({ digest: "D".repeat(64) })],
  ["ProvidedEnvironment.description", "4,001 characters", environment({ description: "x".repeat(4001) })],
  ["ProvidedEnvironment.goal", "an unknown one", environment({ goal: 9 as Goal })],
  ["ProvidedEnvironment.levels", "none", environment({ levels: [] })],
  ["ProvidedEnvironment.levels", "1,025 of them", level(...Array.from({ length: 1025 }, (_, i) => ({ name: `${i}` })))],
  ["ProvidedEnvironment.answer_formats", "an unknown one", environment({ answerFormats: [99 as never] })],
  [
    "ProvidedEnvironment.components",
    "33 of them",
    component(...Array.from({ length: 33 }, (_, i) => ({ name: `${i}` }))),
  ],
  ["ProvidedEnvironment.remarks", "33 of them", environment({ remarks: Array.from({ length: 33 }, () => "x") })],
  ["ProvidedEnvironment.remarks", "1,001 characters", environment({ remarks: ["x".repeat(1001)] })],
  ["ProvidedEnvironment.turns_max", "two", environment({ turnsMax: 2 })],
  ["ProviderComponent.name", "none", component({ name: "" })],
  ["ProviderComponent.name", "65 characters", component({ name: "x".repeat(65) })],
  ["ProviderComponent.name", "one twice", component({}, {})],
  ["ProviderComponent.name", "one of the completion's", component({ name: "format" })],
  ["ProviderComponent.description", "1,001 characters", component({ description: "x".repeat(1001) })],
  ["ProviderComponent.weight", "above 1", component({ weight: 1.5 })],
  ["ProviderComponent.weight", "not a number", component({ weight: NaN })],
  ["ProviderLevel.name", "none", level({ name: "" })],
  ["ProviderLevel.name", "65 characters", level({ name: "x".repeat(65) })],
  ["ProviderLevel.name", "one twice", level({}, {})],
  ["ProviderLevel.description", "1,001 characters", level({ description: "x".repeat(1001) })],
  ["ProviderLevel.parameters_json", "a list", level({ parametersJson: "[1]" })],
  ["ProviderLevel.parameters_json", "no JSON", level({ parametersJson: "{letters: 4}" })],
  ["ProviderLevel.parameters_json", "over 16 KiB", level({ parametersJson: `{"x":"${"é".repeat(8200)}"}` })],
  ["ProviderLevel.rows", "2^60", level({ rows: 2n ** 60n })],
  [
    "ProviderLevel.rows",
    "more than there are",
    {
      ...level({ rows: 1000n }),
      ...generated((index, { seeds }) =>
        Number(seeds[index]) < 10
          ? [made(index, `${seeds[index]}`)]
          : [{ result: { case: "exhausted", value: "no such row" } }],
      ),
    },
  ],
  ["GenerateResponse.result", "nothing set", generated(() => [{ result: { case: undefined } }])],
  ["GenerateResponse.result", "a failure for each seed", generated(() => [failing(1, "ValueError: no letters")])],
  [
    "GenerateResponse.result",
    "exhausted at each seed",
    generated(() => [{ result: { case: "exhausted", value: "there are none" } }]),
  ],
  ["GenerateResponse.index", "none of one seed", generated(() => [])],
  [
    "GenerateResponse.index",
    "an index not asked",
    generated((index, { seeds }) => [made(index + 7, `${seeds[index]}`)]),
  ],
  [
    "GenerateResponse.index",
    "one index twice",
    generated((index, { seeds }) => [made(index, `${seeds[index]}`), made(index, `${seeds[index]}`)]),
  ],
  [
    "GenerateResponse.index",
    "indices in another order",
    generated((index, { seeds }) => [made(index, `${seeds.at(-1 - index)}`)]),
  ],
  ["ProviderFailure.kind", "UNSPECIFIED", generated(() => [failing(0)])],
  ["ProviderFailure.kind", "an unknown one", generated(() => [failing(42)])],
  ["ProviderFailure.detail", "2,001 characters", generated(() => [failing(1, "x".repeat(2001))])],
  ["EnvironmentProvider.Generate", "another instance each time", instance(() => ({ instance: Buffer.from(random()) }))],
  [
    "EnvironmentProvider.Generate",
    "another prompt each time",
    instance(({ prompt }) => ({ prompt: prompt.map((each) => ({ ...each, content: random() })) })),
  ],
  ["EnvironmentProvider.Generate", "another canonical text each time", instance(() => ({ canonical: random() }))],
  [
    "EnvironmentProvider.Generate",
    "another reference each time",
    {
      ...instance(() => ({ reference: random() })),
      verify: facts((_, text) => ({ verdict: text.startsWith("random") ? Verdict.FEASIBLE : Verdict.INFEASIBLE }))
        .verify as never,
    },
  ],
  ["EnvironmentProvider.Generate", "metadata of random text", instance(() => ({ metadata: { id: random() } }))],
  ["GenerateRequest.environment", "any is taken", { anything: ["environment"] }],
  ["GenerateRequest.version", "any is taken", { anything: ["version"] }],
  ["GenerateRequest.digest", "any is taken", { anything: ["digest"] }],
  ["GenerateRequest.level", "any is taken", { anything: ["level"] }],
  ["ProvidedInstance.instance", "no bytes", instance({ instance: new Uint8Array() })],
  ["ProvidedInstance.instance", "over 1 MiB", instance({ instance: new Uint8Array(MIB + 1) })],
  ["ProvidedInstance.prompt", "no messages", instance({ prompt: [] })],
  [
    "ProvidedInstance.prompt",
    "17 messages",
    instance(({ prompt }) => ({ prompt: Array.from({ length: 17 }, () => prompt).flat() })),
  ],
  [
    "ProvidedInstance.prompt",
    "an unknown role",
    instance(({ prompt }) => ({ prompt: prompt.map((each) => ({ ...each, role: "tool" })) })),
  ],
  [
    "ProvidedInstance.prompt",
    "the assistant's last",
    instance(({ prompt }) => ({ prompt: prompt.map((each) => ({ ...each, role: "assistant" })) })),
  ],
  [
    "ProvidedInstance.prompt",
    "white space",
    instance(({ prompt }) => ({ prompt: prompt.map((each) => ({ ...each, content: " " })) })),
  ],
  [
    "ProvidedInstance.prompt",
    "over 1 MiB",
    instance(({ prompt }) => ({ prompt: prompt.map((each) => ({ ...each, content: "é".repeat(MIB / 2 + 1) })) })),
  ],
  ["ProvidedInstance.canonical", "over 1 MiB", instance({ canonical: "é".repeat(MIB / 2 + 1) })],
  ["ProvidedInstance.baseline", "none, where there is something to minimise", best({ baseline: undefined })],
  ["ProvidedInstance.baseline", "infinite", best({ baseline: Infinity })],
  ["ProvidedInstance.baseline_bound", "not a number", best({ baselineBound: NaN })],
  ["ProvidedInstance.baseline_bound", "worse than the baseline", best({ baselineBound: 8 })],
  ["ProvidedInstance.baseline_bound", "worse than the reference answer", best({}, { objective: 6 })],
  [
    "ProvidedInstance.metadata",
    "33 entries",
    instance({ metadata: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`${i}`, "x"])) }),
  ],
  ["ProvidedInstance.metadata", "1,001 characters", instance({ metadata: { x: "x".repeat(1001) } })],
  ["ProvidedInstance.reference", "a wrong one", instance({ reference: "another" })],
  ["VerifyResponse.result", "nothing set", verifying(() => [{ result: { case: undefined } }])],
  ["VerifyResponse.result", "a failure for each answer", verifying(() => [failing(1, "KeyError: 'x'")])],
  ["VerifyResponse.index", "none of one answer", verifying(() => [])],
  ["VerifyResponse.index", "an index not asked", verifying((index) => [{ ...verified(index + 7, false) }])],
  [
    "VerifyResponse.index",
    "one index twice",
    verifying((place, { instance: bytes, answers }) => {
      const { index = 0, text = "" } = answers[place] ?? {};
      const found = verified(index, text === Buffer.from(bytes).toString());
      return [found, found];
    }),
  ],
  [
    "VerifyResponse.index",
    "indices in another order",
    verifying((place, { instance: bytes, answers }) => [
      { result: verified(0, answers.at(-1 - place)?.text === Buffer.from(bytes).toString()).result },
    ]),
  ],
  ["ProviderFailure.kind", "UNSPECIFIED, for an answer", verifying(() => [failing(0)])],
  ["VerifyRequest.environment", "any is taken", { ...verifyingAny("environment") }],
  ["VerifyRequest.version", "any is taken", { ...verifyingAny("version") }],
  ["VerifyRequest.digest", "verifies under any", { ...verifyingAny("digest") }],
  ["ProvidedFacts.verdict", "UNSPECIFIED", facts({ verdict: Verdict.UNSPECIFIED, solved: true })],
  ["ProvidedFacts.verdict", "an unknown one", facts({ verdict: 9 as Verdict })],
  ["ProvidedFacts.verdict", "GRADED without components", facts({ verdict: Verdict.GRADED })],
  ["ProvidedFacts.verdict", "FEASIBLE with components", { ...GRADED, ...facts({}) }],
  ["ProvidedFacts.verdict", "right for everything", facts({ verdict: Verdict.FEASIBLE })],
  [
    "ProvidedFacts.verdict",
    "right for nothing at all",
    facts((given, text) => (text === "" ? { verdict: Verdict.FEASIBLE } : given)),
  ],
  [
    "ProvidedFacts.verdict",
    "right for nan",
    facts((given, text) => (text === "nan" ? { verdict: Verdict.FEASIBLE } : given)),
  ],
  [
    "ProvidedFacts.verdict",
    "right for what is long",
    facts((given, text) => (text.length > 1e5 ? { verdict: Verdict.FEASIBLE } : given)),
  ],
  ["ProvidedFacts.violation", "2,001 characters", facts({ violation: "x".repeat(2001) })],
  ["ProvidedFacts.objective", "none, where there is something to minimise", best({}, {})],
  ["ProvidedFacts.objective", "not a number", best({}, { objective: NaN })],
  ["ProvidedComponent.name", "an unknown one", graded([{}, { name: "charm" }])],
  ["ProvidedComponent.name", "one twice", graded([{}, {}])],
  ["ProvidedComponent.value", "above 1", graded([{ value: 1.1 }])],
  ["ProvidedFacts.components", "no value of the first", graded([{ name: "style" }])],
  [
    "ProvidedFacts.info",
    "17 entries",
    facts({ info: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`${i}`, "x"])) }),
  ],
  ["ProvidedFacts.info", "1,001 characters", facts({ info: { x: "é".repeat(1001) } })],
  [
    "EnvironmentProvider.Verify",
    "another verdict each time",
    verifying((place, { instance: bytes, answers }) => {
      const { text = "" } = answers[place] ?? {};
      const own = Buffer.from(bytes).toString();
      const isOdd = own === "0" && text.startsWith("gradus") && asked++ % 3 > 0;
      const value = { ...factsOf(0, text === own), ...(isOdd && { verdict: Verdict.MALFORMED }) };
      return [{ result: { case: "facts", value } }];
    }),
  ],
];

const ADVISED: readonly Case[] = [
  [
    "LeftOut.name",
    "none",
    { describe: () => ({ leftOut: [{ $typeName: "gradus.v1.LeftOut", name: "", reason: "it hangs" }] }) },
  ],
  [
    "LeftOut.reason",
    "none",
    { describe: () => ({ leftOut: [{ $typeName: "gradus.v1.LeftOut", name: "far/other", reason: "" }] }) },
  ],
  ["ProvidedInstance.canonical", "one for all tasks", instance({ canonical: "a task" })],
  ["ProvidedComponent.reason", "none, and no value", graded([{ value: 0 }, { name: "style", value: undefined }], {})],
  ["ProvidedFacts.solved", "of an answer that is not graded", facts((given) => ({ solved: isFeasible(given) }))],
  ["DrawResponse.result", "nothing set", drawing(() => ({ case: undefined }))],
  ["DrawResponse.svg", "a failure", drawing(() => failing(1).result as never)],
  ["DrawResponse.svg", "no document", svg("a picture")],
  ["DrawResponse.svg", "a script", svg("<svg><script>alert(1)</script></svg>")],
  ["DrawResponse.svg", "a reference", svg('<svg><image href="http://example.org/x.png"/></svg>')],
  ["DrawResponse.svg", "over 1 MiB", svg(`<svg>${"x".repeat(MIB)}</svg>`)],
];

/** Accepts any value of a field in verify calls only. */
function verifyingAny(field: "environment" | "version" | "digest"): Behaviour {
  return {
    anything: [field],
    generate: (request, call) => {
      const [own] = described().environments;
      const isOwn = request.environment === own?.id && request.version === own.version && request.digest === own.digest;
      if (!isOwn) return void call.emit("error", { code: 5, details: "there is no such one here" });
      for (const [index, seed] of request.seeds.entries()) call.write(made(index, String(seed)));
      call.end();
    },
  };
}

interface Said {
  /** The rule's violation, in words for the operator. */
  readonly words: string;
  readonly isRefused: boolean;
}

async function mountedAt(mount: RemoteMount): Promise<Said> {
  const words: string[] = [];
  const settings = {
    mounts: [mount],
    python: "",
    allow: { read: [], net: [] },
    workers: 1,
    memoryMib: 64,
    hidden: [],
    reload: false,
    replacedGraceMs: 60_000,
  };
  const opened = await openMounts(settings, {
    onMount: ({ refused, remarks }) =>
      words.push(...remarks, ...refused.map(({ name, reason }) => `${name}: ${reason}`)),
    onRefused: ({ name, reason }) => words.push(`${name}: ${reason}`),
    onFault: (_, why) => words.push(why),
  });
  if (opened.kind === "invalid") return { words: opened.message, isRefused: true };
  await opened.mounts.close();
  return { words: words.join("\n"), isRefused: false };
}

async function conformedAt(mount: RemoteMount): Promise<Said> {
  const opened = await openRemote(mount);
  if (opened.kind === "failed") throw new Error(opened.why);
  const found = await Array.fromAsync(conformProvider(opened.provider, { environments: [] }));
  await opened.provider.close();
  const words = found.flatMap(({ says, finding }) =>
    finding.kind === "fail" || finding.kind === "warn" ? [`${finding.kind}: ${says} ${finding.reason}`] : [],
  );
  return { words: words.join("\n"), isRefused: words.some((each) => each.startsWith("fail")) };
}

async function both(behaviour: Behaviour): Promise<readonly [mount: Said, conformance: Said]> {
  const provider = await startProvider(() => behaviour);
  const { address } = provider;
  const mount: RemoteMount = { kind: "remote", name: "far", address, tls: false, ca: undefined, token: undefined };
  try {
    return [await mountedAt(mount), await conformedAt(mount)];
  } finally {
    provider.stop();
  }
}

test.each<[string, Behaviour]>([
  ["whose answers are right or wrong", {}],
  ["of rows", level({ rows: 2n })],
  ["of one row", level({ rows: 1n })],
  ["whose answers are graded", GRADED],
  ["with something to minimise", best({})],
  [
    "for which an empty answer is feasible",
    {
      ...best({}),
      ...facts((given, text) =>
        text === "" ? { verdict: Verdict.FEASIBLE, objective: 100 } : { ...given, objective: 7 },
      ),
    },
  ],
  [
    "without a reference, for which an empty answer is right",
    {
      ...instance({ reference: undefined as never }),
      ...facts((given, text) => (text === "" ? { verdict: Verdict.FEASIBLE } : given)),
    },
  ],
  ["that draws", drawing(() => ({ case: "svg", value: "<svg></svg>" }))],
])("a provider %s keeps every rule", async (_, behaviour) => {
  expect(await both(behaviour)).toEqual([
    { words: "", isRefused: false },
    { words: "", isRefused: false },
  ]);
});

test.each(REFUSED)("%s: %s is refused by a mount and by conformance", async (rule, _, broken) => {
  const found = await both(broken);
  for (const { words, isRefused } of found) {
    expect(words).toContain(`${rule} must`);
    expect(isRefused).toBe(true);
  }
});

test.each(ADVISED)("%s: %s is told by a mount and by conformance, and refused by neither", async (rule, _, broken) => {
  const found = await both(broken);
  for (const { words, isRefused } of found) {
    expect(words).toContain(`${rule} must`);
    expect(isRefused).toBe(false);
  }
});
