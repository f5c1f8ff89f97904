/** Our students, and those of files. */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Family } from "../../server/simulation/student.ts";
import { students } from "../../server/simulation/students.ts";

function isFamily(value: unknown): value is Family {
  if (typeof value !== "object" || value === null) return false;
  return "name" in value && "models" in value && "create" in value && typeof value.create === "function";
}

/** A file exports `student`, a Family (server/simulation/student.ts). */
async function familyOf(file: string): Promise<Family> {
  const module: unknown = await import(pathToFileURL(resolve(file)).href);
  const found = typeof module === "object" && module !== null && "student" in module ? module.student : undefined;
  if (!isFamily(found)) throw new Error(`${file} must export "student", with a name, what it models, and create()`);
  return found;
}

export async function familiesFrom(files: readonly string[]): Promise<readonly Family[]> {
  return [...students, ...(await Promise.all(files.map(familyOf)))];
}
