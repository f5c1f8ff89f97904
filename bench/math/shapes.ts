/** Answers that are dear to read or to compare, filled up to a length; each as it is, and a little changed for its gold. */

/** `seed` changes what can be changed, so that an answer and its gold are not the same text. */
export type Shape = (length: number, seed: number) => string;

/** Joined until the length is reached. */
function joined(make: (i: number) => string, joiner: string, open = "", close = ""): Shape {
  return (length, seed) => {
    const room = length - open.length - close.length;
    let text = make(seed);
    for (let i = 1; ; i++) {
      const next = `${joiner}${make(i + seed)}`;
      if (text.length + next.length > room) return `${open}${text}${close}`;
      text += next;
    }
  };
}

/** At most so many of them, for more are refused. */
function atMost(count: number, make: (i: number) => string, joiner: string, open = "", close = ""): Shape {
  return (length, seed) => {
    const all = Array.from({ length: count }, (_, i) => make(i + seed));
    while (all.join(joiner).length > length - open.length - close.length) all.pop();
    return `${open}${all.join(joiner)}${close}`;
  };
}

function nested(open: string, close: string, core: string, depthMax: number): Shape {
  return (length, seed) => {
    const depth = Math.min(depthMax, Math.floor((length - core.length - 1) / (open.length + close.length)));
    return `${open.repeat(depth)}${core}${seed}${close.repeat(depth)}`;
  };
}

const filled =
  (before: string, unit: string, after: string): Shape =>
  (length, seed) =>
    `${seed}${before}${unit.repeat(Math.max(0, Math.floor((length - before.length - after.length - 1) / unit.length)))}${after}`;

const matrix =
  (size: number, cell: (i: number) => string): Shape =>
  (_, seed) => {
    const rows = Array.from({ length: size }, (__, r) =>
      Array.from({ length: size }, (___, c) => cell(r * size + c + seed)).join("&"),
    );
    return `\\begin{pmatrix}${rows.join("\\\\")}\\end{pmatrix}`;
  };

const LETTERS = "abcdfghjklmnpqrstuvwxyz";
const letter = (i: number): string => LETTERS.charAt(i % LETTERS.length);

