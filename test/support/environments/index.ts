/** The test environments as a module for `--environment-file`: for a server of its own. */
import { flaky } from "./flaky.ts";
import { graded } from "./graded.ts";
import { rowsOnly } from "./rows.ts";
import { slow } from "./slow.ts";

export default [slow(50, { concurrencyMax: 64, waitingMax: 4096, heldBytesMax: 1e7 }), flaky(1, 0.3), graded, rowsOnly];
