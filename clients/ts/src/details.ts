/** Why a call failed, as the server says it beside the status: google.rpc.ErrorInfo. Read by hand: two messages of six fields. */
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";

/** The server's reason for a failure, and its facts. */
export interface ErrorReason {
  /** E.g. "PAUSED", "FEEDBACK_DUE". */
  readonly reason: string;
  /** E.g. `paused_by` and `paused_since`. */
  readonly facts: Readonly<Record<string, string>>;
}

/** Name of the metadata that has the reason in plain text. */
export const waitReasonKey = "wait-reason";

/** Type of the detail that has the reason. */
export const errorInfoType = "google.rpc.ErrorInfo";

const domain = "gradus";

type Field = readonly [number: number, bytes: Uint8Array];

/** The fields of a message that hold bytes, text or a message. */
function fieldsOf(message: Uint8Array): readonly Field[] {
  const reader = new BinaryReader(message);
  const fields: Field[] = [];
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    if (type === WireType.LengthDelimited) fields.push([number, reader.bytes()]);
    else reader.skip(type, number);
  }
  return fields;
}

function textAt(fields: readonly Field[], number: number): string {
  return new TextDecoder().decode(fields.find((field) => field[0] === number)?.[1]);
}

/** Reads a google.rpc.ErrorInfo; undefined: it is of another domain, or damaged. */
export function reasonOfInfo(info: Uint8Array): ErrorReason | undefined {
  try {
    const fields = fieldsOf(info);
    if (textAt(fields, 2) !== domain) return undefined;
    const entries = fields.filter(([number]) => number === 3).map(([, entry]) => fieldsOf(entry));
    return {
      reason: textAt(fields, 1),
      facts: Object.fromEntries(entries.map((entry) => [textAt(entry, 1), textAt(entry, 2)])),
    };
  } catch {
    return undefined;
  }
}

/** Finds the reason in a google.rpc.Status; undefined: it has none, or is damaged. */
export function reasonOfStatus(status: Uint8Array): ErrorReason | undefined {
  try {
    for (const [number, detail] of fieldsOf(status)) {
      const packed = number === 3 ? fieldsOf(detail) : [];
      const info = packed.find((field) => field[0] === 2)?.[1];
      const reason = textAt(packed, 1).endsWith(`/${errorInfoType}`) && info ? reasonOfInfo(info) : undefined;
      if (reason !== undefined) return reason;
    }
  } catch {
    // A proxy may have cut it; the reason in plain text is enough to wait by.
  }
  return undefined;
}

/** The reason alone, as plain text has it; undefined: there is none. */
export function reasonOfText(text: string | null | undefined): ErrorReason | undefined {
  return text ? { reason: text, facts: {} } : undefined;
}
