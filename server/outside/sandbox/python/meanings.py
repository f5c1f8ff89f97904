"""Finds out what an expression in a test means.

It may mean a constant, a function of the tested program, or the result of calling such a function.
"""

import ast
import math
import re
from typing import Any, NamedTuple

from constants import (
    VALUE_SIZE_MAX,
    Pairs,
    Pile,
    encode,
    fail,
    fold,
    fold_builtin,
    is_number,
    key_of,
    number_of,
    size_of,
    type_name,
)

# Maximum number of expressions that are read in one text. An expression in a loop counts once for each turn of the
# loop.
NODES_MAX = 1_000_000
DEPTH_MAX = 64
LITERAL_MAX = 10**10_000
PLACES_MAX = 20


def words(text: str) -> frozenset[str]:
    """Returns the set of words in a text."""
    return frozenset(text.split())


VIEWS = words("list tuple set frozenset dict sorted len sum min max any all abs round int float bool str repr")
# Names that tests use and that belong to Python: builtin functions, modules and some variables. A test that uses one of
# them does not mean a function of the tested program.
BUILTINS = words(
    "abs all any bin bool bytes callable chr dict divmod enumerate filter float format frozenset hash hex id int "
    "isinstance iter len list map max min next object oct open ord pow print range repr reversed round set sorted str "
    "sum super tuple type zip math np numpy pytest unittest random os sys re itertools collections self inf nan "
    "__name__"
)
# Names of constants that LeetCode's tests use.
CONSTANTS = {
    "inf": math.inf,
    "nan": math.nan,
    "math.inf": math.inf,
    "math.nan": math.nan,
    "float.inf": math.inf,
    "math.pi": math.pi,
    "math.e": math.e,
    "np.inf": math.inf,
}
OPERATORS: dict[type, str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "//",
    ast.Div: "/",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.Not: "not",
    ast.USub: "-",
    ast.UAdd: "+",
}
UNREAD: dict[type, str] = {
    ast.Subscript: "a part of a value, taken by its index",
    ast.JoinedStr: "an f-string",
    ast.Compare: "a comparison where a value is wanted",
    ast.BoolOp: "'and' or 'or' where a value is wanted",
    ast.Lambda: "'lambda'",
    ast.IfExp: "'if' in an expression",
    ast.Starred: "'*' before an argument",
    ast.NamedExpr: "':='",
    ast.ListComp: "'for' in an expression",
    ast.SetComp: "'for' in an expression",
    ast.DictComp: "'for' in an expression",
    ast.GeneratorExp: "'for' in an expression",
}
TOO_LARGE = "the tests are too large"


class Value(NamedTuple):
    """A constant, as the expected value of a result.

    `near` is the relative and the absolute tolerance of the result. None: the result must equal the constant.
    """

    value: Any
    near: "tuple[float, float] | None" = None


class Function(NamedTuple):
    """A function of the tested program, or a method of one of its classes.

    For a method, an instance of the class is created without arguments.
    """

    name: str


class Instance(NamedTuple):
    """An instance of a class of the tested program, created without arguments."""

    name: str


class Opaque(NamedTuple):
    """A name that the tests define and whose value the reader does not know."""

    name: str


class Gap(NamedTuple):
    """The difference of a result and a constant, as in `f(x) - 3`.

    The constant is not sent to the sandbox, because it is the expected value.
    """

    value: Any
    is_absolute: bool = False
    places: "int | None" = None


class Result(NamedTuple):
    """The result of a call of the tested program. `views` are functions applied to it, e.g. `len` in `len(f(x))`."""

    call: dict[str, Any]
    views: list[Any]
    gap: "Gap | None" = None


Names = dict[str, Any]


