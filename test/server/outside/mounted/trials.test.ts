/** Levels that are tried before their first task is given, at mounting and after it. */
import { create } from "@bufbuild/protobuf";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { ProvidedTurnSchema } from "../../../../proto/gen/gradus/v1/provider_pb.js";
import { type Advancing, ON_ADVANCING } from "../../../../server/outside/mounted/advance-rules.ts";
import { type Described, readDescribed } from "../../../../server/outside/mounted/read-description.ts";
import { mountedEnvironment } from "../../../../server/outside/mounted/mounted-environment.ts";
import type {
  AskedEnvironment,
  GenerateResult,
  Provider,
  VerifyResult,
} from "../../../../server/outside/mounted/provider.ts";
import { failure } from "../../../../server/outside/mounted/provider.ts";
import { tryRules } from "../../../../server/outside/mounted/rules.ts";
import { createBackground, createTrials } from "../../../../server/outside/mounted/examine-levels.ts";
import { described, made, verified } from "../../../support/mounted/provider.ts";
import { openExaminedLevels } from "../../../../server/stores/examined-levels.ts";
import { temporaryFolder } from "../../../support/server-process.ts";
import { PATIENCE_MS } from "../../../support/patience.ts";

const context = { signal: new AbortController().signal, deadlineMs: Infinity };

/** An environment with these levels. */
function environmentWith(levels: readonly string[]): Described {
  const [environment] = described().environments;
  const [level] = environment?.levels ?? [];
  if (environment === undefined || level === undefined) throw new Error("it has a level");
  const wire = { ...environment, levels: levels.map((name) => ({ ...level, name })) };
  const read = readDescribed({ ...described(), environments: [wire] });
  if (read.kind === "invalid") throw new Error(read.why);
  return read.environments[0] as Described;
}

/** Returns a provider: levels with "lenient" in their names accept any answer, "held" levels wait, and "away" gets no answer. */
function providerOf({ asked: { id, version, digest }, levels: all }: Described) {
  const levels = all.map(({ name }) => name);
  const isUnknown = (asked: AskedEnvironment): boolean =>
    asked.id !== id || asked.version !== version || asked.digest !== digest;
  const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
  const given: string[] = [];
  let isAway = true;
  const provider = {
    generate: async (asked, { level, seeds }) => {
      if (isUnknown(asked) || !levels.includes(level)) return seeds.map(() => failure("unavailable", "no such name"));
      given.push(level);
      if (level.startsWith("held")) await held;
      if (level === "away" && isAway) return seeds.map(() => failure("unavailable", "nobody is there"));
      return seeds.map((seed): GenerateResult => {
        const { result } = made(0, `${level} ${seed}`);
        if (result.case !== "made") throw new Error("it makes something");
        return { kind: "made", instance: result.value };
      });
    },
    verify: async (asked, { instance, answer }): Promise<VerifyResult> => {
      if (isUnknown(asked)) return failure("unavailable", "no such name");
      const number = Buffer.from(instance).toString();
      const { result } = verified(0, answer === number || number.includes("lenient"));
      if (result.case !== "facts") throw new Error("it finds something");
      return { kind: "facts", facts: result.value };
    },
  } as Pick<Provider, "generate" | "verify"> as Provider;
  return { provider, asked: given, letGo, comeBack: () => (isAway = false) };
}

test("a level that is not tried in time is tried later, and gives no task before", async () => {
  const mounted = environmentWith(["easy", "held", "lenient"]);
  const { provider, letGo } = providerOf(mounted);
  const late: string[] = [];
  const done: number[] = [];
  const trials = createTrials({
    provider,
    environments: [mounted],
    onTried: (count) => void done.push(count),
    onLate: (_, { name }, { kind }) => void late.push(`${name} ${kind}`),
  });
  await trials.begin(50);
  const [easy, held, lenient] = mounted.levels.map((level) => trials.found(mounted, level));
  expect(easy).toEqual({ kind: "lawful" });
  expect(held).toBeUndefined();
  expect(lenient).toMatchObject({ kind: "unlawful", why: expect.stringContaining("meaningless") as string });
  expect(done).toEqual([1, 2]);
  const environment = mountedEnvironment(mounted, {
    mount: "far",
    provider,
    concurrency: 1,
    lawful: trials.of,
    found: trials.found,
    onBroken: () => undefined,
  });
  const tasks = { parameters: { level: 1 }, split: "train", seeds: [1n] } as const;
  const results = environment.asked?.make(tasks, context);
  letGo();
  expect(await results).toMatchObject([{ kind: "made" }]);
  expect(late).toEqual(["held lawful"]);
  const refused = await environment.asked?.make({ ...tasks, parameters: { level: 2 } }, context);
  expect(refused).toMatchObject([
    { kind: "exhausted", message: expect.stringMatching(/level 'lenient'.*meaningless/) as string },
  ]);
});

