/** Our students, and those of files. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Family } from "../../../server/curriculum/simulation/student.ts";
import { students } from "../../../server/curriculum/simulation/students.ts";

export type FamilyResult =
  | { readonly kind: "found"; readonly family: Family }
  /** There is no such file. */
  | { readonly kind: "missing"; readonly message: string }
  | { readonly kind: "invalid"; readonly message: string };

function isFamily(value: unknown): value is Family {
  if (typeof value !== "object" || value === null) return false;
  return "name" in value && "models" in value && "create" in value && typeof value.create === "function";
}

/** A file exports `student`, a Family (server/curriculum/simulation/student.ts). */
async function familyOfFile(file: string): Promise<FamilyResult> {
  if (!existsSync(file)) return { kind: "missing", message: `${file}: there is no such file` };
  let module: unknown;
  try {
    module = await import(pathToFileURL(resolve(file)).href);
  } catch (error) {
    return { kind: "invalid", message: `${file}: ${error instanceof Error ? error.message : String(error)}` };
  }
  const family = typeof module === "object" && module !== null && "student" in module ? module.student : undefined;
  if (isFamily(family)) return { kind: "found", family };
  return { kind: "invalid", message: `${file} must export "student", with a name, what it models, and create()` };
}

/** A student of ours by its name, or of a file. */
export async function familyOf(nameOrFile: string): Promise<FamilyResult> {
  const family = students.find(({ name }) => name === nameOrFile);
  if (family !== undefined) return { kind: "found", family };
  if (/[./\\]/.test(nameOrFile)) return familyOfFile(nameOrFile);
  const names = students.map(({ name }) => `"${name}"`).join(", ");
  return { kind: "invalid", message: `there is no student "${nameOrFile}": want one of ${names}, or a file` };
}
