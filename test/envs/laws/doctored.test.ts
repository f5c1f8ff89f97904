/**
 * Tests that the laws find verifiers with planted faults, even if the environment does not say what its answers name.
 */
import { describe, expect, test } from "vitest";
import { wrapAnswer } from "../../../envs/answers/wording.ts";
import type { SyncEnvironment } from "../../../envs/environment.ts";
import type { Facts } from "../../../envs/facts.ts";
import type { Graph } from "../../../envs/lib/graph.ts";
import type { Issued } from "../every.ts";
import { score } from "../../../envs/score.ts";
import { mastermind } from "../../../envs/games/mastermind/index.ts";
import type { Turns } from "../../../envs/turns/turns.ts";
import { vertexCover } from "../../support/environments/vertex-cover/index.ts";
import { formProblem, type Rack, words, type Words } from "../../support/environments/words.ts";
import { openEdge } from "../../support/environments/vertex-cover/verify.ts";
import { scoreTask, synchronous } from "../every.ts";
import { answerLaws } from "./answer-laws.ts";
import { hostileLaws } from "./hostile-laws.ts";
import { taskLaws } from "./task-laws.ts";
import { turnLaws } from "./turn-laws.ts";
import { countOf, type Law, solved, solverOf, type Subject, subjectsOf } from "./law.ts";

type List = readonly number[];
type Verify = (instance: unknown, answer: unknown) => Facts;

const LAWS = [...taskLaws, ...answerLaws, ...hostileLaws, ...turnLaws];

/** Whether the environment breaks a law, with these tasks of the sound one. */
function breaks(environment: SyncEnvironment, { title, level, tasks, pools }: Subject, law: Law): boolean {
  if (!law.appliesTo(environment)) return false;
  try {
    law.check({ environment, title, level, tasks, pools });
    return false;
  } catch {
    return true;
  }
}

/** Titles of the laws that the environment breaks. */
function brokenBy(environment: SyncEnvironment, subject: Subject): readonly string[] {
  return LAWS.filter((law) => breaks(environment, subject, law)).map((law) => law.title);
}

/** Fails unless the environment breaks the law with this title; it may break others too. */
function expectBroken(environment: SyncEnvironment, subject: Subject, title: string): void {
  const broken = LAWS.filter((law) => law.title === title && breaks(environment, subject, law));
  expect(broken.map((law) => law.title)).toEqual([title]);
}

const WRONG = "no answer made to be wrong is taken";
const SPLIT = "an instance lies in the split asked for, and in the others exactly if its level is small";
const ORDER = "the order of the answer counts where the environment says so, and only there";

/** Environments whose answers are one list. */
const listed = [...synchronous, vertexCover].filter(({ id, shape }) => shape !== undefined && id !== "np/bisection");
const named = listed.filter(({ shape }) => shape?.kind !== "labels");

/** Faulty verifiers' ways to repair a list before it is verified; the objective is that of the repaired list. */
const LAX: readonly (readonly [string, (list: List, count: number) => List])[] = [
  ["takes numbers that come twice", (list) => [...new Set(list)]],
  ["takes numbers out of range", (list, count) => list.filter((number) => number >= 0 && number < count)],
  ["takes negative numbers for positive ones", (list) => list.map(Math.abs)],
  ["takes lists that go on after a number out of range", (list, count) => list.slice(0, firstOutside(list, count))],
];

function firstOutside(list: List, count: number): number {
  const at = list.findIndex((number) => !(number >= 0 && number < count));
  return at < 0 ? list.length : at;
}

function withVerify(environment: SyncEnvironment, verify: Verify): SyncEnvironment {
  return { ...environment, verify };
}

function withoutShape({ shape: _, ...environment }: SyncEnvironment): SyncEnvironment {
  return environment;
}

describe.each(named)("$id", (environment) => {
  const [subject] = subjectsOf(environment) as [Subject];

  test("breaks no law as it is, nor without its shape", () => {
    expect(brokenBy(environment, subject)).toEqual([]);
    expect(brokenBy(withoutShape(environment), subject)).toEqual([]);
  });

  test.each(LAX)("is found out where its verifier %s", (_, lax) => {
    const verify: Verify = (instance, answer) =>
      environment.verify(instance, lax(answer as List, countOf(environment, instance) ?? 0));
    expectBroken(withVerify(environment, verify), subject, WRONG);
    expectBroken(withoutShape(withVerify(environment, verify)), subject, WRONG);
  });
});

