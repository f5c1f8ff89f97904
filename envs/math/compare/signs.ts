/**
 * Algebra takes sgn u for |u|/u, which has no value where sgn u is 0: what it finds equal is so but there, and is looked at
 * where each u vanishes, alone and together.
 */
import { evaluate } from "../evaluate.ts";
import { fractionOf } from "../exact/normal.ts";
import { signOfAll } from "../exact/one-sign.ts";
import { newRing } from "../exact/ring.ts";
import { type Num, signOf, wholeNum } from "../numbers/arithmetic.ts";
import { children, type Node, show, withChildren } from "../syntax.ts";
import { algebraOf } from "./algebra.ts";
import { lineAlong } from "./lines.ts";
import { type Comparison, EQUAL, type State, undecided } from "./outcome.ts";
import { pointPlace } from "./places.ts";
import { rngFor } from "../../lib/rng.ts";

type Point = ReadonlyMap<string, Num>;

/** Of expressions that are equal wherever nothing that a sign is taken of vanishes. `look`: what refutes them at a point. */
export function compareAtSigns(
  gold: Node,
  answer: Node,
  variables: readonly string[],
  state: State,
  look: (point: Point) => Comparison | undefined,
): Comparison {
  const signed = new Map([...signedIn(gold), ...signedIn(answer)].map((node) => [show(node), node] as const));
  if (signed.size === 0 || algebraOf(opaque(gold), opaque(answer), true, state).gap?.size === 0) return EQUAL;
  const open = new Set([...signed.values()].filter((node) => !hasOneSign(node, state)));
  for (const point of vanishingPoints([...open], variables, state)) {
    const refuted = look(point);
    if (refuted !== undefined) return refuted;
    for (const node of open) {
      const value = evaluate(node, pointPlace(state, true, "e", point));
      if (value !== undefined && signOf(value) === 0) open.delete(node);
    }
  }
  return open.size === 0 ? EQUAL : undecided("it may differ where what a sign is taken of is 0");
}

function signedIn(node: Node): readonly Node[] {
  const inside = children(node).flatMap(signedIn);
  const [of] = node.kind === "call" && node.name === "sgn" ? node.args : [];
  return of === undefined ? inside : [of, ...inside];
}

/** With signs of which nothing is known. */
function opaque(node: Node): Node {
  const inside = withChildren(node, opaque);
  return inside.kind === "call" && inside.name === "sgn" ? { ...inside, name: "the sign of" } : inside;
}

function hasOneSign(node: Node, { budget }: State): boolean {
  const ring = newRing(budget, true);
  const fraction = fractionOf(node, ring);
  return fraction !== undefined && signOfAll(fraction.num, ring) !== undefined;
}

const CORNERS_MAX = 100;

function vanishingPoints(nodes: readonly Node[], variables: readonly string[], state: State): readonly Point[] {
  const rng = rngFor("math-signs", state.seed);
  const found = nodes.map((node) => algebraOf(node, { kind: "number", value: { num: 0n, den: 1n } }, true, state));
  const along = (name: string, most: number): readonly Point[] =>
    found.flatMap(({ gap, ...rest }) => {
      const others = variables
        .filter((each) => each !== name)
        .map((each) => [each, BigInt(rng.int(-most, most))] as const);
      return lineAlong(name, new Map(others), { ...rest, gap, turns: gap ? [gap] : [] }, false, rng).points;
    });
  const corners = variables.reduce<readonly Point[]>(
    (points, name) => {
      const values = along(name, 0)
        .flatMap((point) => point.get(name) ?? [])
        .filter((value) => value.kind === "exact");
      return points.flatMap((point) => [wholeNum(0n), ...values].map((value) => new Map([...point, [name, value]])));
    },
    [new Map()],
  );
  return [...variables.flatMap((name) => along(name, 9)), ...corners.slice(0, CORNERS_MAX)];
}
