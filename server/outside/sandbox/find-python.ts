/** Finds the Python interpreter that the operator chose. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

const ASK = "import sys; print(sys.executable); print(*sys.version_info[:2])";
const ANSWER_MS_MAX = 20_000;
const OLDEST = [3, 10] as const;
const REMEDY = `install Python ${OLDEST.join(".")} or newer, or say where it is with --python`;

/** Returns the error text for an interpreter in which the package gradus.serve is not installed. */
export function withoutPackage(python: string): string {
  const remedy =
    "install it there (in a checkout: pip install ./clients/python; else the wheel that make release builds)";
  return `${python} has no Python package of Gradus: ${remedy}, or name another interpreter by --python, such as the .venv/bin/python of a checkout`;
}

export type FoundPython =
  { readonly kind: "found"; readonly path: string } | { readonly kind: "missing"; readonly why: string };

/** Resolves a name such as "python3" to the interpreter's path. The interpreter is later started without PATH. */
export async function findPython(name: string): Promise<FoundPython> {
  try {
    const { stdout } = await run(name, ["-I", "-S", "-c", ASK], { timeout: ANSWER_MS_MAX, encoding: "utf8" });
    const [path = "", version = ""] = stdout.trim().split("\n");
    const [major = 0, minor = 0] = version.split(" ").map(Number);
    const isOld = major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
    if (isOld || path === "") return { kind: "missing", why: `'${name}' is Python ${major}.${minor}: ${REMEDY}` };
    return { kind: "found", path };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return { kind: "missing", why: `'${name}' cannot be started (${code ?? message}): ${REMEDY}` };
  }
}
