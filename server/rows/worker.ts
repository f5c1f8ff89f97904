/** The worker thread that examines batches of rows. */
import { workerData } from "piscina";
import { loadEnvironments } from "../tasks/making/load-environments.ts";
import { examineIn } from "./examine.ts";

const { environmentFiles } = workerData as { readonly environmentFiles: readonly string[] };
const loaded = await loadEnvironments(environmentFiles);
// The main thread has loaded the same files, so a file that fails only here was changed meanwhile.
if (loaded.kind === "invalid") throw new Error(loaded.message);

export default examineIn(loaded.registry);
