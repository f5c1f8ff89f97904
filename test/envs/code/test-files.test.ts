/** Tests that are written as Python: what is read of them, what is not, and that nothing is ever made up. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { show } from "../../../envs/code/value.ts";
import { expectationWords } from "../../../envs/code/expect.ts";
import { readTestFile } from "../../../envs/code/test-files.ts";
import { callWords } from "../../../envs/code/verify.ts";

/** "add(1) → 2", one for each test. */
function read(source: string, testsMax = 100): readonly string[] {
  return readTestFile(source, testsMax).tests.map((each) => `${callWords(each)} → ${expectationWords(each, 100)}`);
}

function unread(source: string): readonly string[] {
  return readTestFile(source, 100).unread;
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
  ])("%s", (source, words) => {
    expect(read(source)).toEqual([words]);
  });

  test("tolerances are read in all the ways that tests give them", () => {
    const sources = [
      "assert abs(f(1) - 0.5) < 1e-3",
      "assert abs(0.5 - f(1)) <= 1e-3",
      "assert f(1) == pytest.approx(0.5, abs=1e-3)",
      "assert math.isclose(f(1), 0.5, abs_tol=1e-3, rel_tol=0)",
      "assert math.isclose(0.5, f(1), rel_tol=0.0, abs_tol=1e-3)",
    ];
    for (const source of sources) {
      const [one] = readTestFile(source, 9).tests;
      expect(one?.expected, source).toEqual({
        ...{ kind: "equal", value: { float: "0.5" } },
        tolerance: { relative: 0, absolute: 0.001 },
      });
      expect(one?.views).toEqual([]);
    }
    expect(readTestFile("assert f(1) == pytest.approx(0.5)", 9).tests[0]?.expected).toMatchObject({
      tolerance: { relative: 1e-6 },
    });
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
  ])("what is not constant, or not known, is left out and counted: %s", (source) => {
    expect(readTestFile(`from copy import deepcopy\n${source}`, 9)).toMatchObject({
      tests: [],
      unread: [expect.stringMatching(/./)],
    });
  });
});

describe("files", () => {
  test("check(candidate), as in HumanEval and LeetCode's tests", () => {
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
    expect(read(source)).toEqual(["Solution.twoSum(nums=[3, 3], target=6) → [0, 1]", "Solution.twoSum(2) → 4"]);
    expect(unread(source)).toEqual([]);
  });

  test("functions of pytest, parametrized ones and exceptions too", () => {
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
    expect(read(source)).toEqual([
      "area(2, 3) → 6",
      "area(-1, 1) → ValueError to be raised",
      "grow(1) → 2",
      "grow(5) → [6, None]",
      "grow(7) → None itself",
      "grow(8) → None itself",
    ]);
    expect(unread(source)).toEqual([]);
  });

  test("methods of unittest", () => {
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
    expect(read(source)).toEqual([
      "f(1) → [1]",
      "bool(f(2)) → True itself",
      "f(3) → None itself",
      "f(4) → 0.25",
      "f(5) → KeyError to be raised",
    ]);
  });

  test("after a statement that is not read, names stand for nothing: it may have changed them", () => {
    const source = `
def test_it():
    values = [3, 1]
    expected = [1, 3]
    values.sort()
    assert f(values) == expected
    assert f([2, 1]) == [1, 2]
`;
    expect(read(source)).toEqual(["f([2, 1]) → [1, 2]"]);
    expect(unread(source)).toHaveLength(2);
  });

  test("names that a block might change are forgotten too, and what follows it is read", () => {
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
    expect(read(source)).toEqual(["f(4) → 4"]);
  });

  test("only so many tests are read", () => {
    expect(read("for i in range(1000):\n    assert f(i) == 0\n", 7)).toHaveLength(7);
  });

  test("files without end, or without sense, end soon and are told of", () => {
    const deep = `assert f(${"[".repeat(5000)}${"]".repeat(5000)}) == 1`;
    const loops = "for a in range(9999):\n    for b in range(9999):\n        for c in range(9999):\n            g(c)\n";
    const calls = "def test_a():\n    test_a()\n    test_b()\ndef test_b():\n    test_a()\n    test_a()\n";
    const signs = `assert f(${"-".repeat(100_000)}1) == 1`;
    const chain = `assert f${"()".repeat(100_000)} == 1`;
    const blocks = Array.from({ length: 500 }, (_, i) => `${" ".repeat(i)}if x:`).join("\n");
    for (const source of [
      deep,
      loops,
      calls,
      signs,
      chain,
      blocks,
      '"""',
      "@",
      "assert",
      "def",
      "class X:",
      ")))",
      "\0",
    ])
      expect(readTestFile(source, 100).tests).toEqual([]);
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
  ])("%s ends soon, and is not read", (_, source) => {
    expect(readTestFile(source, 100).tests).toEqual([]);
  });

  test("any text is read without an exception", () => {
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
    const property = fc.property(fc.array(fc.constantFrom(...words), { maxLength: 60 }), fc.string(), (parts, rest) => {
      const { tests } = readTestFile(parts.join("") + rest, 50);
      for (const one of tests) expect(show([...one.args], 50).length).toBeLessThanOrEqual(50);
    });
    fc.assert(property, { seed: 11, numRuns: 2000 });
  });
});
