/** Checks the laws that every environment obeys at every level: Gradus's own environments and those of the tests. */
import { describe, expect, test } from "vitest";
import { wrapAnswer } from "../../envs/answers/wording.ts";
import type { Environment } from "../../envs/environment.ts";
import { restore } from "../../envs/instances.ts";
import { rowAt, rowCount } from "../../envs/pool.ts";
import { environments } from "../../envs/registry.ts";
import { score } from "../../envs/score.ts";
import { instanceHash } from "../../envs/splits.ts";
import { fixtures } from "../support/environments/fixtures.ts";
import { poolsOf, scoreTask } from "./every.ts";
import { answerLaws, longLaw } from "./laws/answer-laws.ts";
import { hostileLaws } from "./laws/hostile-laws.ts";
import { type Law, solved, type Subject, subjectsOf, TASKS } from "./laws/law.ts";
import { taskLaws } from "./laws/task-laws.ts";
import { turnLaws } from "./laws/turn-laws.ts";

const all = [...environments, ...(await fixtures())];

for (const environment of all) {
  // The tests of scoring check the answers of environments that need an outside resource.
  if (environment.resource === undefined)
    holdTo(subjectsOf(environment), [...taskLaws, ...answerLaws, ...hostileLaws, ...turnLaws]);
  else holdTo(subjectsOf(environment), taskLaws);
}

function holdTo<E extends Environment>(subjects: readonly Subject<E>[], all: readonly Law<E>[]): void {
  // With fewer than a thousand possible answers, a random one is soon right by chance.
  const first = subjects.find(({ level }) => level.small !== true);
  for (const subject of subjects) {
    const { environment } = subject;
    const laws = all.filter((law) => law.appliesTo(environment));
    describe(subject.title, () => {
      test.each(laws)("$title", (law) => law.check(subject));
      if (subject === first && environment.resource === undefined)
        test(longLaw.title, () => longLaw.check({ ...subject, environment }));
    });
  }
}

describe.each([...poolsOf(all).values()].map((pool) => [pool.name, pool] as const))("pool %s", (_, pool) => {
  test("its rows are tasks, as good as generated ones", () => {
    const environment = pool.definition;
    const pools = new Map([[pool.name, pool]]);
    expect(pool.reasons).toEqual([]);
    for (const level of environment.levels) {
      if (level.evaluationOnly !== true) expect(rowCount(pool, level.name, "train"), level.name).toBeGreaterThan(0);
      for (let ordinal = 0; ordinal < TASKS && rowCount(pool, level.name, "train") > 0; ordinal++) {
        const result = rowAt(pool, level.name, "train", 3n, ordinal);
        if (result.kind !== "made") throw new Error(result.message);
        const issued = { ...result.key, instance: result.instance };
        const { origin, hash, instance } = issued;
        expect(restore(environment, origin, pools)).toEqual({ kind: "ok", instance });
        expect(instanceHash(environment, instance)).toBe(hash);
        expect(environment.rows?.levelOf(instance)).toBe(level.name);
        if (environment.solver === undefined || environment.resource !== undefined) continue;
        const { text } = solved(environment, issued);
        const scored = score(scoreTask(environment, issued, "boxed"), wrapAnswer(text, "boxed"));
        expect(scored.solved).toBe(true);
      }
    }
  });
});
