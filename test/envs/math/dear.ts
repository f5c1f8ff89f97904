/** Texts that are read, and dear to compare. */

export const times = (text: string, count: number): string => text.repeat(count);
export const joined = (count: number, make: (i: number) => string, joiner: string): string =>
  Array.from({ length: count }, (_, i) => make(i)).join(joiner);

export const DEAR: readonly string[] = [
  ...["9^9^9", "9^{9^{9^{9^{9}}}}", `${times("2^", 50)}2`, "(10^6)!", "((3!)!)!", "10^{100000}", "1e400^{200}"],
  ...[
    "\\sum_{k=1}^{10^{12}} k",
    "\\sum_{a=1}^{1000}\\sum_{b=1}^{1000}\\sum_{c=1}^{1000} abc",
    "\\binom{100000}{50000}",
  ],
  ...["\\sum_{k=1}^{20000} \\sin k", "\\sum_{k=1}^{20000} \\frac1k", "\\lfloor e^{e^{e^{e}}}\\rfloor", "x^{x^{x^{x}}}"],
  ...["(x+1)^{1000000000}", "\\sin(10^{200})", "abcdghjklmnopqrstuvwxyz", times("\\pm 1", 12), times("9", 3900)],
  times("5!", 500),
  ...[`${times("9", 3900)}/${times("7", 3900)}`, `\\gcd(${times("9", 3900)}, ${times("7", 3900)})`],
  ...[
    joined(400, (i) => `2^{${100_000 - i}}`, "+"),
    joined(400, (i) => `2^{${30_000 - i}}`, "*"),
    joined(900, () => "3000!", "+"),
  ],
  ...[
    joined(700, () => "\\sin x", "+"),
    joined(99, (i) => `\\sin ${i}`, ","),
    joined(99, (i) => `\\sqrt{${i + 2}}`, ","),
  ],
  ...[
    joined(700, (i) => `${i + 2}`, "/"),
    joined(20, () => `0.${times("1", 399)}`, "+"),
    `${times("e^{", 20)}x${times("}", 20)}`,
  ],
  ...[`${times("\\sqrt{1+", 25)}x${times("}", 25)}`, joined(29, (i) => `(${i}\\sqrt2,${i}\\sqrt2+1)`, "\\cup")],
  ...[
    `${joined(95, (i) => `\\frac{k\\pi}{${i + 2}}`, ",")}, k \\in \\mathbb{Z}`,
    `${joined(60, (i) => `${i}`, ",")} \\pmod{120}`,
    `\\begin{cases}${joined(19, (i) => `x^{${i}}, & x > ${50 - i}`, "\\\\")}\\end{cases}`,
  ],
  ...[
    joined(250, (i) => `\\lfloor \\frac{n}{${i + 2}} \\rfloor`, "+"),
    joined(200, () => "\\zeta(64)", "+"),
    joined(200, (i) => `\\Gamma(${i}.5)`, "+"),
  ],
];
