/**
 * Tests that Python in the sandbox computes each view of a result, so that every value that a right program returns
 * passes.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { verify } from "../../../envs/code/verify.ts";
import type { Sandbox } from "../../../envs/ports.ts";
import { type OpenedPorts, openPorts } from "../../../server/outside/open-ports.ts";
import { systemClock } from "../../../server/base/system-clock.ts";
import { readCodeRow } from "../../support/code-rows.ts";
import { PATIENCE_MS } from "../../support/patience.ts";

let opened: OpenedPorts;
beforeAll(async () => {
  const sandbox = { kind: "embedded", python: "python3", concurrency: 2 } as const;
  opened = await openPorts({ sandbox }, { clock: systemClock });
});
afterAll(() => opened.close());

/** Returns "passes", or the reason why the program fails the tests. */
async function outcome(tests: string, program: string): Promise<string> {
  const row = await readCodeRow(opened.ports.sandbox as Sandbox, { prompt: "P", tests });
  if (row.kind !== "answer") throw new Error(row.reason);
  const context = {
    ports: opened.ports,
    signal: AbortSignal.timeout(PATIENCE_MS),
    deadlineMs: Date.now() + PATIENCE_MS,
  };
  const facts = await verify(row.answer, program, context);
  if (facts.kind !== "graded") throw new Error(facts.kind);
  return facts.violation ?? "passes";
}

const returns = (expression: string): string => `import collections, re\ndef f(): return ${expression}`;

describe("a right result passes", () => {
  test.each([
    ["list(f()) == [1, 2]", "(x for x in (1, 2))"],
    ["list(f()) == [1, 2]", "range(1, 3)"],
    ["list(f()) == [1, 2]", "collections.deque([1, 2])"],
    ["list(f()) == ['a']", "{'a': 1}.keys()"],
    ["list(f()) == ['a']", "{'a': 1}"],
    ["list(f()) == [(1, 2)]", "zip([1], [2])"],
    ["list(f()) == [1, 2]", "type('Mine', (), {'__iter__': lambda self: iter([1, 2])})()"],
    ["list(f()) == [1, 2]", "type('Mine', (list,), {})([1, 2])"],
    ["sorted(f()) == [1, 2]", "map(int, '21')"],
    ["sorted(f()) == [1, 2]", "{2, 1}"],
    ["sorted(f()) == [('a', 2), ('b', 1)]", "{'b': 1, 'a': 2}.items()"],
    ["sorted(f()) == [0.1, 0.3]", "[0.1 + 0.2, 0.1]"],
    ["sorted(f()) == pytest.approx([0.1, 0.3], abs=0.01)", "[0.304, 0.099]"],
    ["set(f()) == {1, 2}", "{1: 0, 2: 0}.keys()"],
    ["set(f()) == {1, 2}", "[2, 1, 1]"],
    ["tuple(f()) == (1, 2)", "reversed([2, 1])"],
    ["dict(f()) == {'a': 1}", "zip(['a'], [1])"],
    ["dict(f()) == {'a': 1}", "__import__('types').MappingProxyType({'a': 1})"],
    ["len(f()) == 3", "range(3)"],
    ["len(f()) == 3", "collections.UserList('abc')"],
    ["sum(f()) == 6", "filter(None, [0, 1, 2, 3])"],
    ["abs(f()) == 5", "-5"],
    ["abs(f()) == 5", "3 + 4j"],
    ["round(f(), 2) == 0.33", "1 / 3"],
    ["round(f()) == 2", "2.5"],
    ["round(f(), 1) == 0.2", "0.25"],
    ["round(f(), 2) == 2.67", "2.675"],
    ["round(f(), -2) == 1200", "1234"],
    ["str(f()) == '3'", "__import__('decimal').Decimal(3)"],
    ["f()", "re.match('a', 'a')"],
    ["not f()", "collections.deque()"],
    ["f() is True", "True"],
    ["f() == True", "1"],
    ["f() in [1, 2]", "2"],
    ["f() != 3", "'3'"],
    ["isinstance(f(), int)", "True"],
    ["isinstance(f(), dict)", "collections.Counter()"],
    ["isinstance(f(), (list, tuple))", "collections.namedtuple('P', 'x')(1)"],
    ["abs(f() - 0.5) < 1e-3", "0.5004"],
  ])("assert %s, of %s", async (source, expression) => {
    expect(await outcome(`assert ${source}`, returns(expression))).toBe("passes");
  });
});

