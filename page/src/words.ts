/** Numbers, times and the contract's names in words. */

const whole = new Intl.NumberFormat("en");

/** E.g. "12,400". */
export function count(value: number | bigint): string {
  return whole.format(value);
}

/** "1 task", "2 tasks". */
export function counted(value: number | bigint, one: string, many = `${one}s`): string {
  return `${count(value)} ${Number(value) === 1 ? one : many}`;
}

/** E.g. "34%", and "0.4%" where it is little. */
export function percent(share: number): string {
  const hundredths = 100 * share;
  if (hundredths > 0 && hundredths < 1) return `${hundredths.toFixed(1)}%`;
  return `${Math.round(hundredths)}%`;
}

/** A reward, a value: three digits behind the point at most. */
export function figure(value: number | undefined): string {
  if (value === undefined) return "–";
  if (!Number.isFinite(value)) return String(value);
  return String(Math.round(value * 1000) / 1000);
}

/** With its sign. */
export function signed(value: number): string {
  return `${value > 0 ? "+" : ""}${figure(value)}`;
}

/** "14:03:22"; of another day with its date. */
export function clock(date: Date): string {
  const time = date.toLocaleTimeString("en-GB");
  // Swedish dates are ISO's, of the reader's time zone as the time is.
  return date.toDateString() === new Date().toDateString() ? time : `${date.toLocaleDateString("sv-SE")} ${time}`;
}

/** "3 s", "12 min", "5 h", "9 days". */
export function span(milliseconds: number): string {
  const seconds = Math.max(0, milliseconds / 1000);
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 129_600) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}

export const formatWords: Readonly<Record<string, string>> = {
  think_answer: "think and answer tags",
  answer_line: "Answer: line",
  answer_tag: "answer tag",
  boxed: "\\boxed{}",
};
