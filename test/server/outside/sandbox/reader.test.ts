/**
 * Tests of the reader of Python tests: what it reads, what it refuses, that it makes nothing up, and that all Pythons
 * agree.
 */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectationWords } from "../../../../envs/code/expect.ts";
import { readFound } from "../../../../envs/code/found-tests.ts";
import { code } from "../../../../envs/code/index.ts";
import { LIMITS } from "../../../../envs/code/instance.ts";
import { python } from "../../../../envs/code/rows.ts";
import type { Truths } from "../../../../envs/code/ground-truth.ts";
import { show } from "../../../../envs/code/value.ts";
import { callWords } from "../../../../envs/code/verify.ts";
import { parseExact } from "../../../../envs/lib/exact-json.ts";
import type { Sandbox } from "../../../../envs/ports.ts";
import { openSandbox } from "../../../../server/outside/sandbox/open-sandbox.ts";
import { findPython } from "../../../../server/outside/sandbox/find-python.ts";
import { createRemote } from "../../../../server/outside/sandbox/remote.ts";
import { foundIn } from "../../../support/code-rows.ts";
import { startFusionServer } from "../../../support/fusion-server.ts";

let opened: Awaited<ReturnType<typeof openSandbox>>;
let sandbox: Sandbox;
beforeAll(async () => {
  opened = await openSandbox({ kind: "embedded", python: "python3", concurrency: 2 });
  if (opened.kind === "missing") throw new Error(opened.why);
  sandbox = opened.port;
});
afterAll(() => opened.kind === "opened" && opened.close());

async function fileOf(...sources: readonly string[]): Promise<readonly Truths[]> {
  return (await foundIn(sandbox, sources)).map((found) => {
    const read = readFound(parseExact(found));
    if (typeof read === "string") throw new Error(read);
    return read;
  });
}

const wordsOf = ({ tests }: Truths): readonly string[] =>
  tests.map((each) => (each.kind === "call" ? `${callWords(each)} → ${expectationWords(each, 100)}` : ""));

/** "add(1) → 2", one for each test. */
async function read(source: string): Promise<readonly string[]> {
  return (await fileOf(source)).flatMap(wordsOf);
}

async function unread(source: string): Promise<readonly string[]> {
  return (await fileOf(source)).flatMap((file) => file.unread);
}