export const SHAPES: Readonly<Record<string, Shape>> = {
  digits: filled("", "7", ""),
  "a long product of small powers of ten": joined((i) => `1E-${399 - (i % 9)}`, "*"),
  decimals: filled(".", "1", ""),
  "decimals, other digits": filled(".", "142857", ""),
  "decimals that go on": filled(".", "3", "..."),
  "decimals that nearly go on": filled(".", "12", "\\ldots"),
  "decimals of ones, then a two": filled(".", "1", "2"),
  "many decimals": joined((i) => `0.${i}1111111`, ","),
  "many decimals that go on": joined((i) => `${i}.1111`, "..., "),
  "400 decimals each": joined((i) => `0.${"1".repeat(398)}${i % 10}`, "+"),
  "a cycle of 390 digits": (_, seed) => `0.${seed}(${"142857".repeat(65)})`,
  "many cycles": joined((i) => `0.(${"1428571".repeat(40)}${i % 10})`, "+"),
  "digits in groups": joined(() => "123", ",", "1,"),
  "digits in groups of spaces": joined(() => "123", " ", "1 "),
  spaces: filled("", " ", "1"),
  signs: filled("", "-", "1"),
  "a tower of twos": nested("2^{", "}", "2", 150),
  "a tower without braces": joined(() => "2", "^"),
  factorials: joined((i) => `${3000 + (i % 9)}!`, "+"),
  "nested factorials": nested("(", ")!", "3", 100),
  binomials: joined((i) => `\\binom{${900 + (i % 90)}}{450}`, "+"),
  "nested fractions": nested("\\frac{1}{1+", "}", "x+", 70),
  "nested brackets": nested("(", ")", "x+", 150),
  "nested sums": nested("(1+x*", ")", "x+", 150),
  "nested radicals": nested("\\sqrt{2+", "}", "x+", 70),
  "nested radicals of numbers": nested("\\sqrt{2+", "}", "3+", 70),
  "nested absolute values": nested("|x-", "|", "2+", 70),
  "nested sines": nested("\\sin(", ")", "x+", 150),
  "nested exponentials": nested("e^{", "}", "x+", 70),
  "nested groups of text": nested("\\mathrm{", "}", "x+", 2_000),
  "nested bold": nested("\\mathbf{1+", "}", "x+", 2_000),
  "nested text": nested("\\text{", "}", "x", 2_000),
  "open braces": filled("", "{", ""),
  "open brackets": filled("", "(", ""),
  "open bars": filled("", "|", ""),
  "open fractions": filled("", "\\frac1", ""),
  "a matrix of numbers": matrix(19, (i) => `${i}`),
  "a matrix of radicals": matrix(19, (i) => `\\sqrt{${i + 2}}`),
  "a matrix of variables": matrix(19, (i) => `${letter(i)}^2`),
  "a determinant": (_, seed) => matrix(4, (i) => `x^{${i}}+\\sin x`)(0, seed).replaceAll("pmatrix", "vmatrix"),
  "a product of matrices": joined((i) => `\\begin{pmatrix}1&${i}\\\\x&1\\end{pmatrix}`, ""),
  "a sum of matrices": joined((i) => `\\begin{pmatrix}1&${i}\\\\x&1\\end{pmatrix}`, "+"),
  "powers of matrices": joined((i) => `\\begin{pmatrix}1&${i}&1\\\\x&1&1\\\\1&1&1\\end{pmatrix}^6`, ""),
  "a list of numbers": atMost(100, (i) => `${i}`, ","),
  "a list of numbers, turned": (length, seed) =>
    seed > 1
      ? SHAPES["a list of numbers"]!(length, 0)
      : [...SHAPES["a list of numbers"]!(length, 0).split(",")].reverse().join(","),
  "a list of radicals": atMost(100, (i) => `\\sqrt{${i + 2}}`, ","),
  "a list of radicals, turned": atMost(100, (i) => `\\sqrt{${500 - i}}`, ","),
  "a set of expressions": atMost(100, (i) => `x^{${i % 7}}+${i}`, ",", "\\{", "\\}"),
  "a set of tuples": atMost(100, (i) => `(${i},\\sqrt{${i}})`, ",", "\\{", "\\}"),
  "a set of sets": atMost(100, (i) => `\\{${i},\\sin ${i}\\}`, ",", "\\{", "\\}"),
  "a list of equations": atMost(100, (i) => `x_{${i}}=\\sqrt{${i}}`, ","),
  "a list of curves": atMost(100, (i) => `y=${i}x+\\sin x`, ","),
  "a union of intervals": atMost(30, (i) => `(${2 * i},${2 * i}+\\sqrt2)`, "\\cup"),
  "a union of points": atMost(30, (i) => `\\{\\sqrt{${i}}\\}`, "\\cup"),
  conditions: atMost(100, (i) => `x\\ne ${i}`, ","),
  families: atMost(98, (i) => `\\frac{k\\pi}{${i + 2}}`, ",", "", ", k\\in\\mathbb{Z}"),
  residues: atMost(98, (i) => `${i}`, ",", "", "\\pmod{720}"),
  "a long sum of numbers": joined((i) => `${i}`, "+"),
  "a long sum of fractions": joined((i) => `\\frac1{${i + 2}}`, "+"),
  "a long sum of radicals": joined((i) => `\\sqrt{${i + 2}}`, "+"),
  "a long sum of sines": joined((i) => `\\sin ${i}`, "+"),
  "a long sum of powers": joined((i) => `x^{${i}}`, "+"),
  "a long sum of variables": joined((i) => `${letter(i)}${letter(i + 5)}`, "+"),
  "a long product": joined((i) => `(x+${i})`, ""),
  "a long product of numbers": joined((i) => `${i + 2}`, "*"),
  "a long quotient": joined((i) => `${i + 2}`, "/"),
  "a long sum of large powers": joined((i) => `2^{${9_999 - (i % 90)}}`, "+"),
  "a long sum of floors": joined((i) => `\\lfloor\\frac{n}{${i + 2}}\\rfloor`, "+"),
  "a long sum of gammas": joined((i) => `\\Gamma(${i}.5)`, "+"),
  "a long sum of zetas": joined((i) => `\\zeta(${2 * (i % 30) + 2})`, "+"),
  "a long sum of ±": atMost(12, (i) => `\\pm\\sqrt{${i}}`, ""),
  "a long chain": atMost(15, (i) => `\\sqrt{${i}}`, "="),
  cases: (_, seed) =>
    `\\begin{cases}${Array.from({ length: 19 }, (__, i) => `x^{${i + seed}}, & x > ${50 - i}`).join("\\\\")}\\end{cases}`,
  series: joined((i) => `\\sum_{k=1}^{20000}\\frac{1}{k+${i}}`, "+"),
  "nested series": nested("\\sum_{k=1}^{900}", "", "k+", 40),
  integrals: joined((i) => `\\int_0^{${i}} x^${i % 9} dx`, "+"),
  "unit vectors": joined((i) => `${i}\\mathbf{${"ijk".charAt(i % 3)}}`, "+"),
  "nested unit vectors": nested("(\\mathbf{i}+2", ")", "\\mathbf{j}", 90),
  "a word": filled("", "x", ""),
  words: joined((i) => `${letter(i)}${letter(i + 1)}${letter(i + 2)}`, " "),
  "bold stars": filled("", "** ", "1"),
  labels: filled("", "answer is ", "1"),
  boxes: atMost(32, (i) => `\\boxed{${i}}`, " and "),
  dollars: filled("", "$ ", "1$"),
  bases: joined((i) => `${i}A_{16}`, "+"),
  "almost bases": joined((i) => `${i}${"F".repeat(62)}_`, "+"),
  "text of numbers": (length, seed) => `\\text{${filled("", "1 ", "")(length - 7, seed)}}`,
  comments: filled("", "% ", "1"),
  "scripts before nothing": filled("", "^_", ""),
  "degrees of degrees": filled("", "°", ""),
  "powers of powers": filled("", "^{2}", ""),
  "factorials of factorials": filled("", "!!^1", ""),
  "mixed numbers that are none": nested("2\\frac{", "}{3}", "x+", 40),
  "choices that are none": nested("A_{n}^{", "}", "x+", 40),
  "choices of choices": nested("C_{", "}^2", "x+", 40),
  remarks: filled("", "for any ", ""),
  "remarks of a name": filled("", "for all a constant ", ""),
  articles: filled("", "a circle a ", ""),
  units: joined((i) => `${i}\\text{ hours}`, ","),
  primes: filled("f", "'", "(x)"),
  durations: joined((i) => `${i} h ${i % 60} min`, ", "),
  "units in fractions": joined((i) => `${i}\\frac{\\text{km}}{h}`, "+"),
  "codes of money": filled("", "USD ", "1"),
  classes: joined((i) => `x = ${i} mod 97`, " or "),
  periods: joined((i) => `0.${`${i}`.repeat(40)}\\ldots`, "+"),
  "raised scripts": joined((i) => `x^2_{${i}}`, "+"),
  "sums with the upper bound first": nested("\\sum^{", "}_{k=1}k", "9", 40),
  "remarks behind a name": filled("", "k an integer ", ""),
  "arguments of sequences": joined((i) => `a(n+${i})`, "+"),
  "lines of names": joined((i) => `x=${i}, y=${i}`, "\n"),
  "differences of sets": joined((i) => `\\{${i}\\}`, "\\setminus"),
};
