"""Finds out by sympy whether answers equal the expected ones. Reads pairs as JSON on stdin, writes verdicts to stdout.

Needs sympy and antlr4-python3-runtime 4.11, which nothing else needs: install them into their own folder.
"""

import json
import re
import sys

import sympy
from sympy.parsing.latex import LaTeXParsingError, parse_latex

PLACES = [0.37, 1.91, 2.63, 0.83, 1.27]
OPEN, CLOSE = "([{", ")]}"


def bare(text: str) -> str:
    text = re.sub(
        r"\s(and|or)\s",
        ",",
        re.sub(r"(?<![\\a-z])ln(?=\d)", r"\\ln ", text.replace("π", r"\pi ")),
    )
    text = re.sub(r"\\(left|right|displaystyle|limits)(?![A-Za-z])|\\[,;:! ]|\$", " ", text)
    text = (
        re.sub(r"\\(text|mathrm|textrm)\s*\{(?!i\})[^{}]*\}", " ", text)
        .replace("\\dfrac", "\\frac")
        .replace("\\tfrac", "\\frac")
    )
    return re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text.replace("\\{", "{").replace("\\}", "}")).strip(" .")


def items(text: str) -> list[str]:
    """Returns the parts between commas outside of brackets."""
    found, depth = [""], 0
    for letter in text:
        depth += (letter in OPEN) - (letter in CLOSE)
        if letter in ",;" and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return [item.strip() for item in found]


def plain(text: str) -> str:
    """Returns the letters alone, in one case."""
    text = re.sub(r"\\(text|mathrm|textbf|left|right)(?![A-Za-z])|[\s$.{}~+]|\\(?=%)", "", text).lower()
    text = text.removeprefix("thereis")
    for sign, command in {"\u00d7": "\\times", "π": "\\pi", "and": ","}.items():
        text = text.replace(sign, command)
    return text


def values(text: str):
    """Splits an answer into its brackets and their content, without a name before an equals sign."""
    text = re.split(r"=|\\in(?![a-z])", bare(text))[-1].strip()
    wraps = len(text) > 1 and text[0] in OPEN and text[-1] in CLOSE and items(text[1:-1])[0] != text[1:-1]
    kind = text[0] + text[-1] if wraps else ""
    return kind, [parse_latex(item) for item in items(text[1:-1] if wraps else text)]


def same(left, right) -> bool:
    names = sorted(left.free_symbols | right.free_symbols, key=str)
    at = {name: sympy.Float(PLACES[i % 5] + i // 5) for i, name in enumerate(names)}
    gap = sympy.N((left - right).subs(at), 30)
    return bool(abs(gap) < 1e-9 * (1 + abs(sympy.N(left.subs(at)))))


def verdict(gold: str, answer: str) -> str:
    if plain(gold) == plain(answer):
        return "equal"
    try:
        (kind, left), (other, right) = values(gold), values(answer)
        if len(left) != len(right):
            return "different"
        # A tuple has an order. Items without brackets may have any.
        free = list(range(len(right)))
        for i, one in enumerate(left):
            places = [i] if kind and kind != "{}" and kind == other else free
            place = next((j for j in places if j in free and same(one, right[j])), None)
            if place is None:
                return "different"
            free.remove(place)
        return "equal"
    except (
        LaTeXParsingError,
        ArithmeticError,
        AttributeError,
        IndexError,
        TypeError,
        ValueError,
    ):
        return "unread"


def main() -> None:
    pairs = json.load(sys.stdin)
    json.dump(
        [{**pair, "verdict": verdict(pair["gold"], pair["answer"])} for pair in pairs],
        sys.stdout,
    )


if __name__ == "__main__":
    main()
