/** Tests that relabelled twins lie in one split, because a policy trained on one has seen the other. */
import { describe, expect, test } from "vitest";
import { hasTwins, relabel } from "./relabel.ts";
import { type Labelling, twinsOf } from "./twins.ts";
import type { Environment, Split } from "../../../envs/environment.ts";
import { graphOf, pairs } from "../../../envs/lib/graph.ts";
import { colourOf, refine } from "../../../envs/lib/structure-hash.ts";
import { rngFor } from "../../../envs/lib/rng.ts";
import { clique } from "../../../envs/np/clique/index.ts";
import { subsetSum } from "../../../envs/np/subset-sum/index.ts";
import { instanceHash, invariantOf, splitOf } from "../../../envs/splits.ts";
import { canonicalForm, classOf, graphRelations } from "../canonical-form.ts";
import { cases, issue, synchronous } from "../every.ts";

const SPLITS: readonly Split[] = ["train", "eval", "bench"];
/** Tasks of a split among which twins are looked for. */
const TASKS = 80;

const bySearch: Labelling = (environment, instances) => instances.map((instance) => classOf(environment, instance));

/** Returns the split that the written instance decides. */
function byInstance<Instance>(environment: Environment<Instance>): Environment<Instance> {
  return { ...environment, invariant: (instance) => environment.canonical(instance) };
}

describe.each(cases.filter((each) => hasTwins(each.environment)))("$title", (given) => {
  const { environment, level } = given;
  const splits = SPLITS.filter((split) => split !== "train" || level.evaluationOnly !== true);

  test("a twin lies in the same split, though it is another instance", () => {
    let other = 0;
    for (const split of splits) {
      for (let seed = 0; seed < 4; seed++) {
        const { instance, hash } = issue(given, BigInt(seed), split);
        for (let i = 0; i < 5; i++) {
          const twin = relabel(environment.id, instance, rngFor("twin", seed, i));
          expect(invariantOf(environment, twin)).toBe(invariantOf(environment, instance));
          expect(splitOf(environment, twin)).toBe(split);
          if (instanceHash(environment, twin) !== hash) other++;
        }
      }
    }
    // Countdown's hash does not count the order either.
    if (environment.invariant !== undefined) expect(other).toBeGreaterThan(0);
  });

  test("no split is nearly empty, and the invariant tells different tasks apart", () => {
    const drawn = Array.from({ length: 600 }, (_, i) =>
      environment.generator?.generate(level.parameters, rngFor("share", i)),
    ).filter((instance) => instance !== undefined);
    const bySplit = Map.groupBy(drawn, (instance) => splitOf(environment, instance));
    for (const split of SPLITS) expect((bySplit.get(split)?.length ?? 0) / drawn.length).toBeGreaterThan(0.04);
    expect(new Set(drawn.map((instance) => invariantOf(environment, instance))).size).toBeGreaterThan(300);
  });
});

describe.each(synchronous.filter(hasTwins).map((environment) => [environment.id, environment] as const))(
  "%s",
  (_, environment) => {
    const [easiest] = environment.levels;
    if (easiest === undefined) throw new Error(`${environment.id} has no levels`);

    test("no task has a twin in another split", () => {
      expect(twinsOf(environment, easiest, TASKS, bySearch)).toMatchObject({ eval: 0, bench: 0, mislabelled: 0 });
    });

    test("the split is that of every level and version", () => {
      const { instance } = issue({ title: "", environment, level: easiest }, 3n, "eval");
      const later = { version: environment.version + 1, levels: [] };
      expect(splitOf({ ...environment, ...later }, instance)).toBe("eval");
    });
  },
);

describe("what would be wrong is found", () => {
  test.each([clique, subsetSum] as readonly Environment[])("$id split by the instance", (environment) => {
    const [easiest] = environment.levels;
    if (easiest === undefined) throw new Error("no levels");
    const twins = twinsOf(byInstance(environment), easiest, TASKS, bySearch);
    expect(twins.eval + twins.bench).toBeGreaterThan(0);
    expect(twins.mislabelled).toBe(0);
  });

  test("a labelling that goes by names", () => {
    const named: Labelling = (_, instances) => instances.map((instance) => clique.canonical(instance as never));
    const [easiest] = clique.levels;
    if (easiest === undefined) throw new Error("no levels");
    expect(twinsOf(clique as Environment, easiest, TASKS, named).mislabelled).toBeGreaterThan(TASKS);
  });
});

/** Returns all graphs with the vertices 0 to vertices − 1. */
function allGraphs(vertices: number) {
  const all = [...pairs(vertices)];
  return Array.from({ length: 2 ** all.length }, (_, bits) => {
    const lists = Array.from({ length: vertices }, (): number[] => []);
    for (const [i, [a, b]] of all.entries()) if ((bits >>> i) % 2 === 1) lists[a]?.push(b);
    return graphOf(lists);
  });
}

test("the search tells the graphs of up to five vertices apart, of which there are 1, 2, 4, 11 and 34", () => {
  const classes = [1, 2, 3, 4, 5].map((vertices) => {
    const graphs = allGraphs(vertices);
    return new Set(graphs.map((graph) => canonicalForm(graphRelations(graph)))).size;
  });
  expect(classes).toEqual([1, 2, 4, 11, 34]);
});

describe("refinement", () => {
  const path = (colours: readonly number[], labels: readonly number[]): string =>
    refine({ colours, edges: labels.flatMap((label, i) => [i, i + 1, label]) });

  test("tells the graphs of up to five vertices apart, as there is no pair that looks alike", () => {
    for (const vertices of [1, 2, 3, 4, 5]) {
      const classes = Map.groupBy(allGraphs(vertices), (graph) => invariantOf(clique, graph));
      for (const own of classes.values()) {
        expect(new Set(own.map((graph) => canonicalForm(graphRelations(graph)))).size).toBe(1);
      }
    }
  });

  test("looks at colours, labels and how many nodes there are", () => {
    const plain = path([0, 0, 0], [1, 1]);
    expect(path([0, 0, 0], [1, 1])).toBe(plain);
    expect(plain).toMatch(/^[0-9a-f]{8}$/);
    const others = [path([0, 0, 1], [1, 1]), path([0, 1, 0], [1, 1]), path([0, 0, 0], [1, 2]), path([0, 0], [1])];
    expect(new Set([plain, ...others, path([0, 0, 0, 0], [1, 1])]).size).toBe(6);
    expect(path([1, 0, 0], [1, 2])).toBe(path([0, 0, 1], [2, 1]));
  });

  test("colours are of numbers in their order", () => {
    const colours = [[], [0], [0, 0], [1, 2], [2, 1], [12], [1, 2, 0]].map(colourOf);
    expect(new Set(colours).size).toBe(colours.length);
  });
});
