/**
 * Reads why a call failed from its status details: a google.rpc.ErrorInfo within a google.rpc.Status. The bytes are
 * parsed by hand, because only six fields are needed.
 */
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";

/** Reason of a failure, with facts about it. */
export interface ErrorReason {
  /** Name of the reason, e.g. "PAUSED" or "FEEDBACK_DUE". */
  readonly reason: string;
  /** Facts by name, e.g. `paused_by` and `paused_since`. */
  readonly facts: Readonly<Record<string, string>>;
}

/** Metadata key under which the server also sends the reason of a failure as plain text. */
export const waitReasonKey = "wait-reason";

/** Type name of the status detail that contains the reason. */
export const errorInfoType = "google.rpc.ErrorInfo";

const domain = "gradus";

type Field = readonly [number: number, bytes: Uint8Array];

/** Returns the fields of a protobuf message that hold bytes, text or a message. */
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

/** Reads a google.rpc.ErrorInfo. Undefined if it is not from Gradus, or is damaged. */
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

/** Returns the reason in a google.rpc.Status. Undefined if the status has none, or is damaged. */
export function reasonOfStatus(status: Uint8Array): ErrorReason | undefined {
  try {
    for (const [number, detail] of fieldsOf(status)) {
      const packed = number === 3 ? fieldsOf(detail) : [];
      const info = packed.find((field) => field[0] === 2)?.[1];
      const reason = textAt(packed, 1).endsWith(`/${errorInfoType}`) && info ? reasonOfInfo(info) : undefined;
      if (reason !== undefined) return reason;
    }
  } catch {
    // Return no reason if a proxy has cut the details off. The server also sends the reason as plain text.
  }
  return undefined;
}

/** Returns a reason that was given as plain text, without facts. Undefined if there is no text. */
export function reasonOfText(text: string | null | undefined): ErrorReason | undefined {
  return text ? { reason: text, facts: {} } : undefined;
}