test("an axis ends before its first level that is refused, also while the server serves", async () => {
  const levels = ["easy", "hard", "held lenient", "harder"];
  const mounted = { ...environmentWith(levels), axes: [{ name: "size", first: 3, levels, guess: 0 }] };
  const { provider, letGo } = providerOf(mounted);
  const trials = createTrials({ provider, environments: [mounted], onLate: () => undefined });
  const options = { mount: "far", provider, concurrency: 1, lawful: trials.of, found: trials.found };
  const { asked } = mountedEnvironment(mounted, { ...options, onBroken: () => undefined });
  expect(asked?.axes?.map(({ first, last }) => [first, last])).toEqual([[3, 6]]);
  await trials.begin(50);
  const lenient = mounted.levels[2] as Described["levels"][number];
  const refused = trials.of(mounted, lenient);
  letGo();
  expect(await refused).toMatchObject({ kind: "unlawful" });
  expect(asked?.axes?.map(({ first, last }) => [first, last])).toEqual([[3, 4]]);
  expect(asked?.axes?.[0]?.parametersAt(4)).toEqual({ level: 1 });
});

test("an axis of which fewer than two levels are served is none", async () => {
  const levels = ["easy", "lenient", "hard"];
  const mounted = { ...environmentWith(levels), axes: [{ name: "size", first: 1, levels, guess: 0 }] };
  const { provider } = providerOf(mounted);
  const trials = createTrials({ provider, environments: [mounted], onLate: () => undefined });
  await trials.begin(PATIENCE_MS);
  const options = { mount: "far", provider, concurrency: 1, lawful: trials.of, found: trials.found };
  const environment = mountedEnvironment(mounted, { ...options, onBroken: () => undefined });
  expect(environment.asked?.axes).toEqual([]);
});

test("of a provider that cannot be asked nothing is found, and it is asked again", async () => {
  // Eight levels, as many as are tried at once, come before "away".
  const mounted = environmentWith([...Array.from({ length: 8 }, (_, i) => `held ${i}`), "away"]);
  const { provider, asked, letGo, comeBack } = providerOf(mounted);
  const trials = createTrials({ provider, environments: [mounted], onLate: () => undefined });
  const away = mounted.levels.at(-1);
  if (away === undefined) throw new Error("it has levels");
  await trials.begin(0);
  expect(await trials.of(mounted, away)).toMatchObject({ kind: "unavailable" });
  comeBack();
  expect(await trials.of(mounted, away)).toEqual({ kind: "lawful" });
  const before = asked.length;
  expect(await trials.of(mounted, away)).toEqual({ kind: "lawful" });
  expect(asked).toHaveLength(before);
  letGo();
});

test("mounts that serve tasks examine one level at a time, all together", async () => {
  const background = createBackground();
  let [going, most] = [0, 0];
  const begun = ["one", "other"].map(async (name) => {
    // The first eight are begun while it is mounted, and end later.
    const mounted = environmentWith(Array.from({ length: 16 }, (_, i) => `${i < 8 ? "held" : "late"} ${name} ${i}`));
    const { provider, letGo } = providerOf(mounted);
    const generate: Provider["generate"] = async (asked, asking, options) => {
      if (!asking.level.startsWith("late")) return provider.generate(asked, asking, options);
      most = Math.max(most, ++going);
      await sleep(1);
      going--;
      return provider.generate(asked, asking, options);
    };
    const provided = { ...provider, generate };
    const trials = createTrials({ provider: provided, environments: [mounted], background, onLate: () => undefined });
    await trials.begin(0);
    letGo();
    return trials;
  });
  for (const trials of await Promise.all(begun)) await expect.poll(() => trials.counts().get("lawful")).toBe(16);
  expect(most).toBe(1);
});

test("no level is examined in the background while tasks are made", async () => {
  const background = createBackground();
  const { promise: tasks, resolve: makeThem } = Promise.withResolvers<string>();
  const making = background.making(tasks);
  let isExamined = false;
  const examined = background.run(async () => void (isExamined = true));
  await sleep(600);
  expect(isExamined).toBe(false);
  makeThem("made");
  expect(await making).toBe("made");
  await examined;
  expect(isExamined).toBe(true);
});

test("a level whose seeds have no instance is refused, whatever the provider's message begins with", async () => {
  const mounted = environmentWith(["easy"]);
  const { provider } = providerOf(mounted);
  const exhausted: Provider["generate"] = async (_, { seeds }) =>
    seeds.map(() => ({ kind: "exhausted", message: "unavailable: no rows" }));
  const trials = createTrials({
    provider: { ...provider, generate: exhausted },
    environments: [mounted],
    onLate: () => undefined,
  });
  await trials.begin(PATIENCE_MS);
  expect(trials.found(mounted, mounted.levels[0] as Described["levels"][number])).toMatchObject({ kind: "unlawful" });
});

