/** Tests of environments whose tasks an outside resource makes: the gates of digests that this server does not have. */
import { expect, test } from "vitest";
import type { MountedEnvironment } from "../../../../envs/mounted-tasks.ts";
import { createAsker } from "../../../../server/tasks/making/mounted-tasks.ts";
import { createResources } from "../../../../server/outside/gate/resources.ts";
import type { TaskSpec } from "../../../../server/tasks/spec.ts";
import { slow } from "../../../support/environments/slow.ts";
import { fakeClock } from "../../curriculum/support.ts";

const make = (): never => {
  throw new Error("a lost digest is asked for nothing");
};
const environment = slow(1);
const asking = { environment, asked: { digest: "now", make, again: make } } as unknown as MountedEnvironment;

test("digests that were lost one after another leave a bounded number of gates, and each refusal names its digest", async () => {
  const changes: string[] = [];
  const resources = createResources({ clock: fakeClock(), onFailure: make });
  resources.onChange((name, down) => changes.push(`${name} ${down === undefined ? "up" : "down"}`));
  const asker = createAsker(resources);
  const ask = (digest: string) =>
    asker.make(asking, { parameters: {}, split: "train", digest } as unknown as TaskSpec, [1n], { caller: "run r" });
  for (let i = 0; i < 1000; i++) {
    const [refused] = await ask(`digest${i}`);
    expect(refused).toMatchObject({ kind: "unavailable", message: expect.stringContaining(`digest${i}`) as string });
  }
  expect(resources.load().length).toBeLessThanOrEqual(64);
  // A digest that is asked for often goes down, and is forgotten as if it were up.
  for (let i = 0; i < 20; i++) await ask("often");
  expect(changes).toEqual(["test/slow often down"]);
  for (let i = 0; i < 64; i++) await ask(`later${i}`);
  expect(changes).toEqual(["test/slow often down", "test/slow often up"]);
  expect(await ask("often")).toMatchObject([{ kind: "unavailable" }]);
  resources.close();
});
