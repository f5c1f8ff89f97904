"""Reads tests that are written in Python into calls and their expected results, by Python's own parser.

The reader runs as a program in the sandbox (../read-python-tests.ts), and never runs the tests. It understands constant
expressions in assertions, in a check(candidate) as in HumanEval, in functions of pytest and in methods of unittest.
Other statements are left out, counted and reported. Names that they may have changed are unknown afterwards.

The result for a text is the same on every Python since 3.10. Therefore newer grammar is refused, error texts are fixed
here, and values are written in a fixed form, in the order of the text.
"""

import ast
import io
import json
import re
import sys
import tokenize
import warnings
from typing import Any

from constants import UnreadError, encode, fail, items_of, number_of
from meanings import (
    OPERATORS,
    TOO_LARGE,
    Gap,
    Meanings,
    Names,
    Opaque,
    Result,
    Value,
    dotted,
    kind_of,
    seen,
    words,
)

GRAMMAR = (3, 10)
# Maximum number of statements that are read in one text. A statement in a loop counts once for each turn of the loop.
STATEMENTS_MAX = 10_000
CALLS_MAX = 4
RECURSION_MAX = 10_000
# Maximum characters of the result for one text: CHARACTERS_MAX as it stands, and REPLY_CHARACTERS_MAX escaped as part
# of a reply (ROOM in envs/ports.ts).
CHARACTERS_MAX = 1_000_000
REPLY_CHARACTERS_MAX = 1_500_000

# Maximum number of tests that are read from one text (LIMITS.testsMax in envs/code/instance.ts).
TESTS_MAX = 64
REASONS_MAX = 1000
REASON_CHARACTERS_MAX = 160

