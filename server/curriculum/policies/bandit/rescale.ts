/** Rescales signals to [−1, 1] by quantiles of recent signals (Graves et al. 2017, section 3.1). */
import { LIMITS } from "../../../../proto/limits.ts";
import { FormatError, type Json } from "../../json.ts";
import { invalid, type Invalid } from "../../types.ts";
import type { Fields } from "../fields.ts";
import { inRange } from "../policy.ts";
import type { Lesson } from "./rule.ts";

/** Default quantiles, from the paper. */
const DEFAULT_LOW = 0.2;
const DEFAULT_HIGH = 0.8;
/** Range and default of the window's length. The paper keeps a sample of all earlier signals instead. */
const WINDOW = LIMITS.SignalRescale.window;

export interface Rescale {
  readonly lowQuantile: number;
  readonly highQuantile: number;
  /** Number of most recent signals from which the quantiles are computed. */
  readonly window: number;
}

export function readRescale(of: Fields<"rescale">): Rescale | undefined {
  const fields = of.object("rescale", ["low_quantile", "high_quantile", "window"]);
  return (
    fields && {
      lowQuantile: fields.number("low_quantile") ?? DEFAULT_LOW,
      highQuantile: fields.number("high_quantile") ?? DEFAULT_HIGH,
      window: fields.count("window") ?? WINDOW.default,
    }
  );
}

export function writeRescale({ lowQuantile, highQuantile, window }: Rescale): Json {
  return { low_quantile: lowQuantile, high_quantile: highQuantile, window };
}

export function checkRescale(rescale: Rescale | undefined): Invalid | undefined {
  if (rescale === undefined) return undefined;
  const { lowQuantile: low, highQuantile: high, window } = rescale;
  if (!(low >= 0 && low < 1)) return invalid("rescale.low_quantile", `must be at least 0 and below 1, not ${low}`);
  if (!(high > low && high <= 1))
    return invalid("rescale.high_quantile", `must be above low_quantile, ${low}, and at most 1, not ${high}`);
  return inRange("rescale.window", window, WINDOW.min, WINDOW.max);
}

/**
 * Number of steps between powers of 2 in stored signals. Each signal is stored as a code of 12 bits, because a window
 * of signals is written with each draw. Code 0 is the signal 0. Other codes round down, so a stored signal is at most
 * 1.6% too small.
 */
const FRACTION = 64;
const EXPONENT_MIN = -33;
const CODE_MAX = 4095;
const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

export function codeOf(signal: number): number {
  if (!(signal > 0)) return 0;
  // The code is taken from the number's bits, because computing a logarithm would round.
  const bytes = new DataView(new ArrayBuffer(8));
  bytes.setFloat64(0, signal);
  const high = bytes.getUint32(0);
  const exponent = (high >>> 20) - 1023;
  if (exponent < EXPONENT_MIN) return 0;
  const fraction = (high >>> 14) & (FRACTION - 1);
  return Math.min(CODE_MAX, 1 + (exponent - EXPONENT_MIN) * FRACTION + fraction);
}

export function signalOf(code: number): number {
  if (code === 0) return 0;
  const exponent = EXPONENT_MIN + Math.floor((code - 1) / FRACTION);
  return 2 ** exponent * (1 + ((code - 1) % FRACTION) / FRACTION);
}

/** Writes the codes as text, two base-64 digits for each code. */
export function windowToText(codes: readonly number[]): string {
  return codes.map((code) => `${DIGITS[code >> 6]}${DIGITS[code & 63]}`).join("");
}

export function windowFromText(text: string): readonly number[] {
  const digits = Array.from(text, (digit) => DIGITS.indexOf(digit));
  if (digits.length % 2 > 0 || digits.includes(-1))
    throw new FormatError("the bandit's stored window of signals is damaged");
  return Array.from({ length: digits.length / 2 }, (_, i) => (digits[2 * i] ?? 0) * 64 + (digits[2 * i + 1] ?? 0));
}

/** Returns the smallest signal such that at least `share` of all signals are less or equal. */
function quantile(sorted: readonly number[], share: number): number {
  const place = Math.max(0, Math.ceil(share * sorted.length - 1e-9) - 1);
  return signalOf(sorted[place] ?? 0);
}

/**
 * Returns the window with a batch's signals added, and those signals rescaled: −1 at or below the low quantile, 1 at or
 * above the high quantile. If both quantiles are equal, smaller signals become −1, larger signals 1, and equal signals
 * 0.
 */
export function rescaled(
  { lowQuantile, highQuantile, window }: Rescale,
  before: readonly number[],
  lessons: readonly Lesson[],
): { readonly window: readonly number[]; readonly lessons: readonly Lesson[] } {
  const codes = [...before, ...lessons.map(({ signal }) => codeOf(signal))].slice(-window);
  const sorted = codes.toSorted((a, b) => a - b);
  const low = quantile(sorted, lowQuantile);
  const high = quantile(sorted, highQuantile);
  const scaled = (signal: number): number => {
    const known = signalOf(codeOf(signal));
    if (high === low) return Math.sign(known - low);
    return Math.max(-1, Math.min(1, (2 * (known - low)) / (high - low) - 1));
  };
  return { window: codes, lessons: lessons.map((lesson) => ({ ...lesson, signal: scaled(lesson.signal) })) };
}
