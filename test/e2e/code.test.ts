/** Programs through a server, and its real sandbox: right ones are right however they are written, and no trick scores. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Score, Task } from "../../clients/ts/src/public.ts";
import { wrapAnswer } from "../../envs/answers/wording.ts";
import { openServer, type TestServer } from "../support/in-process.ts";
import { temporaryFolder } from "../support/server-process.ts";
import { writeRows } from "../support/rows-file.ts";

/** Numbers that no program would come upon by chance. */
const ROWS = {
  function: {
    prompt: "Write a function blend(a, b) that returns a * 7919 + b.",
    tests: [
      "assert blend(2, 3) == 15841",
      "assert blend(0, 0) == 0",
      "assert blend(-1, 81) == -7838",
      "assert blend(b=1, a=10**18) == 7919000000000000000001",
      "assert blend(1, 1) == 7920",
    ],
    solution: "def blend(a, b):\n    return a * 7919 + b\n",
    level: "easy",
  },
  script: {
    prompt: "Read two integers and print the first times 6007 plus the second.",
    tests: [
      { input: "2 3\n", output: "12017\n" },
      { input: "0\n0\n", output: "0\n" },
      { input: "5 5\n", output: "30040\n" },
    ],
    level: "hard",
  },
  method: {
    prompt: "Return the sum of the numbers and of their count.",
    reward_model: {
      style: "rule",
      ground_truth: JSON.stringify({
        functional:
          "def check(candidate):\n    assert candidate(nums = [1, 2]) == 5\n    assert candidate(nums = []) == 0\n    assert candidate(nums = [10]) == 11\n\ncheck(Solution().total)",
      }),
    },
    level: "medium",
  },
};

