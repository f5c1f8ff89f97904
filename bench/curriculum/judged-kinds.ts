/** The kinds of students that are judged: the bench's own, and those from files. */
import { familyOf } from "../../cli/research/simulate/families.ts";
import type { Family } from "../../server/simulation/student.ts";
import { kinds } from "./kinds/kinds.ts";
import type { Kind } from "./kinds/kind.ts";
import { places, setting } from "./setting.ts";

/** Sets of kinds that a figure is taken over. */
export const sets = ["tuned on", "set apart", "others'"] as const;

export type KindSet = (typeof sets)[number];

export interface JudgedKind extends Omit<Kind, "apart"> {
  readonly set: KindSet;
}

/** A student of a file may set the arms and the shape of its runs. */
type Theirs = Family & Partial<Pick<Kind, "places" | "shape">>;

function theirKind(family: Theirs): JudgedKind {
  const shape = { ...setting, ...family.shape };
  return { ...family, places: family.places ?? places, shape, set: "others'" };
}

export async function judgedKinds(files: readonly string[]): Promise<readonly JudgedKind[]> {
  const found = await Promise.all(files.map(familyOf));
  const theirs = found.map((result) => {
    if (result.kind !== "found") throw new Error(result.message);
    return theirKind(result.family);
  });
  return [...kinds.map(({ apart, ...kind }): JudgedKind => ({ ...kind, set: apart ? sets[1] : sets[0] })), ...theirs];
}
