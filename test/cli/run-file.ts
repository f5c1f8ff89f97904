/** A run file that is small, for tests of gradus run. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

export const smallRun = `run_id: small
arms:
  - { id: a, spec: { environment: countdown, level: T0 } }
  - { id: b, spec: { environment: countdown, level: T2 }, weight: 2 }
policy:
  mixture: {}
num_generations: 2
prompts_per_update: 4
length: 16
`;

/** Writes files into a folder, and gives their paths. */
export function writerTo(folder: string) {
  return (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
}
