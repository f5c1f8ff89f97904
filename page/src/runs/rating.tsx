/** Dialog that sets pass rates of an arm's rows, from a pasted file of gradus pools profile or gradus eval. */
import { useState } from "preact/hooks";
import { readRates, type RowRates } from "../../../clients/ts/src/rates.ts";
import { gradus } from "../connection.ts";
import { counted } from "../words.ts";
import { type ActionProps, ChangeDialog, type Effect } from "./change.tsx";

/** Default number of samples that each pass rate counts for. */
const WORTH = 8;

export function RatingDialog({ run: { runId, config }, armId, onClose }: ActionProps & { readonly armId: string }) {
  const [text, setText] = useState("row,pass_rate\n");
  const [worth, setWorth] = useState("");
  // Select the pool of the arm, because a report may have rows of several pools.
  const { rates, problem } = readText(text, config.arms.find(({ id }) => id === armId)?.spec?.pool || undefined);
  const samples = worth.trim() === "" ? WORTH : Number(worth);
  const change = async (told: RowRates, validateOnly: boolean): Promise<Effect> => {
    const appliesFromCursor = await gradus.value.run(runId).rateRows(armId, told, samples, { validateOnly });
    const what = `What is known of ${counted(told.size, "row")} is what is given here, worth ${counted(samples, "sample")} each.`;
    return { appliesFromCursor, words: [what] };
  };
  return (
    <ChangeDialog
      title={`Rate rows of ${armId}`}
      words="Pass rates of rows, in place of what the run knows of them. Rows that are not named keep what is known."
      verb="Rate them"
      given={JSON.stringify([text, worth])}
      change={rates === undefined ? undefined : (validateOnly) => change(rates, validateOnly)}
      onClose={onClose}
    >
      <textarea
        aria-label="CSV with the columns row and pass_rate, or report.json of gradus eval"
        rows={10}
        spellcheck={false}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      {problem !== undefined && <p class="effect poor">{problem}</p>}
      <label class="field narrow">
        <span>Samples that each rate is worth</span>
        <input
          inputMode="decimal"
          placeholder={String(WORTH)}
          value={worth}
          onInput={(event) => setWorth(event.currentTarget.value)}
        />
      </label>
    </ChangeDialog>
  );
}

/** Parses the text. Returns neither rates nor a problem for an empty text. */
function readText(text: string, pool: string | undefined): { readonly rates?: RowRates; readonly problem?: string } {
  try {
    const rates = readRates(text, pool);
    return rates.size === 0 ? {} : { rates };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}
