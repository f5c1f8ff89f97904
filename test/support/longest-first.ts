/**
 * For vitest's sequence.sequencer: begins the longest files of a project first, so that all workers end at about the
 * same time. Vitest itself goes by the last run's times, which a fresh checkout does not have. Then it goes by size,
 * which puts a short file that waits for servers last.
 */
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Test files that take more than ten seconds. The first also measures memory, and collects it more cheaply while there
 * is little.
 */
const LONGEST = [
  "server/transport/strangers",
  "artefacts/artefacts",
  "e2e/replicas",
  "e2e/kill",
  "server/outside/mounted/hostile/hostile",
  "server/outside/mounted/replaced",
  "e2e/damaged-run",
  "docs/snippets",
  "envs/laws",
  "e2e/hostile",
  "clients/ts/package",
  "server/outside/mounted/reload",
  "cli/foreign-text",
  "clients/ts/fresh-project",
  "e2e/workers",
  "envs/np/maxima",
  "e2e/processes",
  "server/outside/mounted/slow",
  "envs/code/rows",
  "cli/wrong-arguments",
  "clients/ts/pauses",
  "e2e/backup",
  "server/outside/mounted/remote",
  "server/outside/sandbox/embedded",
  "cli/serve",
  "server/outside/sandbox/sitting",
  "e2e/teacher",
  "server/outside/sandbox/hostile",
  "cli/eval",
  "e2e/traces",
  "server/stores/postgres/faults",
  "envs/answers/hostile",
  "cli/eval-replies",
  "cli/simulate",
  "server/outside/mounted/serving",
  "server/curriculum/recovery",
  "docs/evaluation-guide",
  "e2e/postgres",
  "server/stores/postgres/task-keys",
  "pictures/draw",
  "e2e/sitting",
  "e2e/services/transfer",
  "e2e/domains",
].map((name) => `/test/${name}.test.ts`);

function placeOf({ moduleId }: TestSpecification): number {
  const place = LONGEST.findIndex((name) => moduleId.endsWith(name));
  return place < 0 ? LONGEST.length : place;
}

export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const projects = [...new Set(sorted.map(({ project }) => project))];
    // The sort is stable: other files keep their order, and projects stay one behind the other.
    return projects.flatMap((project) =>
      sorted.filter((file) => file.project === project).sort((one, other) => placeOf(one) - placeOf(other)),
    );
  }
}
