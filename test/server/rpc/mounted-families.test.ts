/**
 * Tests of families of mounted levels: a level that breaks the laws is left out, and a run keeps the arms that it has.
 */
import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import type { Environment } from "../../../envs/environment.ts";
import { createRegistry, environments } from "../../../envs/registry.ts";
import { ArmSchema } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import { readDescribed } from "../../../server/outside/mounted/read-description.ts";
import { mountedEnvironment } from "../../../server/outside/mounted/mounted-environment.ts";
import type { Provider } from "../../../server/outside/mounted/provider.ts";
import { findServedArms, withFamilies } from "../../../server/rpc/curriculum/expand-families.ts";
import { described } from "../../support/mounted/provider.ts";

const LEVELS = ["easy/1", "broken", "away", "hard"];
const AXIS = ["easy/1", "away", "hard"];

/** Returns an environment with these levels: one breaks a law, and one could not be tried. `AXIS` is its axis. */
function mounted(
  tried: string[],
  isRefused = (name: string): boolean => name === "broken",
  levels: readonly string[] = LEVELS,
): Environment {
  const [wire] = described().environments;
  const [level] = wire?.levels ?? [];
  if (wire === undefined || level === undefined) throw new Error("it has a level");
  const axis = { $typeName: "gradus.v1.ProvidedAxis", name: "level", first: 1, levels: AXIS, guess: 0 } as const;
  const environment = {
    ...wire,
    levels: levels.map((name) => ({ ...level, name })),
    axes: levels === LEVELS ? [axis] : [],
  };
  const read = readDescribed({ ...described(), environments: [environment] });
  if (read.kind === "invalid") throw new Error(read.why);
  const [first] = read.environments;
  if (first === undefined) throw new Error("it has an environment");
  return mountedEnvironment(first, {
    mount: "far",
    provider: {} as Provider,
    concurrency: 1,
    lawful: async (_, { name }) => {
      tried.push(name);
      if (isRefused(name)) return { kind: "unlawful", why: "it takes nonsense for a right answer" };
      return name === "away" ? { kind: "unavailable", why: "nobody is there" } : { kind: "lawful" };
    },
    found: (_, { name }) =>
      tried.includes(name) && isRefused(name) ? { kind: "unlawful", why: "it takes nonsense" } : undefined,
    onBroken: () => undefined,
  });
}

const family = (environment: string, level?: string) =>
  create(ArmSchema, {
    spec: { environment, ...(level !== undefined && { difficulty: { case: "level", value: level } as const }) },
  });

async function expandPatterns(arm: ReturnType<typeof family>, run?: readonly { readonly id: string }[]) {
  const tried: string[] = [];
  const registry = createRegistry([...environments, mounted(tried)]);
  const isServed = await findServedArms([arm], registry, run);
  const arms = withFamilies([arm], { registry, isServed }, "config.arms");
  return { ids: arms.map(({ id }) => id), tried };
}

test("each level that gives tasks is an arm, and one that nobody could ask is tried by the run", async () => {
  const { ids, tried } = await expandPatterns(family("far/*"));
  expect(ids).toEqual(["far/number/easy/1", "far/number/away", "far/number/hard"]);
  expect(tried.toSorted()).toEqual(LEVELS.toSorted());
});

test("the id of an arm has the characters and the length of ids, whatever its level is called", () => {
  const registry = createRegistry([mounted([], () => false, ["5 disks", "ü".repeat(64), `ü${"é".repeat(63)}`])]);
  const ids = withFamilies([family("far/*")], { registry }, "config.arms").map(({ id }) => id);
  expect(ids[0]).toBe("far/number/5-disks");
  expect(new Set(ids).size).toBe(3);
  for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9._/-]{1,64}$/);
});

test("a pattern with one part more than an environment's id does not match it", async () => {
  await expect(expandPatterns(family("far/number/*"))).rejects.toThrow("no environment of this server matches");
});

test("only levels that are wanted are tried", async () => {
  const { ids, tried } = await expandPatterns(family("far/num*", "*a*"));
  expect([ids, tried]).toEqual([
    ["far/number/easy/1", "far/number/away", "far/number/hard"],
    ["easy/1", "away", "hard"],
  ]);
});

test("a run that is created again has the arms that it had, whatever was found out since", async () => {
  const run = ["far/number/broken", "far/number/hard"].map((id) => ({ id }));
  expect(await expandPatterns(family("far/*"), run)).toEqual({
    ids: ["far/number/broken", "far/number/hard"],
    tried: [],
  });
  const { ids } = await expandPatterns(family("far/*"), [{ id: "another" }]);
  expect(ids).toEqual(LEVELS.map((name) => `far/number/${name}`));
});

describe("a family that grows", () => {
  const growing = create(ArmSchema, { spec: { environment: "far/*" }, grow: {} });
  const expand = async (isRefused: (name: string) => boolean, run?: readonly { readonly id: string }[]) => {
    const registry = createRegistry([mounted([], isRefused)]);
    const isServed = await findServedArms([growing], registry, run);
    const existing = run && { arms: run };
    return withFamilies([growing], { registry, isServed, existing }, "config.arms").map(({ id, grow, spec }) => {
      const level = spec?.difficulty.case === "level" ? spec.difficulty.value : undefined;
      return { id, level, cap: grow?.cap };
    });
  };
  const whole = { id: "far/number", level: undefined, cap: 3 };
  test.each([
    ["the whole axis", (name: string) => name === "broken", [whole]],
    ["the axis up to a level that is refused", (name: string) => name === "hard", [{ ...whole, cap: 2 }]],
    [
      "its levels, if too few are left for an axis",
      (name: string) => name === "away",
      ["easy/1", "broken", "hard"].map((level) => ({ id: `far/number/${level}`, level, cap: undefined })),
    ],
  ])("has %s", async (_, isRefused, arms) => {
    expect(await expand(isRefused)).toEqual(arms);
  });

  test("keeps the growth of its run, whatever is refused since", async () => {
    const grow = { axis: "level", start: 1, step: 1, cap: 3, guess: 0 };
    expect(await expand((name) => name === "away", [{ id: "far/number", grow } as never])).toEqual([whole]);
    const levels = [{ id: "far/number/hard" }];
    expect(await expand(() => false, levels)).toEqual([{ id: "far/number/hard", level: "hard", cap: undefined }]);
  });
});

describe("a pattern costs no more than it is long", () => {
  test.each([
    [family(`${"*".repeat(127)}!`), "no environment of this server matches"],
    [family("far/*", `${"*".repeat(60)}!`), "no level of far/number"],
    [family("*".repeat(4096)), "config.arms[0].spec.environment"],
    [family("far/*", "*".repeat(4096)), "config.arms[0].spec.level"],
  ])("%#", async (arm, words) => {
    await expect(expandPatterns(arm)).rejects.toThrow(words);
  });
});