describe("assertions", () => {
  test.each([
    ["assert f(1, [2, 'a']) == 3", 'f(1, [2, "a"]) → 3'],
    ["assert 3 == f(1)", "f(1) → 3"],
    ["assert f(nums = [1], k=-2) == (1,)", "f(nums=[1], k=-2) → (1,)"],
    ["assert Solution().go('x') == {'a': {1, 2}}", 'Solution.go("x") → {"a": {1, 2}}'],
    ["assert f() is True", "f() → True itself"],
    ["assert f() is None, 'a message'", "f() → None itself"],
    ["assert f(0)", "bool(f(0)) → True itself"],
    ["assert not f(0)", "bool(f(0)) → False itself"],
    ["assert not f(0) == 1", "f(0) → anything but 1"],
    ["assert f(2) != 4", "f(2) → anything but 4"],
    ["assert f(2) in (1, 2)", "f(2) → one of [1, 2]"],
    ["assert f(2) is not None", "f(2) → anything but None"],
    ["assert f(2) < 4.5", "f(2) → < 4.5"],
    ["assert 4 < f(2)", "f(2) → > 4"],
    ["assert sorted(f('a')) == [1, 2]", 'sorted(f("a")) → [1, 2]'],
    ["assert len(f('a')) == 2", 'len(f("a")) → 2'],
    ["assert set(f(1)) == set([1, 2])", "set(f(1)) → {1, 2}"],
    ["assert round(f(1), 2) == 0.33", "round(f(1), 2) → 0.33"],
    ["assert round(f(1)) == 2", "round(f(1)) → 2"],
    ["assert dict(f(1)) == {1: 2}", "dict(f(1)) → {1: 2}"],
    ["assert str(f(1)) == '2'", 'str(f(1)) → "2"'],
    ["assert sum(list(f(1))) == 2", "sum(list(f(1))) → 2"],
    ["assert round(f(1) - 0.5, 3) == 0", "f(1) → 0.5"],
    ["assert isinstance(f(1), (list, tuple))", "f(1) → an instance of list or tuple"],
    ["assert f(10**9 + 7, 2**64, -1) == 'ab' * 2", 'f(1000000007, 18446744073709551616, -1) → "abab"'],
    ["assert f([0] * 3, list(range(2, 8, 2))) == float('inf')", "f([0, 0, 0], [2, 4, 6]) → inf"],
    ["assert f(0xff, 1_000, 1e3, .5, 0b11) == 7 // 2", "f(255, 1000, 1000.0, 0.5, 3) → 3"],
    [
      "assert f('a' \"b\" '''c''', r'\\n', b'\\x00', '\\u00e9\\t') == -7 % 3",
      'f("abc", "\\\\n", b"\\u0000", "é\\t") → 2',
    ],
    ["assert f('a' \"b\", r'\\n', '\\u00e9\\t') == -7 % 3", 'f("ab", "\\\\n", "é\\t") → 2'],
    ["assert f(1) == \\\n    2", "f(1) → 2"],
    ["assert (f(1)\n   == 2)  # a comment", "f(1) → 2"],
  ])("%s", async (source, words) => {
    expect(await read(source)).toEqual([words]);
  });

  test("tolerances are read in all the ways that tests give them", async () => {
    const sources = [
      "assert abs(f(1) - 0.5) < 1e-3",
      "assert abs(0.5 - f(1)) <= 1e-3",
      "assert f(1) == pytest.approx(0.5, abs=1e-3)",
      "assert math.isclose(f(1), 0.5, abs_tol=1e-3, rel_tol=0)",
      "assert math.isclose(0.5, f(1), rel_tol=0.0, abs_tol=1e-3)",
    ];
    for (const source of sources) {
      const [file] = await fileOf(source);
      const expected = { kind: "equal", value: { float: "0.5" }, tolerance: { relative: 0, absolute: 0.001 } };
      expect(file?.tests, source).toEqual([{ kind: "call", name: "f", args: [{ int: "1" }], views: [], expected }]);
    }
    const [approx] = await fileOf("assert f(1) == pytest.approx(0.5)");
    expect(approx?.tests).toMatchObject([{ expected: { tolerance: { relative: 1e-6, absolute: 1e-12 } } }]);
  });

  test.each([
    ["", 0.5e-7],
    [", 2", 0.005],
    [", places=2", 0.005],
    [", delta=0.25", 0.25],
  ])("assertAlmostEqual(f(1), 0.5%s)", async (more, absolute) => {
    const [file] = await fileOf(`def test_it(self):\n    self.assertAlmostEqual(f(1), 0.5${more})`);
    expect(file?.tests).toMatchObject([{ expected: { tolerance: { relative: 0, absolute } } }]);
  });

  test.each([
    "assert f(x) == 1",
    "assert f([i for i in range(3)]) == 1",
    "assert f(1)[0] == 1",
    "assert f(1) == g(2)",
    "assert f(open('secret')) == 1",
    "assert f(lambda x: x) == 1",
    "assert f(1) == 1 or f(1) == 2",
    "assert 0 < f(1) < 2",
    "assert f(Node(1)) == 1",
    "assert f(f'{1}') == 1",
    "assert f(*[1]) == 1",
    "assert f(1).name == 1",
    "assert sorted(f(1), reverse=True) == [1]",
    "assert int(f(1), 2) == 1",
    "assert reversed(f(1)) == 1",
    "assert f(1) - 2 < 1",
    "assert abs(f(1) - 2)",
    "assert sum(f(1) - 2) == 0",
    "assert abs(f(1) - 2) > 1",
    "assert f(1 if True else 2) == 1",
    "assert f(9 ** 9 ** 9) == 1",
    "assert f([0] * 10**9) == 1",
    "assert f(1j) == 1",
    "assert 1 == 1",
    "assert type(f(1)) is int",
    "assert f(07) == 1",
    "assert f('\\x0') == 1",
    "assert f(1) is 3",
    "assert f(1) == 'a' ==",
    "assert f(1) == deepcopy(2)",
  ])("what is not constant, or not known, is left out and counted: %s", async (source) => {
    expect((await fileOf(`from copy import deepcopy\n${source}`))[0]).toMatchObject({
      tests: [],
      unread: [expect.stringMatching(/./)],
    });
  });
});

