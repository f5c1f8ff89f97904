/** A child's side of failed-start.test.ts: a server that cannot start, in a process that ends when nothing keeps it. */
import { serve } from "../../server/main.ts";
import { readConfig } from "../../server/runtime/config.ts";

const flags = JSON.parse(process.argv[2] ?? "{}") as Readonly<Record<string, unknown>>;
const read = readConfig(flags, {});
if (read.kind === "invalid") throw new Error(read.message);
await serve(read.config).then(
  () => process.exit(1),
  (error: unknown) => console.log(String(error)),
);
