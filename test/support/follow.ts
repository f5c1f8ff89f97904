import { apply } from "../../server/curriculum/apply.ts";
import { type Codecs, eventFrom, readEvent, stateIn } from "../../server/curriculum/event-codec.ts";
import { piecesOf, stateReader } from "../../server/curriculum/state-codec.ts";
import type { RunState } from "../../server/curriculum/state.ts";
import type { InstanceKey } from "../../server/curriculum/types.ts";

/** Reads a whole state at once. Throws a FormatError for data that encodeState did not write. */
export function decodeState<Spec, Key extends InstanceKey>(
  bytes: Uint8Array,
  codecs: Codecs<Spec, Key>,
): RunState<Spec, Key> {
  const reader = stateReader(codecs);
  for (const piece of piecesOf(bytes)) reader.take(piece.bytes);
  return reader.end();
}

/** Returns the state after stored events. */
export function follow<Spec, Key extends InstanceKey>(
  state: RunState<Spec, Key> | undefined,
  events: readonly Uint8Array[],
  codecs: Codecs<Spec, Key>,
): RunState<Spec, Key> | undefined {
  return events.reduce((now, bytes) => {
    const message = readEvent(bytes);
    const written = stateIn(message);
    return apply(now, eventFrom(message, now, codecs, written && decodeState(written, codecs)));
  }, state);
}
