/** Rows in the forms of public sets, with programs as models write them, through a server and its real sandbox. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { wrapAnswer } from "../../envs/answers/wording.ts";
import { openServer, type TestServer } from "../support/in-process.ts";
import { temporaryFolder } from "../support/server-process.ts";

const ROWS = {
  method: {
    prompt: "Two sum.",
    reward_model: {
      ground_truth: JSON.stringify({
        functional:
          "def check(candidate):\n    assert candidate(nums = [2,7,11],target = 9) == [0, 1]\n    assert sorted(candidate(nums = [3,3],target = 6)) == [0, 1]\n\ncheck(Solution().twoSum)",
      }),
    },
  },
  sums: {
    prompt: "Print the sum of each line.",
    tests: [
      { input: "3\n1 2\n3 4\n5 6\n", output: "3\n7\n11\n" },
      { input: "1\n1000000000000 1\n", output: "1000000000001\n" },
    ],
  },
  deep: { prompt: "The depth of a chain.", tests: [{ input: "50000\n", output: "50000\n" }] },
  primes: {
    prompt: "The primes below n.",
    tests: ["assert list(p(10)) == [2, 3, 5, 7]", "assert sum(p(10)) == 17", "assert tuple(p(2)) == ()"],
  },
  bank: {
    prompt: "Withdraw.",
    tests:
      "from solution import withdraw, Poor\n\ndef test_it():\n    assert withdraw(5, 3) == 2\n    with pytest.raises(ValueError):\n        withdraw(1, 3)\n    with pytest.raises(Poor):\n        withdraw(0, 1)\n",
  },
  mean: { prompt: "The mean.", tests: [{ input: "3\n1 2 4\n", output: "Mean: 2.33333333\n" }] },
  tree: { prompt: "A tree.", tests: [{ input: "3\n", output: "  *\n ***\n*****\n" }] },
};
type Pool = keyof typeof ROWS;

const folder = temporaryFolder();
let server: TestServer;
beforeAll(async () => {
  const pool = Object.entries(ROWS).map(([name, row]) => {
    const path = join(folder.path, `${name}.jsonl`);
    writeFileSync(path, `${JSON.stringify(row)}\n`);
    return `${name}=${path}@train`;
  });
  server = await openServer({ pool, sandbox: "embedded" });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

async function scoreOf(pool: Pool, answer: string) {
  const rest = { source: "real", pool, answerFormat: "answer_tag", level: "unrated", seed: 1n } as const;
  const task = await server.client.reset({ environment: "code", ...rest });
  const outcome = await server.client.step(task, wrapAnswer(answer, "answer_tag"));
  if (outcome.kind !== "scored") throw new Error(`no reward: ${outcome.detail}`);
  return outcome;
}

const python = (program: string): string => `\`\`\`python\n${program}\n\`\`\``;
const block = (text: string): string => `\`\`\`\n${text}\n\`\`\``;

const TWO_SUM =
  "class Solution:\n    def twoSum(self, nums: List[int], target: int) -> List[int]:\n        return next([i, j] for i, j in combinations(range(len(nums)), 2) if nums[i] + nums[j] == target)";
const SUMS = "for _ in range(int(input())): print(sum(map(int, input().split())))";
const IS_PRIME = "all(i % j for j in range(2, i))";
const BANK = "class Poor(ValueError): pass\ndef withdraw(b, a):\n    if a > b: raise Poor(a)\n    return b - a";

describe("right programs", () => {
  test.each<readonly [string, Pool, string]>([
    ["an import from __future__", "method", python(`from __future__ import annotations\n${TWO_SUM}`)],
    ["a docstring before it", "method", python(`"""Two\nsum."""\nfrom __future__ import annotations\n${TWO_SUM}`)],
    ["a call after it", "method", `${python(TWO_SUM)}\nExample:\n${python("print(Solution().twoSum([2, 7], 9))")}`],
    ["its output after it", "method", `${block(TWO_SUM)}\nOutput:\n${block("[0, 1]")}`],
    [
      "a session after it",
      "method",
      `${python(TWO_SUM)}\n\`\`\`pycon\n>>> Solution().twoSum([2, 7], 9)\n[0, 1]\n\`\`\``,
    ],
    ["an input after it", "sums", `${python(SUMS)}\nInput:\n${python("1\n1 2")}`],
    ["Markdown in a fence", "sums", `\`\`\`\`markdown\n${python(SUMS)}\n\`\`\`\``],
    [
      "a fence in its docstring",
      "primes",
      python(
        `def p(n):\n    """\n    \`\`\`\n    p(3)\n    \`\`\`\n    """\n    return [i for i in range(2, n) if ${IS_PRIME}]`,
      ),
    ],
    [
      "a draft before it",
      "primes",
      `${python("def p(n): return []")}\nNo:\n${python(`def p(n): return [i for i in range(2, n) if ${IS_PRIME}]`)}`,
    ],
    ["a generator", "primes", `def p(n):\n    for i in range(2, n):\n        if ${IS_PRIME}: yield i`],
    ["a filter", "primes", `p = lambda n: filter(lambda i: ${IS_PRIME}, range(2, n))`],
    ["keys of a dict", "primes", `p = lambda n: {i: 1 for i in range(2, n) if ${IS_PRIME}}.keys()`],
    ["an array", "primes", `import array\ndef p(n): return array.array('i', [i for i in range(2, n) if ${IS_PRIME}])`],
    [
      "a class to go through",
      "primes",
      `class p:\n    def __init__(self, n): self.n = n\n    def __iter__(self): return (i for i in range(2, self.n) if ${IS_PRIME})`,
    ],
    ["an exception of its own", "bank", BANK],
    ["one of several bases", "bank", BANK.replace("(ValueError)", "(KeyError, ValueError)")],
    ["/dev/stdin", "sums", `import sys\nsys.stdin = open('/dev/stdin')\n${SUMS}`],
    ["lines in bytes", "sums", `import sys\ninput = sys.stdin.buffer.readline\n${SUMS}\nexit()`],
    [
      "one output at the end of all",
      "sums",
      "import os\nn, *rest = os.read(0, 10**6).split()\nr = list(map(int, rest))\nos.write(1, '\\r\\n'.join(map(str, map(sum, zip(r[::2], r[1::2])))).encode())",
    ],
    [
      "a thread with a larger stack",
      "deep",
      "import sys, threading\nsys.setrecursionlimit(10**7)\nthreading.stack_size(1 << 29)\ndef f(n): return n and 1 + f(n - 1)\nthreading.Thread(target=lambda: print(f(int(input())))).start()",
    ],
    [
      "a larger stack",
      "deep",
      "import resource, sys, functools\nresource.setrlimit(resource.RLIMIT_STACK, (2**29, -1))\nsys.setrecursionlimit(2**20)\n@functools.cache\ndef f(n): return n and 1 + f(n - 1)\nprint(f(int(input())))",
    ],
    ["more digits than expected", "mean", "n = int(input())\nprint('Mean:', sum(map(int, input().split())) / n)"],
    [
      "decimals",
      "mean",
      "from decimal import Decimal\nn = int(input())\nprint('Mean:', sum(map(Decimal, input().split())) / n)",
    ],
    ["a drawing", "tree", "n = int(input())\nfor i in range(n): print(('*' * (2 * i + 1)).center(2 * n - 1))"],
  ])("with %s", async (_, pool, answer) => {
    const { solved, violation } = await scoreOf(pool, answer);
    expect([solved, violation]).toEqual([true, ""]);
  });
});

const ANY = "class Any(int):\n    __eq__ = lambda *_: True\n    __hash__ = lambda _: 0\n";

describe("no trick scores", () => {
  test.each<readonly [string, Pool, string]>([
    [
      "a result that gives what equals all",
      "primes",
      `${ANY}class A:\n    __iter__ = lambda _: iter([Any()] * 4)\ndef p(n): return A()`,
    ],
    ["a result without end", "primes", "import itertools\ndef p(n): return itertools.count(2)"],
    [
      "patched builtins",
      "primes",
      `${ANY}import builtins\nbuiltins.list = builtins.sum = builtins.tuple = lambda *_: Any()\ndef p(n): return []`,
    ],
    [
      "a patched driver",
      "primes",
      `${ANY}import sys\nfor m in list(sys.modules.values()):\n    for n in ('seen', 'encode'):\n        if hasattr(m, n): setattr(m, n, lambda *_: Any())\ndef p(n): return []`,
    ],
    ["what its caller knows", "primes", "import sys\ndef p(n): return sys._getframe(1).f_locals.get('expected', [])"],
    [
      "another's value in the frame",
      "primes",
      "import sys\ndef t(f, e, a):\n    if e == 'return': f.f_locals['value'] = [2, 3, 5, 7]\n    return t\nsys._getframe(1).f_trace = t\nsys.settrace(t)\ndef p(n): return []",
    ],
    ["an exception by its name", "bank", BANK.replace("(ValueError)", "(Exception)").replaceAll("Poor", "ValueError")],
    [
      "an exception by its words",
      "bank",
      `${BANK.replace("(ValueError)", "(Exception)")}\nPoor.__name__ = Poor.__qualname__ = 'ValueError'\nPoor.__str__ = lambda _: 'ValueError: Poor'`,
    ],
    [
      "an exception by its metaclass",
      "bank",
      BANK.replace("(ValueError)", "(Exception, metaclass=type('M', (type,), {'__subclasscheck__': lambda *_: True}))"),
    ],
    ["an exception for all", "bank", "class Poor(ValueError): pass\ndef withdraw(b, a): raise Poor"],
    ["an exception while it loads", "bank", "class Poor(ValueError): pass\nraise Poor"],
    ["no function, but an exception", "bank", "def __getattr__(name): raise ValueError"],
    [
      "a guess in each block",
      "sums",
      `${python("input()\nprint(3, 7, 11, sep='\\n')")}\n${python("input()\nprint(1000000000001)")}`,
    ],
    ["all guesses in one output", "sums", "input()\nprint(3, 7, 11, 1000000000001, sep='\\n')"],
    ["floats for ints", "sums", SUMS.replace("map(int", "map(float")],
    ["an exponent for an int", "deep", "print('5e4')"],
    ["zeros in front", "deep", "print('0' + input())"],
    ["an int for a decimal", "mean", "print('Mean: 2')"],
    ["too few digits", "mean", "print('Mean: 2.3333')"],
    ["other words", "mean", "print('mean: 2.33333333')"],
    ["a drawing without its indentation", "tree", "for i in range(int(input())): print('*' * (2 * i + 1))"],
    [
      "the right output, and a status",
      "tree",
      "n = int(input())\nfor i in range(n): print(('*' * (2 * i + 1)).center(2 * n - 1))\nraise SystemExit(1)",
    ],
  ])("%s", async (_, pool, answer) => {
    const { reward, solved, violation } = await scoreOf(pool, answer);
    expect([reward, solved]).toEqual([0, false]);
    expect(violation).toMatch(/^test \d of \d: /);
  });
});
