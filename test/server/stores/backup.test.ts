/** Tests of what a backup requires before it is made. `test/e2e/backup.test.ts` makes backups. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { backUp } from "../../../server/stores/backup.ts";
import { sqliteStore } from "../../../server/stores/sqlite.ts";
import { temporaryFolder } from "../../support/server-process.ts";

test("a backup without the task keys that it says it has is not made: tasks under way would be refused after it", async () => {
  using folder = temporaryFolder();
  const directory = join(folder.path, "data");
  await (await sqliteStore({ directory })).close();
  const [file, keyFile] = [join(folder.path, "backup"), join(folder.path, "mistyped")];
  writeFileSync(file, "");
  await expect(backUp(directory, keyFile, file)).rejects.toMatchObject({
    message: `there is no key file ${keyFile}: give the --key-file of the server`,
    missing: true,
  });
});
