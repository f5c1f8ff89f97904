/** Components that all views share. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { hrefOf } from "../address.ts";
import type { Answer } from "../answers.ts";
import { GradusError } from "../../../clients/ts/src/errors.ts";
import { lostSince } from "../connection.ts";
import { useArrival } from "./arrival.ts";
import type { Tone } from "./tone.ts";

type Children = { readonly children?: ComponentChildren };

/** Head of a view: its title, a note, and its actions. */
export function Heading({
  title,
  note,
  children,
}: Children & { readonly title: ComponentChildren; readonly note?: ComponentChildren }) {
  const heading = useArrival();
  return (
    <header class="heading">
      <div>
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {note !== undefined && <p>{note}</p>}
      </div>
      {children !== undefined && <div class="actions">{children}</div>}
    </header>
  );
}

export function Panel({
  title,
  note,
  wide,
  children,
}: Children & { readonly title: string; readonly note?: ComponentChildren; readonly wide?: boolean }) {
  return (
    <section class={wide ? "panel wide" : "panel"} aria-label={title}>
      <h2>{title}</h2>
      {note !== undefined && <p class="note">{note}</p>}
      {children}
    </section>
  );
}

/** Short label in the colour of its tone, e.g. red for "bad". */
export function Tag({ tone = "plain", children }: Children & { readonly tone?: Tone }) {
  return <span class={`tag ${tone}`}>{children}</span>;
}

export function Failure({ error, again }: { readonly error: Error; readonly again?: () => void }) {
  const code = error instanceof GradusError ? error.code.toLowerCase().replaceAll("_", " ") : "error";
  return (
    <div class="failure" role="alert">
      <b>{code}</b> <span>{error.message}</span>
      {again !== undefined && (
        <button type="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  );
}

/** Warnings, shown above the numbers that they concern. */
export function Warnings({ words }: { readonly words: readonly string[] }) {
  return (
    <>
      {words.map((each) => (
        <div key={each} class="failure" role="alert">
          <b>warning</b> <span>{each}</span>
        </div>
      ))}
    </>
  );
}

/** Shows a result, or the error or loading state. If the server is down, the previous result stays. */
export function Answered<T>({
  answer,
  children,
}: {
  readonly answer: Answer<T>;
  readonly children: (value: T) => ComponentChildren;
}) {
  const { value, error, again } = answer;
  if (error !== undefined && (value === undefined || lostSince.value === undefined))
    return <Failure error={error} again={again} />;
  if (value === undefined) return <Waiting />;
  return <>{children(value)}</>;
}

/** Text shown in place of a view that needs another role. `what` begins the sentence, e.g. "This view is". */
export function NotForRole({ role, what }: { readonly role: string; readonly what: string }) {
  return (
    <p class="empty">
      {what} for tokens with the role {role}. Yours may look at <a href={hrefOf(["runs"])}>runs</a>,{" "}
      <a href={hrefOf(["evaluations"])}>evaluations</a> and the <a href={hrefOf(["server"])}>server</a>.
    </p>
  );
}

export function Waiting() {
  return (
    <p class="waiting" role="status">
      Loading…
    </p>
  );
}

export interface Option {
  readonly value: string;
  readonly text: string;
  readonly disabled?: boolean;
}

type Choosing = {
  readonly label: string;
  readonly value: string;
  readonly options: readonly Option[];
  readonly onChoose: (value: string) => void;
};

export function Select({ label, value, options, onChoose }: Choosing) {
  return (
    <label class="field">
      <span>{label}</span>
      <select value={value} onChange={(event) => onChoose(event.currentTarget.value)}>
        {options.map((option) => (
          <option key={option.value} value={option.value} disabled={option.disabled}>
            {option.text}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Radio buttons side by side. */
export function Segments({ label, value, options, onChoose }: Choosing) {
  return (
    <fieldset class="segments">
      <legend>{label}</legend>
      {options.map((option) => (
        <label key={option.value} class={option.value === value ? "chosen" : ""}>
          <input
            type="radio"
            name={label}
            value={option.value}
            checked={option.value === value}
            onChange={() => onChoose(option.value)}
          />
          {option.text}
        </label>
      ))}
    </fieldset>
  );
}

export function Search({
  label,
  value,
  onType,
}: {
  readonly label: string;
  readonly value: string;
  readonly onType: (text: string) => void;
}) {
  return (
    <label class="field">
      <span>{label}</span>
      <input type="search" value={value} onInput={(event) => onType(event.currentTarget.value)} />
    </label>
  );
}

interface CopyProps {
  /** Text to copy, or a function that returns it, for long texts. */
  readonly text: string | (() => string);
  readonly what: string;
  /** Words on the button after "Copy". Defaults to none, and `what` is then for screen readers only. */
  readonly words?: string;
}

/** Button that copies a text. Renders nothing if the browser forbids copying: over HTTP from another machine. */
export function CopyButton({ text, what, words }: CopyProps) {
  const [copied, setCopied] = useState(false);
  if (!isSecureContext) return null;
  const copy = async () => {
    await navigator.clipboard.writeText(typeof text === "string" ? text : text());
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  };
  return (
    <button
      type="button"
      class="quiet"
      aria-label={words === undefined ? `Copy ${what}` : undefined}
      title={words === undefined ? undefined : `Copies ${what}`}
      onClick={() => void copy()}
    >
      {copied ? "Copied" : ["Copy", words].join(" ").trim()}
    </button>
  );
}

/** List of names and values. */
export function Facts({ facts }: { readonly facts: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Bar that shows a share of a whole, with its percentage. */
export function Share({
  value,
  label,
  tone = "best",
}: {
  readonly value: number;
  readonly label: string;
  readonly tone?: Tone;
}) {
  return (
    <span class={`share ${tone}`}>
      <span class="track" aria-hidden="true">
        <span style={{ width: `${100 * Math.min(1, Math.max(0, value))}%` }} />
      </span>
      <span>{label}</span>
    </span>
  );
}

/** Tabs, each a link to an address of its own. */
export function Tabs({
  label,
  tabs,
  current,
}: {
  readonly label: string;
  readonly tabs: readonly { readonly name: string; readonly text: string; readonly href: string }[];
  readonly current: string;
}) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ name, text, href }) => (
        <a key={name} href={href} aria-current={name === current ? "page" : undefined}>
          {text}
        </a>
      ))}
    </nav>
  );
}
