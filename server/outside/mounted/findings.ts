/** Reads and checks what a provider found of an answer, for a wrong number must become no reward. */
import { type Facts, type Findings, type GradedComponent, malformed } from "../../../envs/facts.ts";
import { onOneLine } from "../../../envs/lib/words.ts";
import { Verdict } from "../../../proto/gen/gradus/v1/outcome_pb.js";
import type { ProvidedFacts } from "../../../proto/gen/gradus/v1/provider_pb.js";
import type { Described } from "./described.ts";

const INFO_MAX = 16;
const INFO_LENGTH_MAX = 1000;
const WORDS_LENGTH_MAX = 2000;

export type ReadFacts =
  | { readonly kind: "facts"; readonly facts: Findings }
  /** What the provider sent is no finding: in words. */
  | { readonly kind: "wrong"; readonly why: string };

const wrong = (why: string): ReadFacts => ({ kind: "wrong", why });

export function readFacts(environment: Pick<Described, "goal" | "components">, wire: ProvidedFacts): ReadFacts {
  const excess = excessOf(wire);
  if (excess !== undefined) return wrong(excess);
  const violation = onOneLine(wire.violation);
  const info = infoOf(wire.info);
  const isGraded = environment.components.length > 0;
  switch (wire.verdict) {
    case Verdict.MALFORMED:
      return { kind: "facts", facts: malformed(violation === "" ? "the verifier cannot read it" : violation) };
    case Verdict.INFEASIBLE: {
      const said = violation === "" ? "the verifier takes it for wrong" : violation;
      if (isGraded) return { kind: "facts", facts: ungraded(environment.components, said, info) };
      return { kind: "facts", facts: { kind: "infeasible", violation: said, ...info } };
    }
    case Verdict.FEASIBLE:
      return isGraded
        ? wrong("it found an answer feasible, and its answers are graded")
        : feasible(environment, wire, info);
    case Verdict.GRADED:
      return isGraded
        ? graded(environment.components, wire, violation, info)
        : wrong("it graded, and has no components");
    default:
      return wrong(`its verdict is ${wire.verdict}`);
  }
}

type Info = { readonly info?: Readonly<Record<string, string>> };

function feasible({ goal }: Pick<Described, "goal">, { objective }: ProvidedFacts, info: Info): ReadFacts {
  if (goal === "satisfy") return { kind: "facts", facts: { kind: "feasible", ...info } };
  if (objective === undefined || !Number.isFinite(objective))
    return wrong(`the objective of a feasible answer is ${objective ?? "missing"}`);
  return { kind: "facts", facts: { kind: "feasible", objective, ...info } };
}

function graded(components: Described["components"], wire: ProvidedFacts, violation: string, info: Info): ReadFacts {
  const values = new Map(wire.components.map(({ name, ...rest }) => [name, rest]));
  const strange = wire.components.find(({ name }) => !components.some((each) => each.name === name));
  if (strange !== undefined || values.size !== wire.components.length)
    return wrong(`it graded '${onOneLine(strange?.name ?? "a component twice").slice(0, 64)}', which it does not have`);
  const read: GradedComponent[] = [];
  for (const { name } of components) {
    const { value, reason = "it was not graded" } = values.get(name) ?? {};
    if (value === undefined)
      read.push({ name, value: undefined, reason: onOneLine(reason).slice(0, WORDS_LENGTH_MAX) });
    // Written so that NaN is out of range.
    else if (value >= 0 && value <= 1) read.push({ name, value });
    else return wrong(`its component '${name}' is ${value}, and must be from 0 to 1`);
  }
  if (read[0]?.value === undefined) return wrong(`its component '${components[0]?.name}' has no value, and decides`);
  const facts: Facts = { kind: "graded", components: read, solved: wire.solved, ...info };
  return { kind: "facts", facts: violation === "" ? facts : { ...facts, violation } };
}

/** Of an answer that cannot be graded: no part of it is met. */
function ungraded(components: Described["components"], violation: string, info: Info): Facts {
  return {
    kind: "graded",
    components: components.map(({ name }) => ({ name, value: 0 })),
    solved: false,
    violation,
    ...info,
  };
}

/** Which rule of provider.proto on sizes is broken; undefined: none. */
function excessOf({ violation, info }: ProvidedFacts): string | undefined {
  const texts = Object.values(info);
  if (texts.length > INFO_MAX) return `its info has ${texts.length} entries, and the limit is ${INFO_MAX}`;
  if (texts.some((text) => isLonger(text, INFO_LENGTH_MAX)))
    return `an entry of its info has more than ${INFO_LENGTH_MAX} characters`;
  return isLonger(violation, WORDS_LENGTH_MAX)
    ? `its violation has more than ${WORDS_LENGTH_MAX} characters`
    : undefined;
}

/** Characters are code points: two UTF-16 units at most. */
const isLonger = (text: string, max: number): boolean =>
  text.length > 2 * max || (text.length > max && [...text].length > max);

function infoOf(wire: ProvidedFacts["info"]): Info {
  const entries = Object.entries(wire);
  if (entries.length === 0) return {};
  const words = entries.map(([name, text]) => [name.slice(0, 64), onOneLine(text)]);
  return { info: Object.fromEntries(words) as Readonly<Record<string, string>> };
}