describe("a verifier of vertex covers that counts what is listed", () => {
  const [subject] = subjectsOf(vertexCover) as [Subject];
  const counting = (verify: (graph: Graph, cover: List) => string | undefined): SyncEnvironment =>
    withVerify(vertexCover, (graph, cover) => {
      const violation = verify(graph as Graph, cover as List);
      const objective = (cover as List).length;
      return violation === undefined ? { kind: "feasible", objective } : { kind: "infeasible", violation };
    });

  test("but forgets about repeats and range is found out, though such answers are worth less than the optimum", () => {
    const planted = counting(openEdge);
    expect(brokenBy(planted, subject)).toEqual([WRONG]);
    expect(brokenBy(withoutShape(planted), subject)).toEqual([WRONG]);
    const issued = subject.tasks[0] as Issued;
    const { text } = solved(vertexCover, issued);
    const again = wrapAnswer(text.replace("]", ", 0, 0, 99]"), "answer_tag");
    expect(score(scoreTask(planted, issued, "answer_tag"), again).verdict).toBe("feasible");
    expect(score(scoreTask(vertexCover, issued, "answer_tag"), again).verdict).toBe("infeasible");
  });

  test("but not whether every edge is covered is found out", () => {
    expectBroken(
      counting(() => undefined),
      subject,
      WRONG,
    );
  });
});

describe("an environment of words", () => {
  const [subject] = subjectsOf(words) as [Subject];
  /** Any letter that is given, so often. */
  const upTo = (times: number): SyncEnvironment =>
    withVerify(words, (instance, answer) => {
      const [rack, used] = [instance as Rack, Array.from((answer as Words).join(""))];
      const often = (letter: string, among: List | readonly string[]): number =>
        among.filter((each) => each === letter).length;
      const isLax = used.every(
        (letter) =>
          rack.letters.includes(letter) && often(letter, used) <= Math.max(times, often(letter, rack.letters)),
      );
      const violation = formProblem(rack, answer as Words);
      return isLax && violation === undefined
        ? { kind: "feasible" }
        : { kind: "infeasible", violation: violation ?? "its letters" };
    });

  test("breaks no law as it is, and has to say that a letter may be another one that is given", () => {
    expect(brokenBy(words, subject)).toEqual([]);
    expect(brokenBy(withoutShape(words), subject)).toEqual([WRONG]);
  });

  test("is found out where its verifier takes one letter three times", () => {
    expect(brokenBy(upTo(3), subject)).toEqual([WRONG]);
  });
});

function registered(id: string): SyncEnvironment {
  return synchronous.find((environment) => environment.id === id) as SyncEnvironment;
}

describe("a verifier that ignores", () => {
  test("the order of a route", () => {
    const hamiltonian = registered("np/hamiltonian");
    const [subject] = subjectsOf(hamiltonian) as [Subject];
    // The planted fault accepts any set of vertices as a cycle while it is no longer than the longest cycle.
    const longest = new Map(subject.tasks.map(({ instance, baseline }) => [instance, baseline?.value ?? 0]));
    const lax = withVerify(hamiltonian, (instance, answer) => {
      const list = answer as List;
      const isSet = new Set(list).size === list.length && list.every((v) => v >= 0 && v < (instance as Graph).vertices);
      if (!isSet || list.length > (longest.get(instance) ?? 0)) return { kind: "infeasible", violation: "no set" };
      return { kind: "feasible", objective: list.length };
    });
    expect(brokenBy(lax, subject)).toEqual([ORDER]);
  });

  test("cities that a tour leaves out", () => {
    const tsp = registered("np/tsp");
    const [subject] = subjectsOf(tsp) as [Subject];
    const lax = withVerify(tsp, (instance, answer) => {
      const left = Array.from({ length: countOf(tsp, instance) ?? 0 }, (_, city) => city);
      const rest = left.filter((city) => !(answer as List).includes(city));
      return tsp.verify(instance, [...(answer as List), ...rest]);
    });
    expect(brokenBy(lax, subject)).toEqual([WRONG]);
  });

  test("how many labels there are", () => {
    const coloring = registered("np/coloring");
    const [subject] = subjectsOf(coloring) as [Subject];
    const lax = withVerify(coloring, (instance, answer) =>
      coloring.verify(instance, (answer as List).slice(0, countOf(coloring, instance))),
    );
    expect(brokenBy(lax, subject)).toEqual([WRONG]);
    expect(brokenBy(coloring, subject)).toEqual([]);
  });

  test("the order of labels", () => {
    const coloring = registered("np/coloring");
    const [subject] = subjectsOf(coloring) as [Subject];
    const lax = withVerify(coloring, (instance, answer) => {
      const list = answer as List;
      if (list.length !== countOf(coloring, instance)) return { kind: "infeasible", violation: "its length" };
      const best = subject.tasks.find((task) => task.instance === instance)?.baseline?.value ?? 0;
      const objective = Math.max(best, new Set(list).size);
      return { kind: "feasible", objective };
    });
    expectBroken(lax, subject, ORDER);
  });
});

