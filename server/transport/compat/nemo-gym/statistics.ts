/** Statistics of samples, as pandas and scipy compute them for NeMo Gym. */

/** The 0.975 quantile of the normal distribution. */
const Z = 1.959963984540054;
/**
 * Degrees of freedom above which `tQuantile` uses an asymptotic series in place of bisection. Its error is then below
 * 1e-8.
 */
const MANY = 1000;

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Returns the standard deviation of a sample of two or more values. */
export function std(values: readonly number[]): number {
  const middle = mean(values);
  return Math.sqrt(values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1));
}

/**
 * Returns a quantile of sorted values, interpolated linearly between neighbours. `share` is from 0 (minimum) to 1
 * (maximum).
 */
export function quantile(sorted: readonly number[], share: number): number {
  const at = share * (sorted.length - 1);
  const [low = Number.NaN, high = low] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]];
  return low + (high - low) * (at - Math.floor(at));
}

/** Returns the 95% confidence interval of the mean by Student's t. Undefined: there are fewer than two values. */
export function intervalOf(values: readonly number[]): readonly [low: number, high: number] | undefined {
  if (values.length < 2) return undefined;
  const half = (tQuantile(values.length - 1) * std(values)) / Math.sqrt(values.length);
  return [mean(values) - half, mean(values) + half];
}

/** Returns the 0.975 quantile of Student's t, by bisection of its angle atan(t / √degrees). */
export function tQuantile(degrees: number): number {
  if (degrees >= MANY) {
    const first = (Z ** 3 + Z) / 4;
    const second = (5 * Z ** 5 + 16 * Z ** 3 + 3 * Z) / 96;
    return Z + first / degrees + second / degrees ** 2;
  }
  let [low, high] = [0, Math.PI / 2];
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (withinAngle(middle, degrees) < 0.95) low = middle;
    else high = middle;
  }
  return Math.tan(low) * Math.sqrt(degrees);
}

/** Returns the probability that t lies within an angle, which is a finite sum for whole degrees of freedom. */
function withinAngle(angle: number, degrees: number): number {
  const [sin, cos] = [Math.sin(angle), Math.cos(angle)];
  const isOdd = degrees % 2 === 1;
  let term = isOdd ? cos : 1;
  let sum = 0;
  for (let power = isOdd ? 1 : 0; power < degrees - 1; power += 2) {
    sum += term;
    term *= (cos ** 2 * (power + 1)) / (power + 2);
  }
  return isOdd ? (2 / Math.PI) * (angle + sin * sum) : sin * sum;
}
