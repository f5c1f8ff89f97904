/**
 * For vitest's sequence.sequencer: of a project's files those that take longest begin first, so that at the end no worker has
 * a long one left while the other has none. Vitest goes by what the last run took, which a fresh checkout does not know; then
 * it goes by the size of files, by which a short file that waits for servers comes last.
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
  "docs/snippets",
  "envs/laws",
  "clients/ts/package",
  "envs/np/maxima",
  "e2e/processes",
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
    // Stable: the others stay as they were, and so do the projects, one behind the other.
    return projects.flatMap((project) =>
      sorted.filter((file) => file.project === project).sort((one, other) => placeOf(one) - placeOf(other)),
    );
  }
}