describe("an environment of few instances", () => {
  const [sequence] = synchronous.filter(({ id }) => id === "sequence/reverse") as [SyncEnvironment];
  const [few, , many] = subjectsOf(sequence) as [Subject, Subject, Subject];
  const declared = (subject: Subject, small: boolean): Subject => ({ ...subject, level: { ...subject.level, small } });
  const COUNT = "the level is small exactly if it has fewer instances than can be divided among splits";

  test("breaks no law as it is", () => {
    expect([few.level.small, many.level.small]).toEqual([true, false]);
    expect([...brokenBy(sequence, few), ...brokenBy(sequence, many)]).toEqual([]);
  });

  test("is found out where it does not say so, or says so of many", () => {
    expectBroken(sequence, declared(few, false), COUNT);
    expectBroken(sequence, declared(many, true), COUNT);
  });

  test("is found out where they lie in one split for all that it says", () => {
    expectBroken({ ...sequence, inEverySplit: () => false }, few, SPLIT);
    expectBroken({ ...sequence, inEverySplit: () => true }, many, SPLIT);
  });
});

describe("an environment is found out, whichever law it breaks", () => {
  const [subject] = subjectsOf(words) as [Subject];
  const solver = solverOf(words);
  let calls = 0;
  const plants: readonly (readonly [title: string, broken: string, plant: Partial<SyncEnvironment>])[] = [
    ["a name with a space", "the environment is named, described and priced", { id: "test/two words" }],
    [
      "instances by chance",
      "the same key gives the same bytes",
      {
        generator: {
          ...words.generator!,
          generate: (of, rng) => ({ ...(words.generator!.generate(of, rng) as Rack), calls: calls++ }),
        },
      },
    ],
    [
      "an instance that comes back without a letter",
      "an instance that travels in a task id comes back as it was",
      {
        inline: {
          encode: (of) => Buffer.from(JSON.stringify(of)),
          decode: (bytes) => ({ ...(JSON.parse(Buffer.from(bytes).toString()) as Rack), letters: [] }),
        },
      },
    ],
    [
      "a prompt without its format",
      "the prompt asks for the format",
      { render: () => [{ role: "user", content: "Write words." }] },
    ],
    [
      "metadata with the answer",
      "neither the prompt nor the metadata holds the answer or the baseline",
      { metadata: (of) => ({ answer: solver.format(solver.solve(of).answer) }) },
    ],
    [
      "a solver that is wrong",
      "the solver's answer is feasible, of the solver's value, proven and within its nodes",
      { solver: { ...solver, solve: (of) => ({ ...solver.solve(of), answer: ["zz"] }) } },
    ],
    [
      "an answer read as another",
      "an answer read back is the answer written, in every format",
      { parse: () => ({ kind: "answer", answer: [] }) },
    ],
    [
      "a verifier that takes all",
      "random completions are malformed, infeasible or trivial",
      { parse: (text) => ({ kind: "answer", answer: [text] }), verify: () => ({ kind: "feasible" }) },
    ],
  ];

  test.each(plants)("%s", (_, broken, plant) => {
    expectBroken({ ...words, ...plant }, subject, broken);
  });
});

describe("an environment with turns", () => {
  const [subject] = subjectsOf(mastermind as SyncEnvironment) as [Subject];
  const sound = mastermind.turns as Turns<unknown>;
  const advance: typeof sound.advance = (...call) => sound.advance(...call);
  let calls = 0;
  const plants: readonly (readonly [title: string, broken: string, turns: Partial<typeof sound>])[] = [
    [
      "that counts its calls outside of the state",
      "equal calls get equal replies, and none throws or is silent",
      { advance: (...call) => ({ ...advance(...call), reply: `Call ${calls++}.` }) },
    ],
    [
      "that throws for arguments of a wrong type",
      "equal calls get equal replies, and none throws or is silent",
      {
        advance(instance, state, action, rng) {
          if (action.kind === "tool") (action.arguments["code"] as number[]).slice();
          return advance(instance, state, action, rng);
        },
      },
    ],
    [
      "whose states grow beyond their bound",
      "a state is never longer than its bound, and by default an id is never too long",
      { stateBytesMax: () => 8 },
    ],
    [
      "whose states hold more than their encoding",
      "calls in one message lead to where they lead one by one",
      {
        advance(instance, state, action, rng) {
          const result = advance(instance, state, action, rng);
          const made = ((state as { hidden?: number }).hidden ?? 0) + 1;
          return { ...result, reply: `Call ${made}.`, state: Object.assign({ ...result.state }, { hidden: made }) };
        },
      },
    ],
    [
      "that tells the answer",
      "no reply holds the answer before it was given",
      {
        advance(instance, state, action, rng) {
          const { secret } = instance as { readonly secret: readonly number[] };
          return { ...advance(instance, state, action, rng), reply: `It is not [${secret.join(", ")}].` };
        },
      },
    ],
  ];

  test.each(plants)("%s is found", (_, broken, turns) => {
    expectBroken({ ...mastermind, turns: { ...sound, ...turns } }, subject, broken);
  });

  test("that is sound breaks none", () => {
    expect(turnLaws.filter((law) => breaks(mastermind as SyncEnvironment, subject, law))).toEqual([]);
  });
});
