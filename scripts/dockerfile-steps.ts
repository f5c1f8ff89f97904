/**
 * Runs the Dockerfile's steps in a clean copy of the tree where no engine runs: builds both stages in folders, starts
 * the image's command as its user with its environment, waits for its health check, stops it, and expects exit 0.
 * What it cannot show: the base image itself. It runs on this machine's Node.
 */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

interface Stage {
  readonly root: string;
  workdir: string;
  readonly env: Record<string, string>;
  user: { uid: number; gid: number } | undefined;
  entrypoint: string[];
  command: string[];
  health: string;
}

const repository = resolve(import.meta.dirname, "..");
const work = mkdtempSync(join(tmpdir(), "gradus-image-"));
chmodSync(work, 0o755);
const context = join(work, "context");
const stages = new Map<string, Stage>();

function newStage(name: string): Stage {
  const root = join(work, name);
  mkdirSync(root, { recursive: true });
  const stage = { root, workdir: "/", env: {}, user: undefined, entrypoint: [], command: [], health: "" };
  stages.set(name, stage);
  return stage;
}

/** Where a path of the image lies here. */
const inStage = (stage: Stage, path: string): string => join(stage.root, resolve(stage.workdir, path));

function copy(stage: Stage, args: readonly string[]): void {
  const options = args.filter((arg) => arg.startsWith("--"));
  const paths = args.filter((arg) => !arg.startsWith("--"));
  const option = (name: string) => options.find((each) => each.startsWith(`--${name}=`))?.slice(name.length + 3);
  const from = option("from");
  const target = paths.at(-1) ?? "";
  for (const source of paths.slice(0, -1)) {
    const origin = from === undefined ? join(context, source) : join((stages.get(from) as Stage).root, source);
    const isFile = target.endsWith("/") && !source.endsWith("/") && !isFolder(origin);
    const destination = inStage(stage, isFile ? join(target, source.split("/").at(-1) ?? "") : target);
    mkdirSync(dirname(destination), { recursive: true });
    cpSync(origin, destination, { recursive: true, verbatimSymlinks: true });
    const owner = option("chown")?.split(":").map(Number);
    if (owner !== undefined && process.getuid?.() === 0) chownTree(destination, owner[0] ?? 0, owner[1] ?? 0);
  }
}

function isFolder(path: string): boolean {
  return spawnSync("test", ["-d", path]).status === 0;
}

function chownTree(path: string, uid: number, gid: number): void {
  chownSync(path, uid, gid);
  if (isFolder(path)) for (const entry of readdirSync(path)) chownTree(join(path, entry), uid, gid);
}

function step(stage: Stage, instruction: string, rest: string): void {
  const [name = "", ...others] = rest.split("=");
  const [uid = 0, gid = 0] = rest.split(":").map(Number);
  switch (instruction) {
    case "WORKDIR":
      stage.workdir = rest;
      return void mkdirSync(inStage(stage, "."), { recursive: true });
    case "COPY":
      return copy(stage, rest.split(/\s+/));
    case "RUN":
      return void execFileSync("bash", ["-c", rest], { cwd: inStage(stage, "."), stdio: "inherit" });
    case "ENV":
      stage.env[name] = others.join("=");
      return;
    case "USER":
      stage.user = { uid, gid };
      return;
    case "HEALTHCHECK":
      stage.health = rest.slice(rest.indexOf("CMD ") + 4);
      return;
    case "ENTRYPOINT":
      stage.entrypoint = JSON.parse(rest) as string[];
      return;
    case "CMD":
      stage.command = JSON.parse(rest) as string[];
      return;
    case "EXPOSE":
      return;
    default:
      throw new Error(`the Dockerfile has an instruction that this script does not know: ${instruction}`);
  }
}

function build(): Stage {
  // Only what is committed or would be: a clean copy, less what .dockerignore names.
  const files = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: repository,
  });
  for (const file of files
    .toString()
    .split("\0")
    .filter((path) => path !== "" && !path.startsWith("clients/python/")))
    cpSync(join(repository, file), join(context, file), { recursive: true });
  let stage: Stage | undefined;
  for (const line of readFileSync(join(repository, "Dockerfile"), "utf8").split("\n")) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    console.error(`> ${line}`);
    const [instruction = "", ...words] = line.split(" ");
    if (instruction === "FROM") stage = newStage(words[2] ?? "final");
    else if (stage === undefined) throw new Error("the Dockerfile does not begin with FROM");
    else step(stage, instruction, words.join(" "));
  }
  if (stage === undefined) throw new Error("the Dockerfile is empty");
  return stage;
}

async function start(stage: Stage): Promise<void> {
  const cwd = inStage(stage, ".");
  const ports = { GRADUS_PORT: "50951", GRADUS_HTTP_PORT: "8981", GRADUS_TOKEN: "only-for-this-check" };
  const env = { PATH: `${join(cwd, "node_modules/.bin")}:${process.env["PATH"]}`, ...stage.env, ...ports };
  const identity = process.getuid?.() === 0 && stage.user !== undefined ? stage.user : {};
  const [program = "", ...args] = [...stage.entrypoint, ...stage.command];
  const server = spawn(program, args, { cwd, env, ...identity, stdio: ["ignore", "inherit", "inherit"] });
  const exited = new Promise<number | null>((done) => server.once("exit", done));
  try {
    for (let tries = 0; ; tries++) {
      const health = spawnSync("bash", ["-c", stage.health], { cwd, env, ...identity, encoding: "utf8" });
      if (health.status === 0) break;
      if (server.exitCode !== null || tries === 60) throw new Error(`the health check failed: ${health.stderr}`);
      await sleep(500);
    }
    console.error("healthy; stopping it");
  } finally {
    server.kill("SIGTERM");
  }
  const code = await exited;
  if (code !== 0) throw new Error(`the server exited with ${code} on SIGTERM`);
}

try {
  await start(build());
  console.log("the Dockerfile's steps run, the server is healthy as its user, and it stops with exit 0");
} finally {
  rmSync(work, { recursive: true, force: true });
}