LIBRARY = words(
    "bisect collections copy datetime decimal fractions functools heapq itertools json math numpy operator os pytest "
    "random re statistics string sys time typing unittest"
)
TYPES = {"bool", "int", "float", "str", "list", "tuple", "set", "frozenset", "dict", "bytes"}
OPPOSITES = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
MIRRORED = {"==": "==", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
METHODS = {
    "assertEqual": "==",
    "assertEquals": "==",
    "assertListEqual": "==",
    "assertDictEqual": "==",
    "assertTupleEqual": "==",
    "assertSetEqual": "==",
    "assertNotEqual": "!=",
    "assertIs": "is",
    "assertIn": "in",
    "assertLess": "<",
    "assertGreater": ">",
    "assertLessEqual": "<=",
    "assertGreaterEqual": ">=",
}
NO_CALL = "an assertion that does not call the program"
DIFFERENCE = "a difference that is not held against a tolerance"


class Reader(Meanings):
    """Reads the tests of one text into a list of calls with expected results."""

    def __init__(self) -> None:
        super().__init__()
        self.tests: list[str] = []
        self.unread: list[str] = []
        self._statements_left = STATEMENTS_MAX
        self._characters = 0
        self._reply_characters = 0
        self._definitions: dict[str, ast.FunctionDef] = {}
        self._changed: dict[ast.AST, set[str]] = {}

    def read(self, statements: list[ast.stmt]) -> None:
        """Reads all statements of a text."""
        for each in statements:
            if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                # Collects the names that the tests define or import from Python's library. These names do not mean
                # functions of the tested program.
                self._helpers.add(each.name)
            if isinstance(each, ast.FunctionDef):
                self._definitions[each.name] = each
            if isinstance(each, ast.ImportFrom) and each.module in LIBRARY:
                self._helpers.update(alias.asname or alias.name for alias in each.names)
        self._walk(statements, {}, 0)

    # Methods that read statements, by kind of statement.

    @property
    def _is_full(self) -> bool:
        return len(self.tests) >= TESTS_MAX or self._statements_left <= 0

    def _walk(self, statements: list[ast.stmt], names: Names, calls: int) -> None:
        for statement in statements:
            if len(self.tests) >= TESTS_MAX:
                return
            self._statements_left -= 1
            if self._statements_left < 0:
                self._leave("there are too many statements")
                return
            try:
                self._depth = 0
                self._understand(statement, names, calls)
            except UnreadError as error:
                self._leave(str(error))
                self._forget(statement, names)
            except (ArithmeticError, RecursionError):
                self._leave("an expression that is too large or nested too deeply")
                self._forget(statement, names)

    def _leave(self, why: str) -> None:
        if len(self.unread) < REASONS_MAX:
            self.unread.append(why[:REASON_CHARACTERS_MAX])

    def _forget(self, statement: ast.stmt, names: Names) -> None:
        """Marks names as unknown if a statement that cannot be read may have changed their values.

        An assertion changes only the names that it assigns. Any other statement may have changed every value and
        result, but not the tested program.
        """
        if statement not in self._changed:
            inner = [] if isinstance(statement, ast.FunctionDef | ast.ClassDef) else ast.walk(statement)
            stored = (each for each in inner if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store))
            self._changed[statement] = {each.id for each in stored}
        lost = self._changed[statement]
        if not isinstance(statement, ast.Assert):
            lost = lost.union(name for name, meaning in names.items() if isinstance(meaning, Value | Result))
        names.update((name, Opaque(name)) for name in lost)

    def _understand(self, statement: ast.stmt, names: Names, calls: int) -> None:
        kind = kind_of(statement)
        if isinstance(statement, NoPython):
            fail(f"line {statement.lineno}: no Python 3.10")
        on_kind = getattr(self, f"_on_{kind.lower()}", None)
        if on_kind is None:
            fail(f"line {statement.lineno}: a statement of kind {kind}")
        on_kind(statement, names, calls)

    def _on_pass(self, *_: object) -> None:
        """Reads 'pass' and imports, which test nothing."""

    _on_import = _on_importfrom = _on_pass

    def _on_assert(self, statement: ast.Assert, names: Names, _: int) -> None:
        self._take(self._assertion(statement.test, names))

    def _on_assign(self, statement: ast.Assign, names: Names, _: int) -> None:
        if len(statement.targets) > 1:
            fail("several assignments in one")
        self._bind(names, targets_of(statement.targets[0]), self._meaning(statement.value, names))

    def _on_annassign(self, statement: ast.AnnAssign, names: Names, _: int) -> None:
        if statement.value is not None:
            self._bind(names, targets_of(statement.target), self._meaning(statement.value, names))

    def _on_functiondef(self, definition: ast.FunctionDef, names: Names, calls: int) -> None:
        """Reads a test function where it is defined. Other functions are read where they are called."""
        if definition.name.startswith("test"):
            for each in self._cases(definition, names):
                self._walk(definition.body, each, calls + 1)

    def _on_classdef(self, statement: ast.ClassDef, names: Names, calls: int) -> None:
        self._walk([each for each in statement.body if isinstance(each, ast.FunctionDef)], dict(names), calls)

    def _take(self, tests: list[dict[str, Any]]) -> None:
        for test in tests[: TESTS_MAX - len(self.tests)]:
            text = to_json(test)
            self._characters += len(text)
            self._reply_characters += len(json.dumps(text))
            if self._characters > CHARACTERS_MAX or self._reply_characters > REPLY_CHARACTERS_MAX:
                self._statements_left = 0
                fail(TOO_LARGE)
            self.tests.append(text)

    def _bind(self, names: Names, targets: list[str], meaning: Any) -> None:
        """Assigns a meaning to names. If there are several names, a sequence is unpacked."""
        if len(targets) == 1:
            names[targets[0]] = meaning
            return
        items = items_of(meaning.value) if isinstance(meaning, Value) else None
        if items is None or len(items) != len(targets):
            fail("an assignment")
        names.update((name, Value(item)) for name, item in zip(targets, items, strict=True))

    def _on_expr(self, statement: ast.Expr, names: Names, calls: int) -> None:
        """Reads a call as a statement.

        It may call a function of the tests, such as check(candidate), or a method of unittest.
        """
        value = statement.value
        if isinstance(value, ast.Call):
            name = dotted(value.func)
            if name.startswith("self."):
                self._take(self._method(name[len("self.") :], value, names))
            elif name != "print":
                self._call_own(name, value, names, calls)
        elif not isinstance(value, ast.Constant):
            fail("a statement that tests nothing")

    def _call_own(self, name: str, value: ast.Call, names: Names, calls: int) -> None:
        definition = self._definitions.get(name)
        if definition is None or calls >= CALLS_MAX:
            fail(f"a call of '{name}'")
        parameters = parameters_of(definition)
        if len(value.args) != len(parameters) or value.keywords:
            fail(f"a call of '{name}' with other arguments")
        given = [self._meaning(arg, names) for arg in value.args]
        self._walk(definition.body, {**names, **dict(zip(parameters, given, strict=True))}, calls + 1)

    def _cases(self, definition: ast.FunctionDef, names: Names) -> list[Names]:
        """Returns the values of all names at the start of each run of a test function, one dict per run.

        There is one run for each entry of pytest.mark.parametrize.
        """
        given = [name for name in parameters_of(definition) if name != "self"]
        if not definition.decorator_list:
            return [dict(names)] if not given else fail("a test with a fixture")
        decorator = definition.decorator_list[0]
        if len(definition.decorator_list) > 1 or not isinstance(decorator, ast.Call) or not decorator.args[1:]:
            fail("a decorator")
        what, values = (self._value(arg, names) for arg in decorator.args[:2])
        targets = [name.strip() for name in what.split(",")] if type(what) is str else what
        if type(targets) not in (list, tuple) or type(values) not in (list, tuple):
            fail("a parametrized test")
        if not all(type(name) is str for name in targets):
            fail("a parametrized test")
        cases = [dict(names) for _ in values]
        for inner, value in zip(cases, values, strict=True):
            self._bind(inner, list(targets), Value(value))
        return cases

    def _on_with(self, statement: ast.With, names: Names, _: int) -> None:
        """Reads a block such as `with pytest.raises(ValueError):` whose only statement calls the tested program."""
        manager = statement.items[0].context_expr
        if len(statement.items) > 1 or not isinstance(manager, ast.Call) or not isinstance(manager.func, ast.Attribute):
            fail("a 'with' block")
        if manager.func.attr not in ("raises", "assertRaises"):
            fail("a 'with' block")
        first = manager.args[0] if manager.args else None
        kinds = first.elts if isinstance(first, ast.Tuple) else [first]
        exceptions = [kind.attr if isinstance(kind, ast.Attribute) else dotted(kind) for kind in kinds]
        (inner, *others) = statement.body
        if not isinstance(inner, ast.Expr | ast.Assign) or others or "" in exceptions:
            fail("a 'with' block")
        meaning = self._meaning(inner.value, names)
        if not isinstance(meaning, Result):
            fail("a 'with' block without a call of the program")
        self._take([{**meaning.call, "views": meaning.views, "expected": {"kind": "raises", "names": exceptions}}])

    def _on_for(self, statement: ast.For, names: Names, calls: int) -> None:
        if statement.orelse:
            fail("an 'else' of a loop")
        items = items_of(self._value(statement.iter, names))
        if items is None:
            fail("a loop over something else than constants")
        targets = targets_of(statement.target)
        for item in items:
            if self._is_full:
                return
            self._bind(names, targets, Value(item))
            self._walk(statement.body, names, calls)

    # Methods that read assertions.

    def _assertion(self, test: ast.expr, names: Names) -> list[dict[str, Any]]:
        if isinstance(test, ast.Constant):
            # Many files contain "assert True", which tests nothing.
            return [] if test.value is True else fail(NO_CALL)
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            return [each for value in test.values for each in self._assertion(value, names)]
        if isinstance(test, ast.Compare):
            return self._comparison(test, names)
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self._truth(test.operand, False, names)
        if isinstance(test, ast.Call):
            known = self._closeness(test, names) or self._instance_test(test, names)
            if known is not None:
                return known
        return self._truth(test, True, names)

    def _truth(self, tested: ast.expr, value: bool, names: Names) -> list[dict[str, Any]]:
        if not value and isinstance(tested, ast.Compare):
            # Reads "not a == b" as "a != b", and so on.
            return self._comparison(tested, names, OPPOSITES)
        meaning = self._meaning(tested, names)
        if not isinstance(meaning, Result):
            fail(NO_CALL)
        return test_of(seen(meaning, "bool"), {"kind": "is", "value": value})

    def _comparison(
        self, test: ast.Compare, names: Names, opposites: "dict[str, str] | None" = None
    ) -> list[dict[str, Any]]:
        if len(test.ops) > 1:
            fail("comparisons in a row")
        operator = OPERATORS[type(test.ops[0])]
        if opposites is not None:
            operator = opposites.get(operator) or fail("'not'")
        return self._compared(operator, test.left, test.comparators[0], names)

    def _compared(self, operator: str, left: ast.expr, right: ast.expr, names: Names) -> list[dict[str, Any]]:
        a, b = self._meaning(left, names), self._meaning(right, names)
        if not isinstance(a, Result):
            if not isinstance(b, Result) or operator not in MIRRORED:
                fail(NO_CALL)
            a, b, operator = b, a, MIRRORED[operator]
        if not isinstance(b, Value):
            fail("a result that is compared with another")
        if a.gap is not None:
            return distance(a, a.gap, operator, b.value)
        return test_of(a, expectation(operator, b))

    def _closeness(self, test: ast.Call, names: Names) -> "list[dict[str, Any]] | None":
        """Reads math.isclose(f(x), y) or numpy's isclose and allclose.

        The default tolerance of math.isclose is 1e-9 relative.
        """
        module, _, name = dotted(test.func).rpartition(".")
        if name not in ("isclose", "allclose") or not test.args[1:]:
            return None
        meanings = [self._meaning(arg, names) for arg in test.args[:2]]
        results = [each for each in meanings if isinstance(each, Result)]
        values = [each for each in meanings if isinstance(each, Value)]
        if not results or not values:
            return None
        is_math = module in ("", "math")
        relative = self._tolerance(test, ("rel_tol", "rtol"), names, 1e-9 if is_math else 1e-5)
        absolute = self._tolerance(test, ("abs_tol", "atol"), names, 0.0 if is_math else 1e-8)
        return test_of(results[0], equal(values[0].value, (relative, absolute)))

    def _instance_test(self, test: ast.Call, names: Names) -> "list[dict[str, Any]] | None":
        """Reads isinstance(f(x), list), for builtin types."""
        if dotted(test.func) != "isinstance" or len(test.args) != len(("object", "types")):
            return None
        first, second = test.args
        types = [dotted(each) for each in (second.elts if isinstance(second, ast.Tuple) else [second])]
        result = self._meaning(first, names) if TYPES.issuperset(types) else None
        if not isinstance(result, Result):
            return None
        return test_of(seen(result, "bases"), {"kind": "instance", "names": types})

    def _method(self, method: str, call: ast.Call, names: Names) -> list[dict[str, Any]]:
        """Reads a method of unittest, such as self.assertEqual(f(x), y)."""
        args = call.args
        if not args:
            fail(NO_CALL)
        if method in METHODS and args[1:]:
            return self._compared(METHODS[method], args[0], args[1], names)
        if method == "assertTrue":
            return self._assertion(args[0], names)
        if method == "assertFalse":
            return self._truth(args[0], False, names)
        if method == "assertIsNone":
            return self._compared("is", args[0], ast.Constant(None), names)
        if method != "assertAlmostEqual" or not args[1:]:
            fail(f"'{method}'")
        result, value = self._meaning(args[0], names), self._value(args[1], names)
        if not isinstance(result, Result):
            fail("'assertAlmostEqual' without a call of the program")
        delta = self._tolerance(call, ("delta",), names, -1.0)
        places = self._value(args[2], names) if args[2:] else self._tolerance(call, ("places",), names, 7.0)
        absolute = delta if delta >= 0 else 0.5 * 10 ** -number_of(places, "'places' that are no number")
        return test_of(result, equal(value, (0.0, absolute)))


