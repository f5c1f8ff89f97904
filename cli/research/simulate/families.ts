/** Finds families of simulated students: those that ship with Gradus, and those in files. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Family, Student } from "../../../server/simulation/student.ts";
import { students } from "../../../server/simulation/students.ts";
import { CliProblem } from "../../problem.ts";

export type FamilyResult =
  | { readonly kind: "found"; readonly family: Family }
  /** The file does not exist. */
  | { readonly kind: "missing"; readonly message: string }
  | { readonly kind: "invalid"; readonly message: string };

function isFamily(value: unknown): value is Family {
  if (typeof value !== "object" || value === null) return false;
  return "name" in value && "models" in value && "create" in value && typeof value.create === "function";
}

/**
 * Returns what is wrong with a simulated student that a file's create() made. Only its state before learning is
 * checked. Undefined if nothing is wrong.
 */
function wrongStudent(student: Partial<Student> | undefined, arms: number): string | undefined {
  const { learnable, target = NaN, initial, chance, success, learn } = student ?? {};
  if (![chance, success, learn].every((each) => typeof each === "function"))
    return "create() must give a student with functions chance, success and learn";
  if (!Array.isArray(learnable) || learnable.length !== arms)
    return `learnable must have a value for each of ${arms} arms`;
  if (!(target > 0 && target <= 1)) return `target must be above 0 and at most 1, not ${target}`;
  const shares = success?.(initial);
  if (shares?.length === arms && shares.every((share) => share >= 0 && share <= 1)) return undefined;
  return `success() must give a share from 0 to 1 of each of ${arms} arms`;
}

/**
 * Returns the family of simulated students with a check of each student that create() makes. Results of an invalid
 * student would be meaningless.
 */
function checkedFamily(file: string, family: Family): Family {
  return {
    ...family,
    create(seed, places) {
      const student = family.create(seed, places);
      const wrong = wrongStudent(student, places.length);
      if (wrong !== undefined) throw new CliProblem("usage", `--student: ${file}: ${wrong}`);
      return student;
    },
  };
}

/** Loads a file that exports `student`, a family of students (server/simulation/student.ts). */
async function familyOfFile(file: string): Promise<FamilyResult> {
  if (!existsSync(file)) return { kind: "missing", message: `${file}: there is no such file` };
  let module: unknown;
  try {
    module = await import(pathToFileURL(resolve(file)).href);
  } catch (error) {
    return {
      kind: "invalid",
      message: `${file} cannot be loaded: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
  const family = typeof module === "object" && module !== null && "student" in module ? module.student : undefined;
  if (isFamily(family)) return { kind: "found", family: checkedFamily(file, family) };
  return { kind: "invalid", message: `${file} must export "student", an object with name, models and create()` };
}

/** Returns the shipped family of this name, or the family that a file exports. */
export async function familyOf(nameOrFile: string): Promise<FamilyResult> {
  const family = students.find(({ name }) => name === nameOrFile);
  if (family !== undefined) return { kind: "found", family };
  if (/[./\\]/.test(nameOrFile)) return familyOfFile(nameOrFile);
  const names = students.map(({ name }) => `"${name}"`).join(", ");
  return { kind: "invalid", message: `there is no student "${nameOrFile}": give one of ${names}, or a file` };
}