test("a provider that leaves while an answer is verified again is unavailable, and its level is not refused", async () => {
  const mounted = environmentWith(["easy"]);
  const { provider } = providerOf(mounted);
  const seen = new Set<string>();
  const verify: Provider["verify"] = async (asked, question, options) => {
    const key = `${question.instance.toString()} ${question.answer}`;
    if (asked.id === mounted.asked.id && seen.has(key)) return failure("unavailable", "nobody is there");
    const found = await provider.verify(asked, question, options);
    if (found.kind === "facts") seen.add(key);
    return found;
  };
  const trials = createTrials({ provider: { ...provider, verify }, environments: [mounted], onLate: () => undefined });
  const level = mounted.levels[0] as Described["levels"][number];
  expect(await trials.of(mounted, level)).toMatchObject({
    kind: "unavailable",
    why: expect.stringContaining("and then unavailable: nobody is there") as string,
  });
});

test("a level is refused for a timeout only at the second one in a row", async () => {
  const mounted = environmentWith(["starved", "slow"]);
  const { provider } = providerOf(mounted);
  const timeouts = new Map<string, number>();
  const most: Readonly<Record<string, number>> = { starved: 1, slow: 2 };
  const generate: Provider["generate"] = async (asked, wanted, options) => {
    const seen = timeouts.get(wanted.level) ?? 0;
    if (seen >= (most[wanted.level] ?? 0)) return provider.generate(asked, wanted, options);
    timeouts.set(wanted.level, seen + 1);
    return wanted.seeds.map(() => failure("timeout", "no answer in time"));
  };
  const trials = createTrials({
    provider: { ...provider, generate },
    environments: [mounted],
    onLate: () => undefined,
  });
  await trials.begin(PATIENCE_MS);
  const [starved, slow] = mounted.levels.map((level) => trials.found(mounted, level));
  expect(starved).toEqual({ kind: "lawful" });
  expect(slow).toMatchObject({ kind: "unlawful", why: expect.stringContaining("no answer in time") as string });
});

test("a host that ends while a game's calls are sent together is no broken rule, but a failed call", () => {
  const turn = create(ProvidedTurnSchema, { reply: "go on" });
  const made = {
    call: { tool: "", text: "up", number: 0, seed: 1n },
    state: undefined,
    result: { kind: "turn", turn },
  };
  const sent = { made: [made], together: failure("unavailable", "the host ended") } as unknown as Advancing;
  const isAsked = ({ name }: { readonly name: string }): boolean => name === "EnvironmentProviderAdvanceRequest.calls";
  const [tried] = tryRules(ON_ADVANCING.filter(isAsked), sent);
  expect(tried).toMatchObject({ failure: "unavailable", came: expect.stringContaining("the host ended") as string });
});

test("levels that have passed are not examined again after a restart, while their digest is the same", async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "examined");
  const faults: string[] = [];
  /** Examines the levels as a server does that starts in this folder. Returns which levels the provider was asked for. */
  const start = async (facts: string, mounted: Described): Promise<ReadonlySet<string>> => {
    const { provider, asked, comeBack } = providerOf(mounted);
    comeBack();
    const known = openExaminedLevels(path, facts, (why) => void faults.push(why));
    const trials = createTrials({ provider, environments: [mounted], known, onLate: () => undefined });
    await trials.begin(PATIENCE_MS);
    expect(trials.counts()).toEqual(new Map([["untried", 0], ...counts]));
    return new Set(asked);
  };
  const counts = [
    ["lawful", 2],
    ["unlawful", 1],
  ] as const;
  const mounted = environmentWith(["easy", "lenient", "away"]);
  const changed = { ...mounted, asked: { ...mounted.asked, digest: "0".repeat(64) } };
  const all = new Set(["easy", "lenient", "away"]);
  expect(await start("1.0", mounted)).toEqual(all);
  expect(await start("1.0", mounted)).toEqual(new Set(["lenient"]));
  expect(await start("1.0", changed)).toEqual(all);
  expect(await start("1.0", mounted)).toEqual(new Set(["lenient"]));
  // A killed server has written half a line.
  writeFileSync(path, readFileSync(path, "utf8").slice(0, -3));
  expect(await start("1.0", changed)).toEqual(new Set(["away", "lenient"]));
  expect(await start("1.0", changed)).toEqual(new Set(["lenient"]));
  expect(await start("1.1", mounted)).toEqual(all);
  expect(faults).toEqual([]);
  rmSync(path);
  mkdirSync(path);
  expect(await start("1.1", mounted)).toEqual(all);
  expect(faults).toEqual([expect.stringContaining("EISDIR")]);
});

test("advice about a level is kept with it", () => {
  using folder = temporaryFolder();
  const open = () => openExaminedLevels(join(folder.path, "examined"), "1.0", expect.unreachable);
  const known = open();
  known.add("plain", []);
  known.add("advised", ["a\trule", "another\n"]);
  for (const each of [known, open()]) {
    expect(each.get("plain")).toEqual([]);
    expect(each.get("advised")).toEqual(["a\trule", "another\n"]);
    expect(each.get("other")).toBeUndefined();
  }
});
