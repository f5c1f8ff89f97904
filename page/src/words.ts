/** Formats numbers, times and names of the contract as text. */

const whole = new Intl.NumberFormat("en");

/** Formats a number, e.g. "12,400". */
export function count(value: number | bigint): string {
  return whole.format(value);
}

/** Formats a number with its noun, e.g. "1 task" or "2 tasks". */
export function counted(value: number | bigint, one: string, many = `${one}s`): string {
  return `${count(value)} ${Number(value) === 1 ? one : many}`;
}

/** Formats a size in bytes, e.g. "12 MiB". */
export function bytes(size: bigint): string {
  return size >= 1_048_576n ? `${count(size / 1_048_576n)} MiB` : `${count(size / 1024n)} KiB`;
}

/** Formats a share, e.g. "34%", or "0.4%" if it is below 1%. */
export function percent(share: number): string {
  const hundredths = 100 * share;
  if (hundredths > 0 && hundredths < 1) return `${hundredths.toFixed(1)}%`;
  return `${Math.round(hundredths)}%`;
}

/** Formats a reward or a value, with at most three decimal places. */
export function figure(value: number | undefined): string {
  if (value === undefined) return "–";
  if (!Number.isFinite(value)) return String(value);
  return String(Math.round(value * 1000) / 1000);
}

/** Formats a number with its sign. */
export function signed(value: number): string {
  return `${value > 0 ? "+" : ""}${figure(value)}`;
}

/** Formats a time, e.g. "14:03:22", with the date if it is on another day. */
export function clock(date: Date): string {
  const time = date.toLocaleTimeString("en-GB");
  // Use Swedish dates, which have the ISO format, in the reader's time zone.
  return date.toDateString() === new Date().toDateString() ? time : `${date.toLocaleDateString("sv-SE")} ${time}`;
}

/** Formats a duration, e.g. "3 s", "12 min", "5 h" or "9 days". */
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
