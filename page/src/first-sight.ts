/**
 * Shows the main figures of a run, or the names of runs or tasks, while the page's code is loaded. On a slow network that
 * takes seconds, so this file imports nothing, and reads the JSON of the server's calls.
 */

/** Fields that are read from a run in the server's JSON replies. Numbers of 64 bits are strings. */
interface RunJson {
  readonly runId?: string;
  readonly state?: Readonly<Partial<Record<"batchesDrawn" | "batchesClosed" | "samplesRecorded", string>>> & {
    readonly paused?: boolean;
    readonly done?: boolean;
    readonly arms?: readonly ArmJson[];
  };
}
interface ArmJson {
  readonly armId: string;
  readonly recentSolvedShare?: number;
}

const ARMS_MAX = 20;
const count = (text = "0"): string => Number(text).toLocaleString("en");

async function ask(path: string, request?: object): Promise<unknown> {
  // Read the token from the place where connection.ts stores it.
  const token = sessionStorage.getItem("gradus.token");
  const headers = {
    ...(token !== null && { authorization: `Bearer ${token}` }),
    ...(request && { "content-type": "application/json" }),
  };
  const response = await fetch(path, {
    headers,
    ...(request && { method: "POST", body: JSON.stringify(request) }),
  });
  // Give up after an error, because the page sends the same request again and then shows the error.
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return response.json();
}

function progressOf({ state = {} }: RunJson): string {
  const { samplesRecorded, batchesDrawn, batchesClosed } = state;
  const standing = state.done === true ? "done" : state.paused === true ? "paused" : "going on";
  return `${standing}, ${count(samplesRecorded)} samples, ${count(batchesDrawn)} update batches drawn, ${count(batchesClosed)} closed`;
}

function solvedOf({ armId, recentSolvedShare: share }: ArmJson): string {
  return `${armId}: ${share === undefined ? "no samples yet" : `${Math.round(100 * share)}% solved lately`}`;
}

async function linesOf(view = "tasks", name?: string): Promise<readonly string[]> {
  if (view === "tasks" && name === undefined) return (await ask("list_environments")) as readonly string[];
  if (view !== "runs") return [];
  if (name === undefined) {
    const { runs = [] } = (await ask("gradus.v1.CurriculumService/ListRuns", {})) as { runs?: readonly RunJson[] };
    return runs.map((run) => `${run.runId}: ${progressOf(run)}`);
  }
  const runId = decodeURIComponent(name);
  const { run = {} } = (await ask("gradus.v1.CurriculumService/GetRun", { runId })) as { run?: RunJson };
  const arms = run.state?.arms ?? [];
  const more = arms.length > ARMS_MAX ? [`and ${arms.length - ARMS_MAX} more arms`] : [];
  return [`${runId}: ${progressOf(run)}`, ...arms.slice(0, ARMS_MAX).map(solvedOf), ...more];
}

/** Shows the lines over the page, until its view no longer waits for data, or until the reader goes to another view. */
function show(lines: readonly string[]): void {
  const isWaiting = (): boolean => document.querySelector("#page .waiting") !== null;
  if (lines.length === 0 || !isWaiting()) return;
  const list = document.createElement("ul");
  list.className = "first-sight";
  list.append(...lines.map((line) => Object.assign(document.createElement("li"), { textContent: line })));
  document.body.append(list);
  const end = (): void => {
    list.remove();
    waiting.disconnect();
  };
  const waiting = new MutationObserver(() => {
    if (!isWaiting()) end();
  });
  waiting.observe(document.body, { childList: true, subtree: true });
  addEventListener("hashchange", end, { once: true });
}

const path = location.hash.replace(/^#?\/?/, "").replace(/\?.*$/s, "");
void linesOf(...path.split("/").filter((part) => part !== "")).then(show, () => undefined);

export {};
