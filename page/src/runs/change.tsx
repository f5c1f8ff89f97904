/** Dialog for a change of a run. Asks the server for the effect first, and shows it before the change is made. */
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { noteFailure } from "../connection.ts";
import { Dialog, leaveDialog } from "../ui/dialog.tsx";
import { Failure } from "../ui/parts.tsx";
import type { Tone } from "../ui/tone.ts";
import { count } from "../words.ts";
import type { ReadRun } from "./state.ts";

export interface Effect {
  /** Position of the first task to which the change applies. Undefined if it applies at once. */
  readonly appliesFromCursor?: bigint;
  readonly noEffect?: readonly string[];
  /** Further effects of the change, as sentences. */
  readonly words?: readonly string[];
}

/** Makes the change. With `validateOnly`, only returns its effect. */
export type Change = (validateOnly: boolean) => Promise<Effect>;

export interface ActionProps {
  readonly run: ReadRun;
  readonly onClose: () => void;
}

interface ChangeProps {
  readonly title: string;
  readonly words: string;
  /** Text of the button that makes the change. */
  readonly verb: string;
  /** Change to make. Undefined while the input is incomplete. */
  readonly change: Change | undefined;
  /**
   * Text that the reader entered for the change. When it changes, the dialog asks the server for the effect again.
   */
  readonly given?: string;
  readonly tone?: Tone;
  readonly children?: ComponentChildren;
  readonly onClose: () => void;
}

/** Effect of a change, with the input for which the server reported it. */
interface KnownEffect {
  readonly given: string;
  readonly effect: Effect;
}

const TYPING_MS = 250;

export function ChangeDialog({ title, words, verb, change, given = "", tone, children, onClose }: ChangeProps) {
  const [known, setKnown] = useState<KnownEffect>();
  const [error, setError] = useState<Error>();
  const [done, setDone] = useState<Effect>();
  const [busy, setBusy] = useState(false);
  // Ignore an effect that the server reported for an earlier input, even before the new effect is fetched.
  const effect = known?.given === given ? known.effect : undefined;
  const failed = (thrown: unknown) => setError(noteFailure(thrown));
  useEffect(() => {
    setKnown(undefined);
    setError(undefined);
    if (change === undefined || done !== undefined) return undefined;
    let left = false;
    const look = () =>
      void change(true).then(
        (effect) => left || setKnown({ given, effect }),
        (thrown: unknown) => left || failed(thrown),
      );
    const timer = setTimeout(look, given === "" ? 0 : TYPING_MS);
    return () => {
      left = true;
      clearTimeout(timer);
    };
  }, [given, change === undefined, done]);
  const act = async (event: Event) => {
    event.preventDefault();
    if (change === undefined) return;
    setBusy(true);
    try {
      setDone(await change(false));
      setError(undefined);
    } catch (thrown) {
      failed(thrown);
    }
    setBusy(false);
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={(event) => void act(event)}>
        <p class="note">{words}</p>
        {done === undefined && children}
        <div role="status">
          {done === undefined && effect !== undefined && <EffectWords effect={effect} />}
          {done !== undefined && <EffectWords effect={done} done />}
        </div>
        {error !== undefined && <Failure error={error} />}
        <div class="actions">
          <button type="button" onClick={leaveDialog}>
            {done === undefined ? "Leave it" : "Close"}
          </button>
          {done === undefined && (
            <button type="submit" class={tone === "bad" ? "danger" : "main"} disabled={busy || effect === undefined}>
              {verb}
            </button>
          )}
        </div>
      </form>
    </Dialog>
  );
}

function EffectWords({ effect, done = false }: { readonly effect: Effect; readonly done?: boolean }) {
  const { appliesFromCursor, noEffect = [], words = [] } = effect;
  const from = appliesFromCursor === undefined ? undefined : `From task ${count(appliesFromCursor)} on.`;
  const said = [from, ...words].filter((sentence) => sentence !== undefined);
  return (
    <>
      {said.length > 0 && (
        <p class="effect">
          <b>{done ? "Done. " : "What it does: "}</b>
          {said.join(" ")}
        </p>
      )}
      {noEffect.length > 0 && (
        <p class="effect poor">
          <b>No effect: </b>
          {noEffect.join(" ")}
        </p>
      )}
    </>
  );
}
