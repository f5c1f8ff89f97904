/** Tests of environment variables that are lists, that Kubernetes sets, or that are misspelled. */
import { expect, test } from "vitest";
import { readConfig } from "../../../server/runtime/config.ts";

type Env = Readonly<Record<string, string>>;

function configOf(env: Env) {
  const result = readConfig({}, env);
  if (result.kind === "invalid") throw new Error(result.message);
  return result.config;
}

test("what has commas of its own is given a line each", () => {
  const pools = [
    { name: "c34", path: "train.parquet@train[200:],eval[:200]" },
    { name: "held", path: "test.jsonl@bench" },
  ];
  const lines = "c34=train.parquet@train[200:],eval[:200]\n held=test.jsonl@bench\n";
  expect(configOf({ GRADUS_POOL: lines }).pools).toEqual(pools);
  expect(configOf({ GRADUS_MOUNT: "reasoning-gym:countdown,sudoku\n" }).mounted.mounts).toHaveLength(1);
  const refused = readConfig({}, { GRADUS_POOL: "c34=train.parquet@train[200:],eval[:200]" });
  expect(refused).toMatchObject({
    message: expect.stringContaining("(from GRADUS_POOL, cut at its commas: a value with commas") as string,
  });
});

test("Kubernetes's variables of a Service called gradus are no option's, and no mistake", () => {
  const config = configOf({
    GRADUS_PORT: "tcp://10.96.0.1:50051",
    GRADUS_PORT_50051_TCP: "tcp://10.96.0.1:50051",
    GRADUS_PORT_50051_TCP_ADDR: "10.96.0.1",
    GRADUS_SERVICE_HOST: "10.96.0.1",
    GRADUS_SERVICE_PORT: "50051",
    GRADUS_SERVICE_PORT_HTTP: "8080",
  });
  expect([config.port, config.warnings]).toEqual([50051, []]);
});

test("a variable that nobody reads is a warning, with the nearest that somebody does", () => {
  const { warnings } = configOf({
    GRADUS_LOGLEVEL: "warn",
    GRADUS_SERVER: "gym:50051",
    GRADUS_EMPTY: "",
    OTHER: "x",
  });
  expect(warnings).toEqual([
    "the environment variable GRADUS_LOGLEVEL is unknown, and is ignored; did you mean 'GRADUS_LOG_LEVEL'?",
  ]);
});

test("a flag of the token wins over the variable of its file, and the other way round; two variables are refused", () => {
  const [token, exported] = ["correct-horse-battery-staple", "one-for-another-server"];
  expect(readConfig({ token }, { GRADUS_TOKEN_FILE: "no-such-file" })).toMatchObject({ config: { token } });
  expect(readConfig({ tokenFile: "no-such-file" }, { GRADUS_TOKEN: exported })).toMatchObject({
    message: expect.stringContaining("--token-file must be a file that can be read") as string,
  });
  expect(readConfig({}, { GRADUS_TOKEN: exported, GRADUS_TOKEN_FILE: "x" })).toMatchObject({
    message: expect.stringContaining("the variables GRADUS_TOKEN and GRADUS_TOKEN_FILE count too") as string,
  });
});
