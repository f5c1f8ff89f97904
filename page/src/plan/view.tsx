/** View of a plan: a run file that is checked while it is typed, tried on a simulated student, and started. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { CheckRunResponse, RunRemark } from "../../../clients/ts/src/public.ts";
import { CurriculumService } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import { go, hrefOf } from "../address.ts";
import { useAnswer } from "../answers.ts";
import { gradus, noteFailure } from "../connection.ts";
import { Failure, Heading, Panel, Tag } from "../ui/parts.tsx";
import { counted } from "../words.ts";
import { Preview } from "./preview.tsx";
import { template } from "./template.ts";

const DRAFT = "gradus.plan";
const TYPING_MS = 300;

export function PlanView() {
  const [text, setText] = useState(sessionStorage.getItem(DRAFT) ?? template);
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    sessionStorage.setItem(DRAFT, text);
    const timer = setTimeout(() => setSettled(text), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const checked = useAnswer(
    (client, options) =>
      client.unary(CurriculumService.method.checkRun, { source: { case: "file", value: settled } }, options),
    [settled],
  );
  // If the newest check of the plan failed, use no earlier result, so that nothing can be started.
  const known = checked.error === undefined ? checked.value : undefined;
  const area = useRef<HTMLTextAreaElement>(null);
  return (
    <>
      <Heading
        title="Plan"
        note="A run file, checked as it is typed. Try it on a simulated student before a model's hours are spent."
      />
      <div class="halves">
        <Panel title="The run file">
          <textarea
            ref={area}
            class="plan"
            aria-label="The run file"
            spellcheck={false}
            rows={26}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
          {checked.error !== undefined && <Failure error={checked.error} again={checked.again} />}
          {known !== undefined && <Remarks checked={known} onLine={(line) => selectLine(area.current, line)} />}
        </Panel>
        <div class="stack">
          {known?.config !== undefined && known.problems.length === 0 ? (
            <>
              <Start checked={known} isCurrent={settled === text && !checked.waiting} />
              <Preview config={known.config} />
            </>
          ) : (
            <Panel title="Once it is right">
              <p class="note">It can be played with a simulated student here, and started.</p>
            </Panel>
          )}
        </div>
      </div>
    </>
  );
}

function selectLine(area: HTMLTextAreaElement | null, line: number): void {
  if (area === null || line === 0) return;
  const lines = area.value.split("\n");
  const start = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
  area.focus();
  area.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
}

function Remarks({ checked, onLine }: { readonly checked: CheckRunResponse; readonly onLine: (line: number) => void }) {
  const { problems, warnings } = checked;
  return (
    <div role="status" class="remarks">
      {problems.length === 0 ? (
        <Tag tone="good">✓ it can be started</Tag>
      ) : (
        <Tag tone="bad">{counted(problems.length, "problem")}</Tag>
      )}
      <ul class="entries">
        {problems.map((remark, at) => (
          <Remark key={at} remark={remark} tone="bad" onLine={onLine} />
        ))}
        {warnings.map((remark, at) => (
          <Remark key={`w${at}`} remark={remark} tone="poor" onLine={onLine} />
        ))}
      </ul>
    </div>
  );
}

interface RemarkProps {
  readonly remark: RunRemark;
  readonly tone: "bad" | "poor";
  readonly onLine: (line: number) => void;
}

function Remark({ remark: { field, message, line }, tone, onLine }: RemarkProps) {
  return (
    <li>
      {line > 0 && (
        <button type="button" class="quiet" onClick={() => onLine(line)}>
          line {line}
        </button>
      )}{" "}
      <Tag tone={tone}>{tone === "bad" ? "problem" : "to know"}</Tag> <code>{field}</code> {message}
    </li>
  );
}

/** Form that starts the run. `isCurrent` is true if the text shown is the text that was checked. */
function Start({ checked, isCurrent }: { readonly checked: CheckRunResponse; readonly isCurrent: boolean }) {
  const [typed, setTyped] = useState("");
  const [error, setError] = useState<Error>();
  const runId = typed.trim() || checked.runId;
  const { config } = checked;
  if (config === undefined) return null;
  const start = async (event: Event) => {
    event.preventDefault();
    try {
      await gradus.value.run(runId).create(config);
      go(hrefOf(["runs", runId]));
    } catch (thrown) {
      setError(noteFailure(thrown));
    }
  };
  return (
    <Panel title="Start it" note="A trainer goes on with it by its id.">
      <form class="toolbar" onSubmit={(event) => void start(event)}>
        <label class="field">
          <span>Id of the run</span>
          <input value={typed} placeholder={checked.runId} onInput={(event) => setTyped(event.currentTarget.value)} />
        </label>
        <button type="submit" class="main" disabled={runId === "" || !isCurrent}>
          Start the run
        </button>
      </form>
      {error !== undefined && <Failure error={error} />}
    </Panel>
  );
}
