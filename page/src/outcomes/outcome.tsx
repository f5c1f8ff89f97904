/** Shows the outcome of a completion: its reward and components, what is wrong, and the text with its answers. */
import { type RewardComponent, StopReason } from "../../../clients/ts/src/public.ts";
import type { Outcome, ScoredOutcome } from "../../../clients/ts/src/outcomes.ts";
import { Facts, Tag } from "../ui/parts.tsx";
import { counted, figure, signed } from "../words.ts";
import { Completion } from "./completion.tsx";
import { Conversation, type Said } from "./conversation.tsx";
import { outcomeTone, verdictWords } from "./verdict.ts";
import { visible } from "./visible.ts";

interface OutcomeProps {
  readonly outcome: Outcome;
  readonly completion: string;
  /** Messages of an episode, which are shown instead of the completion. Unset: the completion is shown. */
  readonly messages?: readonly Said[] | undefined;
  /** Whether the completion is shown. Defaults to true. */
  readonly hasText?: boolean;
}

export function OutcomeShown({ outcome, completion, messages, hasText = true }: OutcomeProps) {
  return (
    <div class="stack outcome">
      <p class="verdict">
        <b class="reward">{outcome.kind === "scored" ? signed(outcome.reward) : "no reward"}</b>
        <Tag tone={outcomeTone(outcome)}>{verdictWords(outcome)}</Tag>
        {outcome.kind === "scored" && outcome.truncated && <Tag tone="poor">truncated</Tag>}
      </p>
      {outcome.kind === "unscored" && <p class="effect poor">{visible(outcome.detail)}</p>}
      {outcome.kind === "scored" && outcome.violation !== "" && (
        <p class="effect poor">
          <b>What is wrong: </b>
          {visible(outcome.violation)}
        </p>
      )}
      {outcome.kind === "scored" && <Components components={outcome.components} />}
      {messages !== undefined && <Conversation messages={messages} />}
      {messages === undefined && hasText && (
        <Completion text={completion} spans={outcome.kind === "scored" ? outcome.spans : []} />
      )}
      {outcome.kind === "scored" && <OutcomeFacts outcome={outcome} />}
    </div>
  );
}

/** Shows each component's part of the reward, as a bar from zero. */
export function Components({ components }: { readonly components: readonly RewardComponent[] }) {
  if (components.length === 0) return null;
  const parts = components.map(({ value, weight }) => (value ?? 0) * weight);
  const largest = Math.max(1, ...parts.map(Math.abs));
  return (
    <table class="components">
      <caption>What the reward is made of</caption>
      <tbody>
        {components.map(({ name, value, weight, reason }, at) => (
          <tr key={name}>
            <th scope="row">{name.replaceAll("_", " ")}</th>
            <td>{value === undefined ? "–" : signed(parts[at] ?? 0)}</td>
            <td class="words">
              {value === undefined ? (
                <span class="note">left out: {visible(reason)}</span>
              ) : (
                <Bar part={(parts[at] ?? 0) / largest} />
              )}
            </td>
            <td class="note">{weight !== 1 && `${figure(value)} × ${figure(weight)}`}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Bar({ part }: { readonly part: number }) {
  const width = `${50 * Math.abs(part)}%`;
  return (
    <span class="bar" aria-hidden="true">
      <span class={part < 0 ? "below" : "above"} style={part < 0 ? { right: "50%", width } : { left: "50%", width }} />
    </span>
  );
}

/** Reasons why an episode ended, in words. */
const endings: Readonly<Record<number, string>> = {
  [StopReason.GOAL]: "by the task",
  [StopReason.BUDGET]: "out of calls",
  [StopReason.ENDED]: "by the trainer",
  [StopReason.TRUNCATED]: "a completion was cut",
};

function scoreOf({ message: { result } }: ScoredOutcome) {
  return result.case === "score" ? result.value : undefined;
}

function OutcomeFacts({ outcome }: { readonly outcome: ScoredOutcome }) {
  const { objective, baseline, ratio, info, rlooAdvantage, grpoAdvantage } = outcome;
  const { stopReason = StopReason.UNSPECIFIED, calls = 0 } = scoreOf(outcome) ?? {};
  return (
    <Facts
      facts={[
        ...(stopReason === StopReason.UNSPECIFIED
          ? []
          : [["ended", `${endings[stopReason] ?? "?"}, after ${counted(calls, "call")}`] as const]),
        ...(objective === undefined ? [] : [["objective", figure(objective)] as const]),
        ...(baseline === undefined ? [] : [[`the ${baseline.proof} value`, figure(baseline.value)] as const]),
        ...(ratio === undefined ? [] : [["ratio", figure(ratio)] as const]),
        ...(rlooAdvantage === undefined ? [] : [["advantage (RLOO)", signed(rlooAdvantage)] as const]),
        ...(grpoAdvantage === undefined ? [] : [["advantage (GRPO)", signed(grpoAdvantage)] as const]),
        ...Object.entries(info).map(([name, value]) => [name.replaceAll("_", " "), visible(value)] as const),
      ]}
    />
  );
}
