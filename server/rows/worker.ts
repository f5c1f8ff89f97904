/** Entry point of a worker thread that reads batches of rows. */
import { workerData } from "piscina";
import { loadEnvironments } from "../tasks/making/load-environments.ts";
import { examineIn } from "./examine.ts";

const { environmentFiles } = workerData as { readonly environmentFiles: readonly string[] };
const loaded = await loadEnvironments(environmentFiles);
// The main thread has already loaded the operator's environments without an error, so a file that fails here was
// changed since.
if (loaded.kind === "invalid") throw new Error(loaded.message);

export default examineIn(loaded.registry);
