/** Tests two servers of one store whose key files become different while they serve. */
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newKeyFile } from "../../server/tasks/keyring.ts";
import { openServer, type TestServer } from "../support/in-process.ts";
import { eventually } from "../support/patience.ts";
import { temporaryFolder } from "../support/server-process.ts";

async function readiness({ http }: TestServer) {
  const response = await fetch(`${http}/readyz`);
  return { status: response.status, words: await response.text() };
}

test("the younger one turns unready and says why, and is ready again with the key file of the other", async () => {
  using folder = temporaryFolder();
  const dataDir = join(folder.path, "data");
  const [first, second] = [join(folder.path, "first-keys"), join(folder.path, "second-keys")];
  writeFileSync(first, newKeyFile(), { mode: 0o600 });
  copyFileSync(first, second);
  await using older = await openServer({ dataDir, keyFile: first });
  await using younger = await openServer({ dataDir, keyFile: second });
  expect((await readiness(younger)).status).toBe(200);
  writeFileSync(second, newKeyFile());
  const unready = await eventually(async () => {
    const found = await readiness(younger);
    expect(found.status).toBe(503);
    return found;
  });
  expect(unready.words).toBe("its task keys differ from those of the other replicas: the log names them\n");
  expect((await readiness(older)).status).toBe(200);
  expect(await (await fetch(`${younger.http}/metrics`)).text()).toContain("gradus_keys_differ 1");
  writeFileSync(second, readFileSync(first, "utf8"));
  await eventually(async () => expect((await readiness(younger)).status).toBe(200));
});
