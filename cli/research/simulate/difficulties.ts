/** Reads the difficulties of arms from --difficulty. */
import { CliProblem } from "../../problem.ts";

/** Returns the difficulty of each arm for which --difficulty has a value "arm=number". `ids` are the run's arms. */
export function difficultiesOf(levels: readonly string[] = [], ids: readonly string[]): ReadonlyMap<string, number> {
  const given = new Map<string, number>();
  for (const text of levels) {
    const [, id = "", level = ""] = /^(.+)=(\d{1,3})$/.exec(text) ?? [];
    if (level === "")
      throw new CliProblem("usage", `--difficulty must be <arm>=<whole number from 0 to 999>; got '${text}'`);
    if (!ids.includes(id)) throw new CliProblem("usage", `--difficulty: "${id}" is not an arm of the run`);
    if (given.has(id)) throw new CliProblem("usage", `--difficulty: "${id}" is given twice`);
    given.set(id, Number(level));
  }
  return given;
}
