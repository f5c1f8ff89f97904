/** The students that are judged. */
import { familyOf } from "../../cli/research/simulate/families.ts";
import type { Family } from "../../server/curriculum/simulation/student.ts";
import { students } from "../../server/curriculum/simulation/students.ts";

/** Ours, and those of files. */
export async function familiesFrom(files: readonly string[]): Promise<readonly Family[]> {
  const found = await Promise.all(files.map(familyOf));
  const theirs = found.map((result) => {
    if (result.kind === "invalid") throw new Error(result.message);
    return result.family;
  });
  return [...students, ...theirs];
}