class Meanings:
    """Finds the meanings of expressions. Counts the expressions, and refuses tests with too many."""

    def __init__(self) -> None:
        self._nodes_left: float = NODES_MAX
        self._depth = 0
        self._helpers: set[str] = set()

    def _meaning(self, node: ast.expr, names: Names) -> Any:
        """Returns the meaning of an expression: a constant, a part of the tested program, or the result of a call."""
        self._nodes_left -= 1
        if self._nodes_left < 0:
            fail(TOO_LARGE)
        self._depth += 1
        if self._depth > DEPTH_MAX:
            fail(f"an expression nested more than {DEPTH_MAX} deep")
        meaning = self._of_kind(node, names)
        self._depth -= 1
        return meaning

    def _of_kind(self, node: ast.expr, names: Names) -> Any:
        of_kind = getattr(self, f"_of_{kind_of(node).lower()}", None)
        if of_kind is None:
            fail(UNREAD.get(type(node), f"an expression of kind {kind_of(node)}"))
        return of_kind(node, names)

    def _of_constant(self, node: ast.Constant, _: Names) -> Value:
        """Returns the value of a literal."""
        value = node.value
        if type(value) is complex:
            fail("a complex number")
        if value is ...:
            fail("'...'")
        if type(value) is int and value >= LITERAL_MAX:
            fail("an int of more than 10000 digits")
        return Value(value)

    def _of_dict(self, node: ast.Dict, names: Names) -> Value:
        pairs = zip(node.keys, node.values, strict=True)
        read = [(self._value(key or fail("'**' in a dict"), names), self._value(item, names)) for key, item in pairs]
        for key, _ in read:
            key_of(key)
        return self._made(Pairs(read))

    def _of_set(self, node: ast.Set, names: Names) -> Value:
        items = self._values(node.elts, names)
        for item in items:
            key_of(item)
        return self._made(Pile("s", items))

    def _of_list(self, node: ast.List, names: Names) -> Value:
        return self._made(self._values(node.elts, names))

    def _of_tuple(self, node: ast.Tuple, names: Names) -> Value:
        return self._made(tuple(self._values(node.elts, names)))

    def _values(self, nodes: list[ast.expr], names: Names) -> list[Any]:
        return [self._value(node, names) for node in nodes]

    def _made(self, value: Any) -> Value:
        """Returns a computed value as a constant. Fails if it is too large."""
        size = size_of(value)
        self._nodes_left -= size
        return Value(value) if size <= VALUE_SIZE_MAX else fail("a value that is too large")

    def _value(self, node: ast.expr, names: Names) -> Any:
        """Returns the constant that an expression means. Fails if the expression calls the tested program."""
        meaning = self._meaning(node, names)
        return meaning.value if isinstance(meaning, Value) else fail("a call of the program where a constant is wanted")

    def _of_name(self, node: ast.Name, names: Names) -> Any:
        name = node.id
        known = names.get(name)
        if isinstance(known, Opaque) or (known is None and name in self._helpers):
            fail(f"'{name}', which the tests define")
        if known is not None:
            return known
        if name in CONSTANTS:
            return Value(CONSTANTS[name])
        return fail(f"'{name}' of Python") if name in BUILTINS else Function(name)

    def _of_attribute(self, node: ast.Attribute, names: Names) -> Any:
        name = dotted(node)
        if name in CONSTANTS:
            return Value(CONSTANTS[name])
        if name == f"solution.{node.attr}":
            # After "import solution", an attribute of "solution" means a function of the tested program.
            return Function(node.attr)
        owner = self._meaning(node.value, names)
        return (
            Function(f"{owner.name}.{node.attr}")
            if isinstance(owner, Instance)
            else fail(f"'.{node.attr}' of something other than the program")
        )

    def _of_call(self, node: ast.Call, names: Names) -> Any:
        callee = node.func
        if dotted(callee) == "pytest.approx":
            return self._approximation(node, names)
        if isinstance(callee, ast.Name) and callee.id in BUILTINS and callee.id not in names:
            return self._builtin(callee.id, node, names)
        called = self._meaning(callee, names)
        if not isinstance(called, Function):
            fail("a call of something that is no function")
        if re.match("[A-Z]", called.name) and "." not in called.name:
            # A capitalized name that is called without arguments means an instance of the program's class of that name.
            if node.args or node.keywords:
                fail(f"an instance of '{called.name}' that is made with arguments")
            return Instance(called.name)
        args = [encode(self._value(arg, names)) for arg in node.args]
        kwargs = [
            [each.arg or fail("'**' before an argument"), encode(self._value(each.value, names))]
            for each in node.keywords
        ]
        return Result({"name": called.name, "args": args, **({"kwargs": kwargs} if kwargs else {})}, [])

    def _builtin(self, name: str, node: ast.Call, names: Names) -> Any:
        """Computes a builtin function of constants.

        For a builtin of a result, e.g. `len(f(x))`, adds the builtin to the result's views, which the sandbox applies.
        Fails if it is not one of VIEWS.
        """
        if node.keywords:
            fail(f"'{name}' with arguments by name")
        inner = self._meaning(node.args[0], names) if node.args else None
        if isinstance(inner, Result):
            view: Any = name if len(node.args) == 1 and name in VIEWS else None
            if name == "round" and node.args[1:] and not node.args[2:]:
                view = places_of(self._value(node.args[1], names))
            if view is None:
                fail(f"'{name}' of a result")
            return seen(inner, view) if inner.gap is None else inner._replace(gap=gap_seen(inner.gap, view))
        value = fold_builtin(name, self._values(node.args, names))
        return self._made(value) if value is not None else fail(f"'{name}' of Python")

    def _approximation(self, node: ast.Call, names: Names) -> Value:
        """Reads a call of pytest.approx. Its default tolerance is 1e-6 relative and 1e-12 absolute."""
        if len(node.args) != 1:
            fail("'approx' of more than one argument, or of none")
        value = self._value(node.args[0], names)
        given = {each.arg for each in node.keywords}
        is_absolute = "abs" in given and "rel" not in given
        relative = self._tolerance(node, ("rel",), names, 0.0 if is_absolute else 1e-6)
        return Value(value, (relative, self._tolerance(node, ("abs",), names, 1e-12)))

    def _of_unaryop(self, node: ast.UnaryOp, names: Names) -> Value:
        sign = OPERATORS.get(type(node.op), "~")
        value = self._value(node.operand, names)
        if sign not in ("-", "+") or not is_number(value):
            fail(f"'{sign}' of a {type_name(value)}")
        return Value(-value if sign == "-" else +value)

    def _of_binop(self, node: ast.BinOp, names: Names) -> Any:
        """Reads a binary operator, such as `+`.

        A result minus a constant, or a constant minus a result, becomes a Gap, as in `abs(f(x) - 3) < 0.1`.
        """
        operator = OPERATORS.get(type(node.op)) or fail(f"an operator of kind {kind_of(node.op)}")
        a, b = self._meaning(node.left, names), self._meaning(node.right, names)
        result, other = (a, b) if isinstance(a, Result) else (b, a)
        if operator == "-" and isinstance(result, Result) and isinstance(other, Value) and result.gap is None:
            return result._replace(gap=Gap(other.value))
        if not isinstance(a, Value) or not isinstance(b, Value):
            fail("arithmetic with a result")
        value = fold(operator, a.value, b.value)
        return self._made(value) if value is not None else fail(f"{type_name(a.value)} {operator} {type_name(b.value)}")

    def _tolerance(self, call: ast.Call, given: tuple[str, ...], names: Names, otherwise: float) -> float:
        """Returns the tolerance from the first of these keyword arguments that is given, or the default."""
        value = next((each.value for each in call.keywords if each.arg in given), None)
        number = -1 if value is None else self._value(value, names)
        return number_of(number, "") if is_number(number) and number >= 0 else otherwise


def places_of(value: Any) -> "dict[str, int] | None":
    """Returns the view (a function applied to a result) for `round(…, n)`; None if `n` is no whole number in range."""
    is_whole = is_number(value) and value in range(-PLACES_MAX, PLACES_MAX + 1)
    return {"round": int(value)} if is_whole else None


def seen(result: Result, view: Any) -> Result:
    """Returns the result with one more function applied to it, e.g. `len`."""
    return result._replace(views=[*result.views, view])


def gap_seen(gap: Gap, view: Any) -> Gap:
    """Applies abs or round to a gap, i.e. to the difference of a result and a constant. Fails for other functions."""
    if view == "abs":
        return gap._replace(is_absolute=True)
    places = 0 if view == "round" else view["round"] if type(view) is dict else None
    return (
        gap._replace(places=places) if places is not None and gap.places is None else fail("a builtin of a difference")
    )


def dotted(node: "ast.expr | None") -> str:
    """Returns the text of a name or of an attribute of a name, e.g. "math.pi". Empty for other expressions."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def kind_of(node: ast.AST) -> str:
    """Returns the name of a syntax node's class, e.g. "BinOp"."""
    return type(node).__name__
