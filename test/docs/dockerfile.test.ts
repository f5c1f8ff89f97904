/**
 * Checks the Dockerfile without a container engine; test/artefacts/artefacts.test.ts runs the files that it copies.
 */
import { DockerfileParser } from "dockerfile-ast";
import { validate } from "dockerfile-utils";
import { execFileSync } from "node:child_process";
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { programOf } from "../support/debian.ts";
import { temporaryFolder } from "../support/server-process.ts";

const text = readFileSync("Dockerfile", "utf8");
const file = DockerfileParser.parse(text);

test("it has no mistakes that a linter finds", () => {
  expect(validate(text)).toEqual([]);
  expect(validate("FROM node\nCOPPY a b\n")).not.toEqual([]);
});

test("it copies the folder that is tested, and runs nothing when it is built", () => {
  expect(file.getInstructions().filter((each) => each.getKeyword() === "RUN")).toEqual([]);
  expect(readFileSync(".dockerignore", "utf8")).toBe("*\n!out\nout/*\n!out/image\n");
});

test("it runs as nobody that the base image knows", () => {
  const users = file.getInstructions().filter((each) => each.getKeyword() === "USER");
  expect(users.map((each) => each.getArgumentsContent())).toEqual(["1000:1000"]);
});

/** The COPY lines, as test/docs/copies takes them. */
function copyLines() {
  return file.getCOPYs().map((copy) => {
    const all = copy.getArguments().map(String);
    const chown =
      copy
        .getFlags()
        .find((flag) => flag.getName() === "chown")
        ?.getValue() ?? "";
    return { sources: all.slice(0, -1), destination: all.at(-1) ?? "", chown };
  });
}

/** Lays out an empty package as `make image` does, and runs the COPY lines with BuildKit's library. */
function copied(folder: string): string {
  const [source, context, root] = ["package", "context", "root"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  mkdirSync(join(source, "cli"), { recursive: true });
  writeFileSync(join(source, "package.json"), '{ "name": "gradus", "version": "0.0.0", "bin": "cli/gradus" }\n');
  const locked = { name: "gradus", version: "0.0.0", bin: { gradus: "cli/gradus" } };
  const lock = { name: "gradus", version: "0.0.0", lockfileVersion: 3, requires: true, packages: { "": locked } };
  writeFileSync(join(source, "npm-shrinkwrap.json"), JSON.stringify(lock));
  writeFileSync(join(source, "cli/gradus"), "#!/bin/sh\n", { mode: 0o755 });
  execFileSync("npm", ["pack", "--silent", "--pack-destination", folder, source]);
  const script = resolve("scripts/artefacts/image.ts");
  // On some machines files are readable only by their owner. The image's user must still be able to read them.
  const lay = `umask 077 && exec '${process.execPath}' '${script}' '${join(folder, "gradus-0.0.0.tgz")}' '${context}/out/image'`;
  execFileSync("sh", ["-c", lay]);
  // The base image has these folders, and they are root's.
  for (const path of ["opt", "usr/local/bin", "var/lib"]) mkdirSync(join(root, path), { recursive: true });
  const program = join(folder, "copies");
  const go = programOf(["go"], "golang-go");
  execFileSync(go, ["build", "-o", program, "."], { cwd: resolve("test/docs/copies"), stdio: "inherit" });
  const args = [context, root, JSON.stringify(copyLines())];
  // Only root may change a file's owner. Engines without root do it in a user namespace.
  if (process.getuid?.() === 0) execFileSync(program, args);
  else execFileSync("unshare", ["--map-auto", "--map-root-user", program, ...args]);
  return root;
}

test("what its COPY lines lay down is all that make image lays, and only the data folder is the server's", () => {
  using folder = temporaryFolder();
  const root = copied(folder.path);
  const listed = (path: string) => readdirSync(path, { recursive: true, encoding: "utf8" }).sort();
  const laid = listed(join(folder.path, "context/out/image"));
  expect(listed(root)).toEqual(laid);
  expect(readlinkSync(join(root, "usr/local/bin/gradus"))).toMatch(/\/opt\/gradus\//);
  const ofServer = laid.filter((path) => lstatSync(join(root, path)).uid === 1000);
  expect(ofServer).toEqual(["var/lib/gradus", "var/lib/gradus/README"]);
  // The server makes its key file and its stores there.
  const { uid, gid, mode } = lstatSync(join(root, "var/lib/gradus"));
  expect([uid, gid, mode & 0o700]).toEqual([1000, 1000, 0o700]);
});
