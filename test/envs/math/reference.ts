/** Evaluates the expressions of prompts independently of the environments, by recursive descent over bigints. */

export interface Fraction {
  readonly num: bigint;
  readonly den: bigint;
}

export function fraction(num: bigint, den = 1n): Fraction {
  let [a, b] = [num < 0n ? -num : num, den < 0n ? -den : den];
  while (b !== 0n) [a, b] = [b, a % b];
  const factor = den < 0n ? -a : a;
  return { num: num / factor, den: den / factor };
}

export const plus = (a: Fraction, b: Fraction): Fraction => fraction(a.num * b.den + b.num * a.den, a.den * b.den);
export const minus = (a: Fraction, b: Fraction): Fraction => plus(a, { num: -b.num, den: b.den });
const times = (a: Fraction, b: Fraction): Fraction => fraction(a.num * b.num, a.den * b.den);
const over = (a: Fraction, b: Fraction): Fraction => fraction(a.num * b.den, a.den * b.num);

export function shown({ num, den }: Fraction): string {
  return den === 1n ? `${num}` : `${num}/${den}`;
}

/** "-7/3" or "12". */
export function fractionOf(text: string): Fraction {
  const [num = "", den = "1"] = text.split("/");
  return fraction(BigInt(num), BigInt(den));
}

const TOKEN = /\d+\.\d+|\d+|[a-z]+|%|[()+*/^,-]/g;

type Values = Readonly<Record<string, Fraction>>;

/** Returns the value of a text. Adjacent factors are multiplied, and letters have the given values. */
export function valueOf(text: string, values: Values = {}): Fraction {
  const tokens = text.match(TOKEN) ?? [];
  let at = 0;
  const takes = (token: string): boolean => tokens[at] === token && ++at > 0;
  const expect = (token: string): void => {
    if (!takes(token)) throw new Error(`expected ${token} at token ${at} of ${text}`);
  };

  function sum(): Fraction {
    let value = takes("-") ? minus(fraction(0n), product()) : product();
    for (;;) {
      if (takes("+")) value = plus(value, product());
      else if (takes("-")) value = minus(value, product());
      else return value;
    }
  }

  function product(): Fraction {
    let value = power();
    for (;;) {
      if (takes("*")) value = times(value, power());
      else if (takes("/")) value = over(value, power());
      else if (tokens[at] === "(" || Object.hasOwn(values, tokens[at] ?? "")) value = times(value, power());
      else return value;
    }
  }

  function power(): Fraction {
    const base = atom();
    if (!takes("^")) return base;
    const exponent = Number(tokens[at++]);
    return { num: base.num ** BigInt(exponent), den: base.den ** BigInt(exponent) };
  }

  function atom(): Fraction {
    if (takes("(")) return inParentheses();
    const token = tokens[at++] ?? "the end";
    if (token === "gcd" || token === "lcm") return divisor(token);
    const known = values[token];
    if (known !== undefined) return known;
    const [whole = "", decimals = ""] = token.split(".");
    return fraction(BigInt(whole + decimals), 10n ** BigInt(decimals.length));
  }

  /** "3 + 4)", "15% of 240)" or "17^5 mod 9)". */
  function inParentheses(): Fraction {
    const value = sum();
    if (takes("%")) {
      expect("of");
      const share = times(value, times(fraction(1n, 100n), sum()));
      expect(")");
      return share;
    }
    if (takes("mod")) {
      const modulus = sum().num;
      expect(")");
      return fraction(((value.num % modulus) + modulus) % modulus);
    }
    expect(")");
    return value;
  }

  function divisor(kind: "gcd" | "lcm"): Fraction {
    expect("(");
    const first = sum().num;
    expect(",");
    const second = sum().num;
    expect(")");
    let [a, b] = [first, second];
    while (b !== 0n) [a, b] = [b, a % b];
    const value = kind === "gcd" ? a : (first * second) / a;
    return fraction(value < 0n ? -value : value);
  }

  const value = sum();
  if (at < tokens.length) throw new Error(`unexpected ${tokens[at]} in ${text}`);
  return value;
}
