/** Times of the day, in the prompt and in answers. */

/** Minutes since midnight as "09:30". */
export function clockTime(minutes: number): string {
  return `${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}`;
}

function twoDigits(number: number): string {
  return `${number}`.padStart(2, "0");
}

const TIME = /(["']?)(\d\d?):(\d\d)\1/y;

/** A time at an offset, in quotes or not, and where it ends; undefined: there is none from 00:00 to 23:59. */
export function readTime(text: string, at: number): { readonly minutes: number; readonly end: number } | undefined {
  TIME.lastIndex = at;
  const [, , hour, minute] = TIME.exec(text) ?? [];
  if (hour === undefined || Number(hour) > 23 || Number(minute) > 59) return undefined;
  return { minutes: 60 * Number(hour) + Number(minute), end: TIME.lastIndex };
}