describe("files", () => {
  test("check(candidate), as in HumanEval and LeetCode's tests", async () => {
    const source = `
METADATA = {'author': 'x', 'dataset': 'y'}

def check(candidate):
    """Tests."""
    assert candidate(nums = [3, 3], target = 6) == [0, 1]
    assert True
    expected = 4
    assert candidate(2) == expected, "two"

check(Solution().twoSum)
`;
    expect(await read(source)).toEqual(["Solution.twoSum(nums=[3, 3], target=6) → [0, 1]", "Solution.twoSum(2) → 4"]);
    expect(await unread(source)).toEqual([]);
  });

  test("functions of pytest, parametrized ones and exceptions too", async () => {
    const source = `
import pytest
from solution import area, grow

def test_area():
    # a comment
    w, h = 2, 3
    result = area(w, h)
    assert result == 6
    with pytest.raises(ValueError, match="neg"):
        area(-1, 1)

@pytest.mark.parametrize("n, expected", [
    (1, 2),
    (5, [6, None]),
])
def test_grow(n, expected):
    assert grow(n) == expected

class TestMore:
    def test_again(self):
        for n in (7, 8):
            assert grow(n) is None
`;
    expect(await read(source)).toEqual([
      "area(2, 3) → 6",
      "area(-1, 1) → ValueError to be raised",
      "grow(1) → 2",
      "grow(5) → [6, None]",
      "grow(7) → None itself",
      "grow(8) → None itself",
    ]);
    expect(await unread(source)).toEqual([]);
  });

  test("methods of unittest", async () => {
    const source = `
class TestIt(unittest.TestCase):
    def test_one(self):
        self.assertEqual(f(1), [1])
        self.assertTrue(f(2))
        self.assertIsNone(f(3))
        self.assertAlmostEqual(f(4), 0.25, places=3)
        with self.assertRaises(KeyError):
            f(5)
`;
    expect(await read(source)).toEqual([
      "f(1) → [1]",
      "bool(f(2)) → True itself",
      "f(3) → None itself",
      "f(4) → 0.25",
      "f(5) → KeyError to be raised",
    ]);
  });

  test("after a statement that is not read, names stand for nothing: it may have changed them", async () => {
    const source = `
def test_it():
    values = [3, 1]
    expected = [1, 3]
    values.sort()
    assert f(values) == expected
    assert f([2, 1]) == [1, 2]
`;
    expect(await read(source)).toEqual(["f([2, 1]) → [1, 2]"]);
    expect(await unread(source)).toHaveLength(2);
  });

  test("names that a block might change are forgotten too, and what follows it is read", async () => {
    const source = `
n = 1
if True:
    n = 2
    assert f(9) == 9
assert f(n) == 1
while n < 3:
    pass
assert f(4) == 4
`;
    expect(await read(source)).toEqual(["f(4) → 4"]);
  });

  test("only so many tests are read", async () => {
    expect(await read("for i in range(1000):\n    assert f(i) == 0\n")).toHaveLength(LIMITS.testsMax);
  });

  test("files without end, or without sense, end soon and are told of", async () => {
    const deep = `assert f(${"[".repeat(5000)}${"]".repeat(5000)}) == 1`;
    const loops = "for a in range(9999):\n    for b in range(9999):\n        for c in range(9999):\n            g(c)\n";
    const calls = "def test_a():\n    test_a()\n    test_b()\ndef test_b():\n    test_a()\n    test_a()\n";
    const signs = `assert f(${"-".repeat(100_000)}1) == 1`;
    const chain = `assert f${"()".repeat(100_000)} == 1`;
    const blocks = Array.from({ length: 500 }, (_, i) => `${" ".repeat(i)}if x:`).join("\n");
    const sources = [deep, loops, calls, signs, chain, blocks, '"""', "@", "assert", "def", "class X:", ")))", "\0"];
    for (const [i, { tests }] of (await fileOf(...sources)).entries())
      expect([sources[i]?.slice(0, 40), tests]).toEqual([sources[i]?.slice(0, 40), []]);
  });

  test.each([
    ["a chain of operators", `assert f(${"1 + ".repeat(20_000)}1) == 1`],
    ["a tower of powers", `assert f(${"2 ** ".repeat(20_000)}1) == 1`],
    ["loops in loops that make lists", "for x in range(90000):\n    for y in range(90000):\n        z = [0] * 90000\n"],
    [
      "a list of lists of lists that are one",
      `x = [[0] * 1000] * 100\n${"x = [x, x, x]\n".repeat(50)}assert f(x) == 1`,
    ],
    ["sums of a list with itself", `x = [1]\n${"x = x + x\n".repeat(60)}assert f(x) == 1`],
  ])("%s ends soon, and is not read", async (_, source) => {
    expect(await read(source)).toEqual([]);
  });

  test("any text is read without an exception", async () => {
    const words = [
      "assert ",
      "f(1)",
      "==",
      "[",
      "]",
      "(",
      ")",
      "{",
      "}",
      ":",
      ",",
      "'",
      '"',
      "\n",
      "    ",
      "def test_a():",
      "for x in",
      " 1",
      "-",
      "**",
      "not ",
      "in ",
      "with ",
      "@",
      "\\",
      "#",
      "0x",
      "1e",
      "'''",
    ];
    const texts = fc.tuple(fc.array(fc.constantFrom(...words), { maxLength: 60 }), fc.string());
    const sources = fc.sample(texts, { seed: 11, numRuns: 1000 }).map(([parts, rest]) => parts.join("") + rest);
    for (const { tests } of await fileOf(...sources))
      for (const one of tests) expect(one.kind === "call" && show([...one.args], 50).length).toBeLessThanOrEqual(50);
  });

  test("a text that breaks the reader is refused by itself, and those beside it are read", async () => {
    const reply = (text: string) =>
      text.includes("breaks")
        ? ({ kind: "died", how: "signal 11" } as const)
        : ({ kind: "returned", value: text } as const);
    // This sandbox behaves as a room does: after three results that broke the reader, the rest count as broken too.
    const room: Sandbox = {
      ask: async ({ cases }) => {
        let broken = 0;
        const results = cases.map((each) => {
          const result = broken < 3 ? reply(each.kind === "call" ? (each.args[0] as string) : "") : reply("breaks");
          if (result.kind === "died") broken++;
          return result;
        });
        return { kind: "ran", results };
      },
    };
    const texts = ["a", "breaks 1", "b", "breaks 2", "breaks 3", "breaks 4", "c", "d"];
    const refused = JSON.stringify({ refused: "cannot be read: signal 11" });
    expect(await foundIn(room, texts)).toEqual(texts.map((text) => (text.startsWith("breaks") ? refused : text)));
    expect(readFound(JSON.parse(refused))).toBe("cannot be read: signal 11");
  });
});

