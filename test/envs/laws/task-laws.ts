/** Laws of tasks: how they come about, are kept, come back and are put to the policy. */
import { expect } from "vitest";
import { formatInstruction } from "../../../envs/answers/wording.ts";
import type { Environment } from "../../../envs/environment.ts";
import { restore } from "../../../envs/instances.ts";
import { findLevel, resolveParameters } from "../../../envs/parameters.ts";
import { resolveScheme } from "../../../envs/reward/schemes.ts";
import { instanceHash, liesIn, SMALL } from "../../../envs/splits.ts";
import { SPLITS, tasksOf } from "../every.ts";
import { rngFor } from "../../../envs/lib/rng.ts";
import { CHOICES, every, isGenerated, isSolved, type Law, solved, TASKS } from "./law.ts";

/** Draws within which a level shows enough different instances to divide among the splits, if it has them. */
const DRAWS_MAX = 3 * SMALL;

export const taskLaws: readonly Law<Environment>[] = [
  {
    title: "the environment is named, described and priced",
    appliesTo: every,
    check({ environment }) {
      expect(environment.id).toMatch(/^[a-z0-9-]+(\/[a-z0-9-]+)*$/);
      expect(environment.version).toBeGreaterThanOrEqual(1);
      expect(environment.description).not.toBe("");
      expect(environment.answerFormats.length * environment.rewardSchemes.length).toBeGreaterThan(0);
      for (const name of environment.rewardSchemes)
        expect(resolveScheme(environment, name, {})).toMatchObject({ kind: "ok", scheme: { scheme: { name } } });
      const names = environment.levels.map(({ name }) => name);
      expect(new Set(names).size).toBe(names.length);
    },
  },
  {
    title: "the level is found by its name, and has tasks",
    appliesTo: every,
    check({ environment, level, tasks }) {
      expect(findLevel(environment, level.name)).toEqual({ kind: "found", level });
      expect(tasks).toHaveLength(TASKS);
    },
  },
  {
    title: "the level is complete and in range, and so are the defaults",
    appliesTo: isGenerated,
    check({ environment, level }) {
      expect(resolveParameters(environment, level.parameters)).toEqual({ kind: "ok", parameters: level.parameters });
      expect(resolveParameters(environment, {}).kind).toBe("ok");
    },
  },
  {
    title: "the same key gives the same bytes",
    appliesTo: every,
    check(subject) {
      const { environment, tasks, pools } = subject;
      expect(tasksOf(subject, pools.values().next().value, TASKS)).toEqual(tasks);
      for (const { instance } of tasks) {
        for (const format of environment.answerFormats) {
          expect(environment.render(instance, format)).toEqual(environment.render(instance, format));
        }
      }
    },
  },
  {
    title: "an instance restored is the instance issued, with its hash",
    appliesTo: every,
    check({ environment, tasks, pools }) {
      for (const { origin, instance, hash } of tasks) {
        expect(restore(environment, origin, pools)).toEqual({ kind: "ok", instance });
        expect(instanceHash(environment, instance)).toBe(hash);
      }
    },
  },
  {
    title: "an instance lies in the split asked for, and in the others exactly if its level is small",
    appliesTo: isGenerated,
    check({ environment, level, tasks }) {
      for (const [i, { instance }] of tasks.entries()) {
        const own = SPLITS.filter((split) => liesIn(environment, instance, split));
        expect(own).toEqual(level.small === true ? SPLITS : [SPLITS[i % 3]]);
      }
    },
  },
  {
    title: "the level is small exactly if it has fewer instances than can be divided among splits",
    appliesTo: isGenerated,
    check({ environment, level }) {
      // A small level soon repeats itself, and others do not run out.
      const found = new Set<string>();
      for (let i = 0; i < DRAWS_MAX && found.size < SMALL; i++) {
        const instance = environment.generator?.generate(level.parameters, rngFor("small", i));
        if (instance !== undefined) found.add(environment.canonical(instance));
      }
      expect(found.size < SMALL).toBe(level.small === true);
    },
  },
  {
    title: "an instance that travels in a task id comes back as it was",
    appliesTo: ({ inline }) => inline !== undefined,
    check({ environment, tasks }) {
      const { inline } = environment;
      for (const { instance, hash } of tasks) {
        const bytes = inline?.encode(instance);
        if (bytes === undefined) continue;
        const back = inline?.decode(bytes);
        expect(back).toEqual(instance);
        // Two that are equal may still be written differently, e.g. by the order of an object's members.
        expect(instanceHash(environment, back)).toBe(hash);
      }
    },
  },
  {
    title: "a generator accepts what it issued",
    appliesTo: ({ generator }) => generator?.accepts !== undefined,
    check({ environment: { generator }, level, tasks }) {
      for (const { instance } of tasks) expect(generator?.accepts?.(instance, level.parameters)).toBe(true);
    },
  },
  {
    title: "a row is of the level that it is issued for",
    appliesTo: ({ generator, rows }) => generator === undefined && rows !== undefined,
    check({ environment: { rows }, level, tasks }) {
      for (const { instance } of tasks) expect(rows?.levelOf(instance)).toBe(level.name);
    },
  },
  {
    title: "the prompt asks for the format",
    appliesTo: every,
    check({ environment, tasks }) {
      for (const { instance } of tasks) {
        for (const format of environment.answerFormats) {
          const last = environment.render(instance, format).at(-1);
          expect(last).toMatchObject({ role: "user" });
          expect(last?.content.endsWith(formatInstruction(format))).toBe(true);
        }
      }
    },
  },
  {
    title: "neither the prompt nor the metadata holds the answer or the baseline",
    appliesTo: (environment) => isSolved(environment) && !CHOICES.includes(environment.id),
    check({ environment, tasks }) {
      for (const issued of tasks) {
        const { instance, baseline } = issued;
        const metadata = environment.metadata(instance);
        if (baseline !== undefined) expect(Object.values(metadata)).not.toContain(`${baseline.value}`);
        for (const format of environment.answerFormats) {
          const shown = JSON.stringify([environment.render(instance, format), metadata]);
          expect(shown).not.toMatch(standingAlone(solved(environment, issued).text));
        }
      }
    },
  },
];

/** Matches the text if it is no part of a longer number: "-2" does not match in "-22/7". */
function standingAlone(text: string): RegExp {
  const escaped = text.replaceAll(/[^\w\s]/g, "\\$&");
  return new RegExp(`(?<![\\d./])${escaped}(?![\\d/]|\\.\\d)`);
}
