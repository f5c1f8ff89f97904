/** Shows how the server is doing: latencies and errors of calls, processor time, memory, and the last errors. */
import type { ServerStatus } from "../../../clients/ts/src/public.ts";
import { mayNot } from "../caller.ts";
import { visible } from "../outcomes/visible.ts";
import { Facts, Panel, Share, Tag } from "../ui/parts.tsx";
import { Table } from "../ui/table.tsx";
import { bytes, clock, count, figure, percent, span } from "../words.ts";

interface StatusProps {
  readonly status: ServerStatus;
}

/** Share from which a bar has the colour of a warning. */
const BUSY = 0.8;

export function Load({ status }: StatusProps) {
  const { problem, eventLoopUtilization, coresUsed, cores, memoryBytes, startMemoryBytes, memoryMaxBytes } = status;
  const bar = (share: number, label: string) => (
    <Share value={share} label={label} tone={share < BUSY ? "best" : "poor"} />
  );
  return (
    <Panel title="How it is" note={`Over the last ${windowWords(status)}.`}>
      <Facts
        facts={[
          ["state", problem === "" ? <Tag tone="good">✓ ready</Tag> : <Tag tone="bad">{problem}</Tag>],
          ["event loop", bar(eventLoopUtilization, `${percent(eventLoopUtilization)} busy`)],
          ["processor", bar(coresUsed / Math.max(1, cores), `${figure(coresUsed)} of ${cores} cores`)],
          [
            "memory",
            bar(Number(memoryBytes) / Number(memoryMaxBytes), `${bytes(memoryBytes)} of ${bytes(memoryMaxBytes)}`),
          ],
          ["memory at the start", bytes(startMemoryBytes)],
        ]}
      />
    </Panel>
  );
}

function windowWords({ window }: ServerStatus): string {
  return span(Number(window?.seconds ?? 0n) * 1000);
}

/** Returns the method's name without its service, e.g. "Step". */
function shortName(method: string): string {
  return method.slice(method.lastIndexOf("/") + 1);
}

export function Calls({ status }: StatusProps) {
  const note = `Milliseconds from a request to its end, of calls that ended in the last ${windowWords(status)}. A stream counts whole.`;
  return (
    <Panel title="Calls" note={note}>
      {status.methods.length === 0 ? (
        <p class="empty">There were none.</p>
      ) : (
        <Table label="Calls" columns={["method", "calls", "running", "p50", "p99"]} words={1}>
          {status.methods.map(({ method, count: calls, running, p50Ms, p99Ms }) => (
            <tr key={method}>
              <th scope="row" title={method}>
                {shortName(method)}
              </th>
              <td>{count(calls)}</td>
              <td>{count(running)}</td>
              <td>{calls === 0n ? "–" : figure(p50Ms)}</td>
              <td>{calls === 0n ? "–" : figure(p99Ms)}</td>
            </tr>
          ))}
        </Table>
      )}
    </Panel>
  );
}

export function Errors({ status }: StatusProps) {
  return (
    <Panel title="Errors by kind">
      {status.errors.length === 0 ? (
        <p class="empty">There were none since it started.</p>
      ) : (
        <Table label="Errors" columns={["error", "method", `last ${windowWords(status)}`, "since the start"]} words={2}>
          {status.errors.map(({ method, code, recent, count: all }) => (
            <tr key={`${code} ${method}`}>
              <th scope="row">{code.toLowerCase().replaceAll("_", " ")}</th>
              <td class="words" title={method}>
                {shortName(method)}
              </td>
              <td>{count(recent)}</td>
              <td>{count(all)}</td>
            </tr>
          ))}
        </Table>
      )}
    </Panel>
  );
}

export function LastErrors({ status: { lastErrors } }: StatusProps) {
  if (mayNot("operator")) return null;
  return (
    <Panel title="Last errors of the log">
      {lastErrors.length === 0 ? (
        <p class="empty">There were none since it started.</p>
      ) : (
        <ul class="entries">
          {lastErrors.map(({ time, method, requestId, message }, at) => (
            <li key={at}>
              <h3>{visible(message)}</h3>
              <p class="note">
                {clock(new Date(Number(time?.seconds ?? 0n) * 1000))} {shortName(method)}{" "}
                {requestId !== "" && <code>{visible(requestId)}</code>}
              </p>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