test("a remote sandbox reads as the embedded one does", async () => {
  await using server = await startFusionServer();
  const texts = ["assert f(1) == {3, 1}", "assert g(2"];
  expect(await foundIn(createRemote({ url: server.url, concurrency: 1 }), texts)).toEqual(
    await foundIn(sandbox, texts),
  );
});

describe("what is read is the same on every Python", () => {
  const lines = readFileSync(code.rows!.defaultPool!.file, "utf8").trimEnd().split("\n");
  const rows = lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
  const shipped = rows.filter((row) => row["tests_read"] !== undefined);
  const texts = shipped.map(({ tests_read: _, ...row }) => python.of(row) as string);
  const intricate = [
    "assert f(1e16, 1e-5, 1.5e300, -0.0, 1e22, 0.1 + 0.2, 5e-324) == [float('nan'), float('-inf'), 1e400]",
    "assert f({3, 1, 2, 'b', 'a', (1, 'x')}, {'b': 1, 'a': {2: [None, True]}}) == frozenset([3, 1, 2, 1, True])",
    "assert f(2**200, -7 // 2, -7 % 3, 10**40, 0xffffffffffffffffff) == (1,)",
    "assert f('\\ud800', '\U0001f600', 'e\u0301', b'\\xff', r'\\d', '\\d') == ''",
    "assert f(f'{1}') == 1\nassert f(f\"{'a'}\") == 1\nassert f(2) == 2",
    "assert f(f'{'a'}') == 1\nassert f(2) == 2",
    "def check(c):\n    assert c(f'{x[\"a\"]}') == 1\n    assert c(3) == 3\ncheck(f)\n",
    'def check(c):\n    assert c(f"{x["a"]}") == 1\n    assert c(3) == 3\ncheck(f)\nassert f(4) == 4',
    "assert f(f'{\n1}') == 1\nassert f(2) == 2",
    "try:\n    f(1)\nexcept* ValueError:\n    pass\nassert f(2) == 2",
    "def test_a[T]():\n    assert f(1) == 1\nassert f(2) == 2",
    "type X = int\nassert f(2) == 2",
    "assert f(t'{1}') == 1\nassert f(2) == 2",
    "try:\n    f(1)\nexcept ValueError, KeyError:\n    pass\nassert f(2) == 2",
    "match 1:\n    case 1: pass\nassert f(2) == 2",
    "print 'x'\nassert f(2) == 2",
    "assert f(1) == 1\n\0\nassert f(2) == 2",
    `assert f(${"9".repeat(5000)}) == 1`,
    "x = lambda: 1\nassert x() == 1\nassert f(1 if x else 2) == 1\nassert f(y := 3) == 3\nassert f(1) == y",
  ];
  const GOLDEN = "5bdfe25f375d0a2030cd14117b91f418b961064bfe0b6b3a9f179a2f0441bd19";

  test("as the exercises have it beside their tests, whose writing is no matter", async () => {
    const found = await foundIn(sandbox, texts);
    expect(found.map((line) => parseExact(line))).toEqual(shipped.map((row) => row["tests_read"]));
  });

  test("such as values, new grammar, and what is no Python: the golden", async () => {
    const found = await foundIn(sandbox, intricate);
    expect(createHash("sha256").update(found.join("\n")).digest("hex"), found.join("\n")).toBe(GOLDEN);
  });

  test.each(["3.10", "3.11", "3.12", "3.13", "3.14"])("Python %s, where it is installed", async (version) => {
    const path = await pythonOf(version);
    if (path === undefined) return console.warn(`there is no Python ${version} here`);
    const other = await openSandbox({ kind: "embedded", python: path, concurrency: 1 });
    if (other.kind === "missing") throw new Error(other.why);
    try {
      expect(other.found["python"]).toMatch(new RegExp(`^${RegExp.escape(version)}\\.`));
      const all = [...texts, ...intricate];
      expect(await foundIn(other.port, all)).toEqual(await foundIn(sandbox, all));
    } finally {
      await other.close();
    }
  });
});

/** Returns the path of that Python: on PATH, or where pyenv keeps it. */
async function pythonOf(version: string): Promise<string | undefined> {
  const root = join(process.env["PYENV_ROOT"] ?? join(homedir(), ".pyenv"), "versions");
  const kept = existsSync(root) ? readdirSync(root).filter((name) => name.startsWith(`${version}.`)) : [];
  for (const name of [...kept.map((each) => join(root, each, "bin", "python3")), `python${version}`]) {
    const found = await findPython(name);
    if (found.kind === "found") return found.path;
  }
  return undefined;
}
