/**
 * Reads what a provider's verifier found out about an answer (its facts), and checks it, so that an invalid number
 * never becomes a reward.
 */
import { type Facts, type Findings, type GradedComponent, malformed } from "../../../envs/facts.ts";
import { onOneLine } from "../../../envs/lib/escape.ts";
import { Verdict } from "../../../proto/gen/gradus/v1/outcome_pb.js";
import type { ProvidedFacts } from "../../../proto/gen/gradus/v1/provider_pb.js";
import { ON_FACTS, type Terms } from "./message-rules.ts";
import type { VerifyResult } from "./provider.ts";
import { problemOf } from "./rules.ts";

const REASON_LENGTH_MAX = 2000;

export type ReadFacts =
  | { readonly kind: "facts"; readonly facts: Findings }
  /** The provider's message breaks a rule. `why` names the rule. */
  | { readonly kind: "wrong"; readonly why: string };

export function readFacts(environment: Terms, wire: ProvidedFacts): ReadFacts {
  const why = problemOf(ON_FACTS, wire, environment);
  if (why !== undefined) return { kind: "wrong", why };
  const { goal, components } = environment;
  const violation = onOneLine(wire.violation);
  const info = infoOf(wire.info);
  const read = (facts: Findings): ReadFacts => ({ kind: "facts", facts });
  switch (wire.verdict) {
    case Verdict.MALFORMED:
      return read(malformed(violation === "" ? "the verifier cannot read the answer" : violation));
    case Verdict.FEASIBLE:
      return read({
        kind: "feasible",
        ...(goal !== "satisfy" && wire.objective !== undefined && { objective: wire.objective }),
        ...info,
      });
    case Verdict.GRADED: {
      const facts: Facts = { kind: "graded", components: gradesOf(components, wire), solved: wire.solved, ...info };
      return read(violation === "" ? facts : { ...facts, violation });
    }
    default: {
      const said = violation === "" ? "the verifier says that the answer is wrong" : violation;
      if (components.length > 0) return read(ungraded(components, said, info));
      return read({ kind: "infeasible", violation: said, ...info });
    }
  }
}

/** Returns whether the answer counts as right. False if the verifier gave no verdict. */
export function isRight(environment: Terms, verified: VerifyResult): boolean {
  const read = verified.kind === "facts" ? readFacts(environment, verified.facts) : verified;
  if (read.kind !== "facts") return false;
  return read.facts.kind === "feasible" || (read.facts.kind === "graded" && read.facts.solved);
}

type Info = { readonly info?: Readonly<Record<string, string>> };

function gradesOf(components: Terms["components"], wire: ProvidedFacts): readonly GradedComponent[] {
  return components.map(({ name }): GradedComponent => {
    const { value, reason = "it was not graded" } = wire.components.find((each) => each.name === name) ?? {};
    return value === undefined
      ? { name, value, reason: onOneLine(reason).slice(0, REASON_LENGTH_MAX) }
      : { name, value };
  });
}

/** Returns the facts for a wrong answer if the environment grades components: each component is 0. */
function ungraded(components: Terms["components"], violation: string, info: Info): Facts {
  return {
    kind: "graded",
    components: components.map(({ name }) => ({ name, value: 0 })),
    solved: false,
    violation,
    ...info,
  };
}

function infoOf(wire: ProvidedFacts["info"]): Info {
  const entries = Object.entries(wire);
  if (entries.length === 0) return {};
  const words = entries.map(([name, text]) => [name.slice(0, 64), onOneLine(text)]);
  return { info: Object.fromEntries(words) as Readonly<Record<string, string>> };
}
