/** Task ids: tickets that clients carry and cannot forge. */
import type { Keyring } from "./keyring.ts";
import { open, seal } from "./sealed.ts";
import { type RunPlace, type Ticket, decodeTicket, encodeTicket } from "./ticket.ts";

/** Longer ids are none of ours. */
export const TASK_ID_BYTES_MAX = 4096;
const MAC_START = 5;
const MAC_END = 21;

export interface MintedTask {
  readonly taskId: string;
  readonly groupId: string;
}

export type OpenedTask =
  | { readonly kind: "ok"; readonly ticket: Ticket; readonly groupId: string }
  | { readonly kind: "invalid"; readonly detail: string };

/** The group of a task of a run: its place, which its feedback goes to. */
export function runGroupId(place: Pick<RunPlace, "runId" | "epoch" | "cursor">): string {
  return `${place.runId}/${place.epoch}/${place.cursor}`;
}

function groupIdOf(ticket: Ticket, mac: Uint8Array): string {
  return ticket.run === undefined ? Buffer.from(mac).toString("base64url") : runGroupId(ticket.run);
}

/** A pure function of the ticket and the signing key. */
export function mintTaskId(keyring: Keyring, ticket: Ticket): MintedTask {
  const sealed = seal(keyring, "task", encodeTicket(ticket));
  return { taskId: sealed.toString("base64url"), groupId: groupIdOf(ticket, sealed.subarray(MAC_START, MAC_END)) };
}

export function openTaskId(keyring: Keyring, taskId: string): OpenedTask {
  if (taskId === "") return { kind: "invalid", detail: "task_id is empty: give back the one that came with the task" };
  if (taskId.length > TASK_ID_BYTES_MAX)
    return {
      kind: "invalid",
      detail: `task_id has ${taskId.length} characters, and none of ours has over ${TASK_ID_BYTES_MAX}`,
    };
  const bytes = Buffer.from(taskId, "base64url");
  // Node's decoder passes over characters that are not base64url: such an id was changed too.
  if (bytes.toString("base64url") !== taskId) return { kind: "invalid", detail: "task_id is not base64url" };
  const opened = open(keyring, "task", bytes);
  if (opened.kind === "invalid") return { kind: "invalid", detail: `task_id: ${opened.detail}` };
  const ticket = decodeTicket(opened.payload);
  if (ticket === undefined)
    return { kind: "invalid", detail: "task_id: it is not of a version that this server knows" };
  return { kind: "ok", ticket, groupId: groupIdOf(ticket, opened.mac) };
}
