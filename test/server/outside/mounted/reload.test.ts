/** `--reload`: which changes of files are seen, however they are written. */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { TestServer } from "../../../support/in-process.ts";
import { openMounting } from "../../../support/mounted/mounts.ts";
import { eventually, until } from "../../../support/patience.ts";
import { temporaryFolder } from "../../../support/server-process.ts";

/** Returns the text of a file with one environment. Its prompts begin with `title` and the text from `helper.py`. */
const mainFile = (title: string): string => `from gradus.serve import Environment
from helper import WORDS


class Echo(Environment):
    """Repeat a number."""

    id = "mine/echo"

    def generate(self, rng):
        return rng.randrange(1000)

    def prompt(self, instance):
        return f"${title} {WORDS} {instance}"

    def verify(self, instance, answer):
        return answer == str(instance)
`;
const helperFile = (words: string): string => `WORDS = "${words}"\n`;

/** Writes another file, which then takes the name, as editors and git do. */
function writeAtomically(path: string, text: string): void {
  writeFileSync(`${path}.tmp`, text);
  renameSync(`${path}.tmp`, path);
}

/** Returns the number of this process's inotify watches. */
function inotifyWatches(): number {
  const infos = readdirSync("/proc/self/fdinfo").flatMap((descriptor) => {
    try {
      return [readFileSync(join("/proc/self/fdinfo", descriptor), "utf8")];
    } catch {
      // The descriptor of this listing is closed by now.
      return [];
    }
  });
  return infos.join("\n").match(/^inotify wd:/gm)?.length ?? 0;
}

async function remountsKept({ http }: TestServer): Promise<number> {
  const text = await (await fetch(`${http}/metrics`)).text();
  return Number(/gradus_mount_remounts_total\{mount="[^"]*",outcome="kept"\} (\d+)/.exec(text)?.[1] ?? 0);
}

describe("a file that is mounted with --reload", () => {
  let base: ReturnType<typeof temporaryFolder>;
  let folder: string;
  let main: string;
  let helper: string;
  const servers: TestServer[] = [];
  const prompt = async ({ client }: TestServer): Promise<string> =>
    (await client.reset({ environment: "mine/echo", seed: 1 })).prompt[0]?.content ?? "";
  const begins = (server: TestServer, words: string) =>
    eventually(async () => expect(await prompt(server)).toMatch(new RegExp(`^${words} `)));
  const open = async (file = main): Promise<TestServer> => {
    const server = await openMounting(file, { reload: true, mountWorkers: "1" });
    servers.push(server);
    // The server listens before it has mounted the file.
    await begins(server, "one first");
    return server;
  };

  beforeEach(() => {
    base = temporaryFolder();
    folder = join(base.path, "environments");
    main = join(folder, "echo.py");
    helper = join(folder, "helper.py");
    mkdirSync(folder);
    writeFileSync(main, mainFile("one"));
    writeFileSync(helper, helperFile("first"));
  });
  afterEach(async () => {
    for (const server of servers.splice(0)) await server[Symbol.asyncDispose]();
    base[Symbol.dispose]();
  });

  test("is seen to be saved atomically, each time, and so are the modules that it imports", async () => {
    const server = await open();
    writeAtomically(main, mainFile("two"));
    await begins(server, "two first");
    writeAtomically(main, mainFile("three"));
    await begins(server, "three first");
    writeAtomically(helper, helperFile("second"));
    await begins(server, "three second");
    writeFileSync(helper, helperFile("third"));
    await begins(server, "three third");
  });

  test("is seen to be deleted and written again", async () => {
    const server = await open();
    rmSync(main);
    await until(async () => (await remountsKept(server)) > 0);
    await begins(server, "one first");
    writeFileSync(main, mainFile("two"));
    await begins(server, "two first");
  });

  test("is seen to be mended, where the fault was in it, in what it imports, or was a missing module", async () => {
    const server = await open();
    writeAtomically(main, "this is no Python");
    await until(async () => (await remountsKept(server)) === 1);
    writeAtomically(main, mainFile("two"));
    await begins(server, "two first");
    writeFileSync(join(folder, "broken.py"), "def f(:\n");
    writeAtomically(helper, "from broken import WORDS\n");
    await until(async () => (await remountsKept(server)) === 2);
    writeAtomically(join(folder, "broken.py"), helperFile("mended"));
    await begins(server, "two mended");
    writeAtomically(helper, "from later.words import WORDS\n");
    await until(async () => (await remountsKept(server)) === 3);
    mkdirSync(join(folder, "later"));
    writeFileSync(join(folder, "later", "words.py"), helperFile("come"));
    await begins(server, "two come");
    writeAtomically(join(folder, "later", "words.py"), helperFile("changed"));
    await begins(server, "two changed");
  });

  test("is seen to change where its folder is replaced, and where it is a link", async () => {
    const link = join(base.path, "link.py");
    symlinkSync(main, link);
    const server = await open(link);
    writeAtomically(main, mainFile("two"));
    await begins(server, "two first");
    renameSync(folder, `${folder}.old`);
    mkdirSync(folder);
    writeFileSync(helper, helperFile("second"));
    writeFileSync(main, mainFile("three"));
    await begins(server, "three second");
    writeAtomically(main, mainFile("four"));
    await begins(server, "four second");
    const other = join(base.path, "other");
    renameSync(`${folder}.old`, other);
    rmSync(link);
    symlinkSync(join(other, "echo.py"), link);
    await begins(server, "two first");
  });

  test("has one folder watched, however many lie in it", async () => {
    const before = inotifyWatches();
    const packages = join(folder, "venv", "lib", "python3.12", "site-packages");
    for (let i = 0; i < 2000; i++) mkdirSync(join(packages, `package${i}`), { recursive: true });
    const server = await open();
    await until(() => inotifyWatches() > before);
    expect(inotifyWatches()).toBe(before + 1);
    writeAtomically(main, mainFile("two"));
    await begins(server, "two first");
    expect(inotifyWatches()).toBe(before + 1);
    expect(dirname(main)).toBe(folder);
  });
});
