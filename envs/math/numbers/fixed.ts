/**
 * Elementary functions of reals in fixed point: a bigint stands for itself over 2^precision. Each result is within one
 * unit of the last place, for they are worked out with GUARD more bits. Series stop when their terms vanish, so that
 * steps depend on the precision only.
 */

const GUARD = 48;

/** Constants by precision: each is worked out once. */
const piAt = new Map<number, bigint>();
const ln2At = new Map<number, bigint>();

function memo(known: Map<number, bigint>, precision: number, make: () => bigint): bigint {
  let value = known.get(precision);
  if (value === undefined) known.set(precision, (value = make()));
  return value;
}

/** Rounded to the nearest. */
function rounded(value: bigint, shift: number): bigint {
  return (value + (1n << BigInt(shift - 1))) >> BigInt(shift);
}

/** Machin: π = 16 atan(1/5) − 4 atan(1/239). */
export function pi(precision: number): bigint {
  return memo(piAt, precision, () => {
    const p = precision + GUARD;
    return rounded(16n * atanInverse(5n, p) - 4n * atanInverse(239n, p), GUARD);
  });
}

function atanInverse(x: bigint, precision: number): bigint {
  let term = (1n << BigInt(precision)) / x;
  let sum = term;
  for (let k = 3n, sign = -1n; term !== 0n; k += 2n, sign = -sign) {
    term /= x * x;
    sum += (sign * term) / k;
  }
  return sum;
}

/** ln 2 = 2 atanh(1/3). */
function ln2(precision: number): bigint {
  return memo(ln2At, precision, () => {
    const p = precision + GUARD;
    let term = (2n << BigInt(p)) / 3n;
    let sum = term;
    for (let k = 3n; term !== 0n; k += 2n) {
      term /= 9n;
      sum += term / k;
    }
    return rounded(sum, GUARD);
  });
}

const HALVINGS = 12;

/** e^x. The caller sees to it that x is not large. */
export function exp(x: bigint, precision: number): bigint {
  const p = precision + GUARD;
  const bits = BigInt(p);
  const scaled = x << BigInt(GUARD);
  const log2 = ln2(p);
  const k = scaled / log2;
  const rest = (scaled - k * log2) >> BigInt(HALVINGS);
  let term = 1n << bits;
  let sum = term;
  for (let i = 1n; term !== 0n && term !== -1n; i++) {
    term = ((term * rest) >> bits) / i;
    sum += term;
  }
  for (let i = 0; i < HALVINGS; i++) sum = (sum * sum) >> bits;
  const shift = Number(k) - GUARD;
  return shift >= 0 ? sum << BigInt(shift) : rounded(sum, -shift);
}

/** ln x of x > 0: Halley's steps treble the digits of a double's logarithm. */
export function ln(x: bigint, precision: number): bigint {
  const p = precision + GUARD;
  // x = mantissa · 2^exponent with the mantissa near 1.
  const length = x.toString(2).length;
  const exponent = length - 1 - precision;
  const mantissa = length - 1 > p ? x >> BigInt(length - 1 - p) : x << BigInt(p - length + 1);
  let y = toFixed(Math.log(toNumber(mantissa, p)), p);
  for (let digits = 48; digits < p; digits *= 3) {
    const e = exp(y, p);
    y += (((mantissa - e) << BigInt(p)) * 2n) / (mantissa + e);
  }
  return rounded(y + BigInt(exponent) * ln2(p), GUARD);
}

/** sin x and cos x, of any x. */
export function sinCos(x: bigint, precision: number): readonly [sin: bigint, cos: bigint] {
  const p = precision + GUARD;
  const bits = BigInt(p);
  // Of a large x the multiple of 2π needs as many more digits.
  const extra = Math.max(0, x.toString(16).length * 4 - precision) + 8;
  const turn = 2n * pi(p + (extra > 32 ? Math.ceil(extra / 64) * 64 : 32));
  const wide = extra > 32 ? Math.ceil(extra / 64) * 64 : 32;
  const reduced = ((x << BigInt(GUARD + wide)) % turn) >> BigInt(wide);
  const rest = reduced >> BigInt(HALVINGS);
  let [re, im, term] = [1n << bits, 0n, 1n << bits];
  for (let i = 1; term !== 0n && term !== -1n; i++) {
    term = ((term * rest) >> bits) / BigInt(i);
    if (i % 4 === 1) im += term;
    else if (i % 4 === 2) re -= term;
    else if (i % 4 === 3) im -= term;
    else re += term;
  }
  for (let i = 0; i < HALVINGS; i++) [re, im] = [(re * re - im * im) >> bits, (2n * re * im) >> bits];
  return [rounded(im, GUARD), rounded(re, GUARD)];
}

/** atan x: a double's, and the rest of the angle by its series, which is short. */
export function atan(x: bigint, precision: number): bigint {
  const p = precision + GUARD;
  const bits = BigInt(p);
  const guess = toFixed(Math.atan(toNumber(x, precision)), p);
  const [sin, cos] = sinCos(guess, p);
  const scaled = x << BigInt(GUARD);
  const t = ((scaled * cos - (sin << bits)) << bits) / ((cos << bits) + scaled * sin);
  const square = (t * t) >> bits;
  let sum = t;
  let term = t;
  for (let k = 3n, sign = -1n; term !== 0n && term !== -1n; k += 2n, sign = -sign) {
    term = (term * square) >> bits;
    sum += (sign * term) / k;
  }
  return rounded(guess + sum, GUARD);
}

/** The angle of (x, y), in (−π, π]; not of (0, 0). */
export function atan2(y: bigint, x: bigint, precision: number): bigint {
  const unit = BigInt(precision);
  const half = pi(precision) / 2n;
  const [ax, ay] = [x < 0n ? -x : x, y < 0n ? -y : y];
  const acute = ax >= ay ? atan((ay << unit) / ax, precision) : half - atan((ax << unit) / ay, precision);
  const upper = x >= 0n ? acute : pi(precision) - acute;
  return y >= 0n ? upper : -upper;
}

/** The whole part of the square root of n ≥ 0. */
export function sqrtWhole(n: bigint): bigint {
  if (n < 1n) return 0n;
  const bits = n.toString(16).length * 4;
  const shift = Math.max(0, bits - 100);
  const even = BigInt(shift + (shift % 2));
  // A little too large, and Newton's steps come down from there.
  let guess = (BigInt(Math.ceil(Math.sqrt(Number(n >> even)) * (1 + 2 ** -50))) + 1n) << (even / 2n);
  for (;;) {
    const next = (guess + n / guess) >> 1n;
    if (next >= guess) return guess;
    guess = next;
  }
}

export function toNumber(value: bigint, precision: number): number {
  const size = value.toString(16).length * 4;
  if (size < 900)
    return Number(value) * 2 ** -Math.min(precision, 1000) * (precision > 1000 ? 2 ** (1000 - precision) : 1);
  const shift = size - 200;
  return Number(value >> BigInt(shift)) * 2 ** (shift - precision);
}

export function toFixed(value: number, precision: number): bigint {
  const exponent = value === 0 ? 0 : Math.floor(Math.log2(Math.abs(value)));
  const mantissa = BigInt(Math.round(value * 2 ** (52 - exponent)));
  const shift = exponent - 52 + precision;
  return shift >= 0 ? mantissa << BigInt(shift) : mantissa >> BigInt(-shift);
}