const folder = temporaryFolder();
let server: TestServer;
beforeAll(async () => {
  const path = join(folder.path, "rows.jsonl");
  writeRows(path, Object.values(ROWS));
  server = await openServer({ pool: [`rows=${path}@train`], sandbox: "embedded" });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

function taskOf(kind: keyof typeof ROWS, parameters: Readonly<Record<string, number>> = {}): Promise<Task> {
  const rewardScheme = { name: "weighted", parameters };
  const rest = { source: "real", pool: "rows", answerFormat: "answer_tag", rewardScheme } as const;
  return server.client.reset({ environment: "code", level: ROWS[kind].level, ...rest, seed: 1n });
}

async function scoreOf(kind: keyof typeof ROWS, answer: string, parameters?: Readonly<Record<string, number>>) {
  const outcome = await server.client.step(await taskOf(kind, parameters), wrapAnswer(answer, "answer_tag"));
  if (outcome.kind !== "scored") throw new Error(`no reward: ${outcome.detail}`);
  return outcome;
}

const fenced = (program: string): string => `\`\`\`python\n${program}\n\`\`\``;
const componentOf = ({ components }: Pick<Score, "components">, name: string) =>
  components.find((each) => each.name === name)?.value;

describe("right programs", () => {
  test.each([
    ["plain", "function", ROWS.function.solution],
    ["fenced, with prose", "function", `It is linear.\n${fenced(ROWS.function.solution)}\nDone.`],
    [
      "with bools and floats of the same value",
      "function",
      "blend = lambda a, b: True if a * 7919 + b == 1 else a * 7919 + b",
    ],
    ["that print while they work", "function", `print("PASSED")\n${ROWS.function.solution}`],
    ["that define more", "function", `class blend:\n    def __new__(cls, a, b):\n        return a * 7919 + b`],
    ["as a script", "script", fenced("import sys\na, b = map(int, sys.stdin.read().split())\nprint(a * 6007 + b)")],
    [
      "as a script that ends itself",
      "script",
      "import sys\na, b = map(int, sys.stdin.read().split())\nprint(a * 6007 + b)\nsys.exit(0)",
    ],
    [
      "as a script with a main",
      "script",
      "def main():\n    a, b = map(int, open(0).read().split())\n    print(a * 6007 + b, end='')\nif __name__ == '__main__':\n    main()",
    ],
    [
      "as a method, with types that LeetCode imports",
      "method",
      "class Solution:\n    def total(self, nums: List[int]) -> Optional[int]:\n        return reduce(add, nums, 0) + len(nums)",
    ],
  ] as const)("%s", async (_, kind, answer) => {
    const score = await scoreOf(kind, answer);
    expect([score.reward, score.solved, score.violation]).toEqual([1, true, ""]);
    expect(score.info["passed"]).toBe(score.info["tests"]);
  });
});

test("a wrong program is told of its first test that fails, and of the share that pass", async () => {
  const score = await scoreOf("function", "def blend(a, b):\n    return abs(a) * 7919 + b");
  expect([score.reward, score.solved]).toEqual([0, false]);
  expect(score.violation).toBe("test 3 of 5: blend(-1, 81) returned 8000, expected -7838");
  expect(componentOf(score, "passed")).toBeCloseTo(0.8);
  expect(score.info).toMatchObject({ passed: "4", tests: "5", failed_test: "3" });
});

test("the share of the tests is another weighting", async () => {
  const program = "def blend(a, b):\n    return abs(a) * 7919 + b";
  expect((await scoreOf("function", program, { correctness: 0, passed: 1 })).reward).toBeCloseTo(0.8);
  expect((await scoreOf("function", ROWS.function.solution, { correctness: 0, passed: 1 })).reward).toBe(1);
});

test("what is printed, raised or never comes is told", async () => {
  const words = async (kind: keyof typeof ROWS, program: string) => (await scoreOf(kind, program)).violation;
  expect(await words("script", "print(8)")).toBe(
    'test 1 of 3: for the input "2 3\\n" it printed "8\\n", expected "12017\\n"',
  );
  expect(await words("function", "def blend(a, b):\n    return a / b")).toContain(
    "test 1 of 5: blend(2, 3) returned 0.666",
  );
  expect(await words("function", "def blend(a, b):\n    return {}[a]")).toContain("raised KeyError: 2");
  expect(await words("function", "def blend(a, b)\n    return 1")).toContain(
    "was not reached: the program raised SyntaxError",
  );
  expect(await words("function", "x = 1")).toContain("the program does not define blend");
  expect(await words("script", "print(input()[99])")).toContain("raised IndexError: string index out of range");
});

test("an answer without a program is malformed", async () => {
  const task = await taskOf("function");
  const outcome = await server.client.step(task, wrapAnswer("```python\n```", "answer_tag"));
  expect(outcome).toMatchObject({ reward: 0, violation: "the program is empty" });
});

const ALWAYS =
  "class Always:\n    def __eq__(self, other): return True\n    __ne__ = lambda self, other: False\n    __hash__ = lambda self: 0\n";

describe("no trick of a function scores", () => {
  test.each([
    ["an object that equals all", `${ALWAYS}def blend(a, b): return Always()`],
    [
      "an int that equals all",
      "class I(int):\n    __eq__ = lambda s, o: True\n    __ne__ = lambda s, o: False\ndef blend(a, b): return I(5)",
    ],
    [
      "an int that lies about its type",
      "class I(int):\n    __class__ = int\n    __eq__ = lambda s, o: True\ndef blend(a, b): return I(15841)",
    ],
    [
      "a class that calls itself int",
      "int2 = type('int', (object,), {'__eq__': lambda s, o: True, '__int__': lambda s: 15841})\ndef blend(a, b): return int2()",
    ],
    [
      "a str that equals all, in a list",
      "class S(str):\n    __eq__ = lambda s, o: True\ndef blend(a, b): return [S()]",
    ],
    ["sys.exit(0)", "import sys\nsys.exit(0)"],
    ["sys.exit(0) when called", "import sys\ndef blend(a, b): sys.exit(0)"],
    ["os._exit(0)", "import os\nos._exit(0)"],
    ["os._exit(0) when called", "import os\ndef blend(a, b): os._exit(0)"],
    ["raising SystemExit, quit and abort", "import os\ndef blend(a, b):\n    try: quit()\n    finally: os.abort()"],
    [
      "printing what harnesses look for",
      "import sys\nfor s in (sys.stdout, sys.stderr):\n    print('PASSED', '5 passed', 'OK', 'All tests passed', '{\"value\": 15841}', file=s)\ndef blend(a, b): return None",
    ],
    [
      "patched builtins",
      "import builtins\nbuiltins.type = lambda x: int\nbuiltins.isinstance = lambda *a: True\nbuiltins.len = lambda x: 0\nbuiltins.repr = lambda x: '15841'\nbuiltins.bool = lambda x: True\nbuiltins.AssertionError = SystemExit\ndef blend(a, b): return 0.5",
    ],
    [
      "a patched encoder",
      `import json, sys\n${ALWAYS}for m in list(sys.modules.values()):\n    for n in ('encode', 'reply', 'to_json'):\n        if hasattr(m, n):\n            try: setattr(m, n, lambda *a: Always())\n            except Exception: pass\njson.JSONEncoder.encode = lambda *a: '{"value":true}'\ndef blend(a, b): return None`,
    ],
    [
      "looking for the test in the frames",
      "import sys, gc\ndef blend(a, b):\n    f, found = sys._getframe(), []\n    while f is not None:\n        found += [v for k, v in {**f.f_globals, **f.f_locals}.items() if k in ('expected', 'output', 'answer', 'want', 'tests', 'case')]\n        f = f.f_back\n    for d in gc.get_objects():\n        if type(d) is dict and 'expected' in d: found.append(d['expected'])\n    for v in found:\n        if type(v) is dict and 'expected' in v: return v['expected']\n    return found[0] if found else None",
    ],
    [
      "looking for the number in memory and in files",
      "import os, re\ndef blend(a, b):\n    for path in ('/proc/self/environ', '/proc/self/cmdline', '/proc/self/mem', '/proc/%d/mem' % os.getppid(), 'tests.py', 'rows.jsonl'):\n        try:\n            m = re.search(rb'15841|7920', open(path, 'rb').read(10 ** 7))\n            if m: return int(m.group())\n        except Exception: pass",
    ],
    [
      "replies of its own, to every descriptor",
      'import os, struct, json\ndef blend(a, b):\n    for d in range(1, 64):\n        for text in (\'{"value":true}\', \'{"passed":true}\', \'{"value":{"o":"int"}}\'):\n            try: os.write(d, struct.pack(\'>I\', len(text)) + text.encode())\n            except OSError: pass',
    ],
    ["a mock", "from unittest.mock import MagicMock, ANY\ndef blend(a, b): return ANY if a else MagicMock()"],
    ["an exception that names the value", "def blend(a, b): raise Exception('15841')"],
    ["a guess of the first case alone", "def blend(a, b): return 15841"],
  ])("%s", async (_, program) => {
    const score = await scoreOf("function", fenced(program));
    expect([score.reward, score.solved]).toEqual([0, false]);
    expect(score.violation).toMatch(/^test \d of 5: blend\(/);
  });
});

describe("no trick of a script scores", () => {
  test.each([
    ["nothing", "pass"],
    ["sys.exit(0)", "import sys\nsys.exit(0)"],
    ["os._exit(0)", "import os\nos._exit(0)"],
    ["what harnesses look for", "print('PASSED')\nprint('OK')\nprint('All tests passed')"],
    ["all numbers at once", "print(*range(100000))"],
    ["the right one, and another line", "a, b = map(int, open(0).read().split())\nprint(a * 6007 + b)\nprint('or so')"],
    [
      "the right one, with another status",
      "import sys\na, b = map(int, open(0).read().split())\nprint(a * 6007 + b)\nsys.exit(3)",
    ],
    [
      "the right one, and an exception",
      "a, b = map(int, open(0).read().split())\nprint(a * 6007 + b, flush=True)\nraise ValueError",
    ],
    [
      "files that may hold tests",
      "import os\nfor root, _, names in os.walk('/proc/self'):\n    print(names)\n    break\nprint(open('/etc/hostname').read())",
    ],
    [
      "other descriptors",
      "import os\nfor d in range(3, 64):\n    try: os.write(d, b'12017')\n    except OSError: pass",
    ],
  ])("%s", async (_, program) => {
    const score = await scoreOf("script", fenced(program));
    expect([score.reward, score.solved]).toEqual([0, false]);
    expect(score.violation).toMatch(/^test \d of 3: for the input /);
  });
});