describe("a wrong one fails", () => {
  test.each([
    ["list(f()) == [1, 2]", "(x for x in (1, 2, 3))"],
    ["list(f()) == [1, 2]", "__import__('itertools').count()"],
    ["sorted(f()) == [1, 2]", "[2, 1, 1]"],
    ["sorted(f()) == [1, 2]", "[1, 'a']"],
    ["sorted(f()) == [0.1, 0.3]", "[0.1, 0.3001]"],
    ["len(f()) == 3", "3"],
    ["len(f()) == 3", "iter('abc')"],
    ["round(f()) == 3", "2.5"],
    ["f()", "None"],
    ["not f()", "re.match('a', 'a')"],
    ["f() is True", "1"],
    ["f() == [1]", "(x for x in [1])"],
    ["isinstance(f(), int)", "type('int', (), {})()"],
    ["isinstance(f(), int)", "type('I', (), {'__class__': int})()"],
    ["isinstance(f(), (list, tuple))", "{1}"],
    ["abs(f() - 0.5) < 1e-3", "'0.5'"],
    ["abs(f() - 0.5) < 1e-3", "0.5024"],
    ["f() > 2", "type('Big', (), {'__gt__': lambda *_: True})()"],
    // The value of a view must itself be of a builtin type.
    ["str(f()) == 'x'", "type('A', (), {'__str__': lambda _: type('S', (str,), {'__eq__': lambda *_: True})()})()"],
    ["list(f()) == [1]", "[type('I', (int,), {'__eq__': lambda *_: True})(1)]"],
    ["sorted(f()) == [1]", "[type('I', (int,), {'__eq__': lambda *_: True, '__lt__': lambda *_: True})(1)]"],
    ["abs(f()) == 1", "type('A', (), {'__abs__': lambda s: type('I', (int,), {'__eq__': lambda *_: True})(1)})()"],
    ["sum(f()) == 1", "[type('I', (int,), {'__radd__': lambda s, o: s, '__eq__': lambda *_: True})(1)]"],
    ["dict(f()) == {1: 2}", "{1: type('I', (int,), {'__eq__': lambda *_: True})(2)}"],
  ])("assert %s, of %s", async (source, expression) => {
    expect(await outcome(`assert ${source}`, returns(expression))).toMatch(/^test 1 of 1: /);
  });
});

test("neither views that the program patched nor what it finds in the driver helps it", async () => {
  const patched = `
import builtins, sys
class Any:
    __eq__ = lambda *_: True
for name in ("sorted", "list", "len", "sum", "set"): setattr(builtins, name, lambda *_: Any())
runner = sys.modules["runner"]
for name in ("BUILTINS", "seen", "encode"):
    if name != "BUILTINS": setattr(runner, name, lambda *_: Any())
runner.BUILTINS.update(sorted=lambda *_: Any())
def f(): return [1]
`;
  expect(await outcome("assert sorted(f()) == [1, 2]", patched)).toMatch(/^test 1 of 1: /);
});

describe("exceptions", () => {
  const raising = (names: string, call = "f(1)"): string => `with pytest.raises(${names}):\n    ${call}\n`;
  test.each([
    ["ValueError", "def f(x): raise ValueError(x)"],
    ["LookupError", "def f(x): return {}[x]"],
    ["ValueError", "class Negative(ValueError): pass\ndef f(x): raise Negative(x)"],
    ["(KeyError, ValueError)", "def f(x): return int('x')"],
    ["Exception", "class Mine(Exception): pass\ndef f(x): raise Mine"],
    ["Mine", "class Mine(Exception): pass\ndef f(x): raise Mine"],
    ["json.JSONDecodeError", "import json\ndef f(x): return json.loads('{')"],
    ["ValueError", "import json\ndef f(x): return json.loads('{')"],
    ["SyntaxError", "def f(x): return eval('1 +')"],
    ["IOError", "def f(x): return open('/nowhere')"],
    ["SystemExit", "import sys\ndef f(x): sys.exit(3)"],
    ["ArithmeticError", "import decimal\ndef f(x): return decimal.Decimal(1) / 0"],
  ])("%s is raised by %s", async (names, program) => {
    expect(await outcome(raising(names), program)).toBe("passes");
  });

  test("a generator raises when its test goes through it", async () => {
    const program = "def f(x):\n    if x: raise ValueError(x)\n    yield x";
    expect(await outcome(raising("ValueError", "list(f(1))"), program)).toBe("passes");
    expect(await outcome(raising("ValueError"), program)).toContain("expected ValueError to be raised");
  });

  test.each([
    ["ValueError", "class ValueError(Exception): pass\ndef f(x): raise ValueError"],
    ["ValueError", "def f(x): raise type('ValueError', (Exception,), {})"],
    ["ValueError", "def f(x): raise KeyError('ValueError: x')"],
    ["ValueError", "def f(x): return ValueError()"],
    ["Exception", "import sys\ndef f(x): sys.exit(3)"],
    // No function was called: the program fails earlier, or has no such function.
    ["Exception", "raise ValueError"],
    ["ValueError", "raise ValueError\ndef f(x): pass"],
    ["SyntaxError", "def f(x) return x"],
    ["SystemExit", "import sys\nsys.exit(0)"],
    ["Exception", "import numpy\ndef f(x): raise ValueError"],
    ["AttributeError", "x = 1"],
    ["Exception", "def __getattr__(name): raise ValueError"],
    ["TypeError", "f = 1\ndel f"],
  ])("%s is not raised by %s", async (names, program) => {
    expect(await outcome(raising(names), program)).toMatch(/^test 1 of 1: /);
  });

  test("a program that cannot be called says why, for each test", async () => {
    const tests = "assert f(1) == 1\nassert g(1) == 1\n";
    expect(await outcome(tests, "def f(x) return 1")).toContain(
      "f(1) was not reached: the program raised SyntaxError: expected ':' (line 1)",
    );
    expect(await outcome(tests, "def f(x): return 1")).toBe(
      "test 2 of 2: g(1) was not reached: the program does not define g",
    );
    expect(await outcome(tests, "import numpy")).toContain(
      "ModuleNotFoundError: No module named 'numpy': there is Python's standard library, and nothing else",
    );
  });
});