def test_of(result: Result, expected: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the test that a result is as expected, as a list with one entry. Fails if the result has a gap (Gap)."""
    return [{**result.call, "views": result.views, "expected": expected}] if result.gap is None else fail(DIFFERENCE)


def equal(value: Any, near: "tuple[float, float] | None") -> dict[str, Any]:
    """Returns the expectation that a result equals a value, or is within the tolerance `near`."""
    expected = {"kind": "equal", "value": encode(value)}
    return expected if near is None else {**expected, "tolerance": [encode(each) for each in near]}


def expectation(operator: str, other: Value) -> dict[str, Any]:
    """Returns the expectation that a result compared with a value by an operator is true, e.g. by "<" with 3."""
    value = other.value
    if operator == "==":
        return equal(value, other.near)
    if operator == "!=" or (operator == "is not" and value is None):
        return {"kind": "unequal", "value": encode(value)}
    if operator == "is":
        return {"kind": "is", "value": value} if value is None or type(value) is bool else fail(NOT_ITSELF)
    if operator == "is not":
        fail("'is not' with something else than None")
    if operator == "in":
        values = None if type(value) is str else items_of(value)
        return (
            {"kind": "in", "values": encode(list(values))}
            if values is not None
            else fail("'in' something that is no list")
        )
    if operator not in MIRRORED:
        fail(f"'{operator}'")
    return {"kind": operator, "value": encode(number_of(value, f"'{operator}' of no number"))}


NOT_ITSELF = "'is' with something else than None, True or False"


def distance(result: Result, gap: Gap, operator: str, limit: Any) -> list[dict[str, Any]]:
    """Reads abs(f(x) - y) < e or round(f(x) - y, 7) == 0 as the test that f(x) equals y with a tolerance."""
    number = number_of(limit, DIFFERENCE)
    is_below = gap.is_absolute and gap.places is None and operator in ("<", "<=")
    if not is_below and (operator != "==" or number != 0):
        fail(DIFFERENCE)
    absolute = number if is_below else 0.0 if gap.places is None else 0.5 * 10**-gap.places
    return test_of(result._replace(gap=None), equal(gap.value, (0.0, absolute)))


def targets_of(target: ast.expr) -> list[str]:
    """Returns the names to which an assignment assigns."""
    targets = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    names = [each.id for each in targets if isinstance(each, ast.Name)]
    return names if len(names) == len(targets) else fail("an assignment to something else than names")


def parameters_of(definition: ast.FunctionDef) -> list[str]:
    """Returns the names of a function's parameters. Fails for parameters that are not plain positional ones."""
    given = definition.args
    if given.posonlyargs or given.kwonlyargs or given.vararg or given.kwarg:
        fail("a function with parameters that are not plain")
    return [each.arg for each in given.args]


class NoPython(ast.stmt):
    """Stands for a block of text that is not valid Python."""


# Errors that parsers of different Python versions raise for invalid or too deeply nested texts.
PARSE_ERRORS = (SyntaxError, ValueError, RecursionError, MemoryError, tokenize.TokenError)
STRING_WITH_CODE = re.compile(r"""(?:[fFtT][rR]?|[rR][fFtT])["']""")
BLOCK_START = re.compile(r"(?!else\b|elif\b|except\b|finally\b)[^\s#)\]}]")


def parse(text: str) -> list[ast.stmt]:
    """Parses a text by the grammar of Python 3.10, whichever version runs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parsed = ast.parse(text, feature_version=GRAMMAR)
    if sys.version_info >= (3, 12) and STRING_WITH_CODE.search(text):
        refuse_new_strings(text)
    return parsed.body


def refuse_new_strings(text: str) -> None:
    """Raises SyntaxError if an f-string uses what only 3.12 allows: its own quote, a backslash or a comment."""
    quotes: list[str] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        kind = tokenize.tok_name[token.type]
        if kind in ("STRING", "FSTRING_START") and any(quote in token.string for quote in quotes):
            raise SyntaxError
        if kind == "FSTRING_START":
            quotes.append(token.string.lstrip("fFrR"))
        elif kind == "FSTRING_END":
            quotes.pop()
        elif kind.startswith("TSTRING"):
            raise SyntaxError
        elif quotes and kind != "FSTRING_MIDDLE":
            is_long = len(quotes[-1]) > 1
            if kind == "COMMENT" or "\\" in token.string or (kind in ("NL", "NEWLINE") and not is_long):
                raise SyntaxError


def statements_of(text: str) -> list[ast.stmt]:
    """Parses a text into statements. If the whole text is not valid Python, parses each block of it alone."""
    try:
        return parse(text)
    except PARSE_ERRORS:
        pass
    lines = text.split("\n")
    starts = [i for i, line in enumerate(lines) if BLOCK_START.match(line)] or [0]
    # A decorator belongs to the block of the definition below it.
    starts = [at for i, at in enumerate(starts) if i == 0 or not lines[starts[i - 1]].startswith("@")]
    statements: list[ast.stmt] = []
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        try:
            # Blank lines in front keep the block's line numbers.
            statements += parse("\n" * start + "\n".join(lines[start:end]))
        except PARSE_ERRORS:
            statements.append(NoPython(lineno=start + 1))
    return statements


to_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def read(text: str) -> str:
    """Returns the tests of a text as JSON, with one reason for each statement that could not be read."""
    sys.setrecursionlimit(RECURSION_MAX)
    reader = Reader()
    reader.read(statements_of(text.replace("\r\n", "\n").replace("\r", "\n")))
    return f'{{"tests":[{",".join(reader.tests)}],"unread":{to_json(reader.unread)}}}'
