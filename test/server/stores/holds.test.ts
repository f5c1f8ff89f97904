import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, test } from "vitest";
import type { Holds } from "../../../server/stores/evaluation-store.ts";
import { fileHolds, memoryHolds } from "../../../server/stores/holds.ts";
import { eventually } from "../../support/patience.ts";
import { temporaryFolder } from "../../support/server-process.ts";

const folder = temporaryFolder();

describe.each<readonly [name: string, holds: Holds]>([
  ["in memory", memoryHolds()],
  ["in files", fileHolds(folder.path)],
])("holds %s", (_, holds) => {
  test("a name is held by one at a time, and others are held beside it", async () => {
    const release = await holds.hold("a");
    expect(release).toBeDefined();
    expect(await holds.hold("a")).toBeUndefined();
    expect(await holds.hold("b")).toBeDefined();
    release?.();
    release?.();
    expect(await holds.hold("a")).toBeDefined();
    expect(await holds.hold("a")).toBeUndefined();
  });
});

test("what a process held is free when it was killed", async () => {
  const module = new URL("../../../server/stores/holds.ts", import.meta.url).href;
  const program = `import { fileHolds } from ${JSON.stringify(module)};
    // A hold that nothing refers to ends when its garbage is collected.
    globalThis.release = await fileHolds(${JSON.stringify(folder.path)}).hold("killed");
    console.log("held");
    setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program], { stdio: "pipe" });
  await once(child.stdout, "data");
  const holds = fileHolds(folder.path);
  expect(await holds.hold("killed")).toBeUndefined();
  child.kill("SIGKILL");
  await eventually(async () => expect(await holds.hold("killed")).toBeDefined());
  folder[Symbol.dispose]();
});
