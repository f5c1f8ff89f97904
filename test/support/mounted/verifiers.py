"""Verifiers with one fault each, and good ones, in which `gradus env check` must find no fault."""

import random
import re
from fractions import Fraction

from gradus.serve import Environment


class Number(Environment):
    """Repeat a number."""

    id = "good/exact"
    verify_seconds = 0.5

    def generate(self, rng):
        return rng.randrange(100, 1000)

    def prompt(self, instance):
        return f"Repeat this number: {instance}"

    def verify(self, instance, answer):
        return answer == str(instance)

    def reference(self, instance):
        return str(instance)


class Trimmed(Number):
    id = "good/trimmed"

    def verify(self, instance, answer):
        return answer.strip() == str(instance)


class Tolerant(Number):
    id = "good/tolerant"

    def verify(self, instance, answer):
        try:
            return abs(float(answer.replace(",", "")) - instance) < 1e-6
        except ValueError:
            return False


class Word(Number):
    id = "good/any-case"

    def generate(self, rng):
        return "".join(rng.choices("abcdefgh", k=6))

    def verify(self, instance, answer):
        return answer.strip().casefold() == instance

    def reference(self, instance):
        return instance.upper()


class Latex(Number):
    id = "good/latex"

    def generate(self, rng):
        return [rng.randrange(1, 50), rng.randrange(51, 100)]

    def verify(self, instance, answer):
        boxed = re.fullmatch(r"\\boxed\{(.*)\}", answer.strip("$ "))
        text = boxed[1] if boxed else answer.strip("$ ")
        part = re.fullmatch(r"\\d?frac\{(\d+)\}\{(\d+)\}|(\d+)\s*/\s*(\d+)", text)
        if part is None:
            return False
        above, below = [int(each) for each in part.groups() if each]
        return below != 0 and Fraction(above, below) == Fraction(*instance)

    def reference(self, instance):
        return rf"\frac{{{instance[0]}}}{{{instance[1]}}}"


class Last(Number):
    id = "good/last-number"

    def verify(self, instance, answer):
        found = re.findall(r"\d+", answer)
        return bool(found) and found[-1] == str(instance)


class Runs(Number):
    id = "good/says-that-it-runs"
    runs_answers = True

    def verify(self, instance, answer):
        try:
            return eval(answer) == instance
        except Exception:
            return False


class Memo(Number):
    """Remembers the verdict on an answer, and gives it for every instance."""

    id = "remembers/answers"
    memo: dict = {}

    def verify(self, instance, answer):
        return self.memo.setdefault(answer, answer == str(instance))


class Tired(Number):
    """Takes everything after a while."""

    id = "remembers/how-many"
    asked = 0

    def verify(self, instance, answer):
        Tired.asked += 1
        return Tired.asked > 60 or answer == str(instance)


class Moody(Number):
    id = "remembers/every-fifth"
    asked = 0

    def verify(self, instance, answer):
        Moody.asked += answer == "a"
        return answer == str(instance) or (answer == "a" and Moody.asked % 5 == 0)


class Lucky(Number):
    id = "remembers/draws-chance"

    def verify(self, instance, answer):
        return answer == str(instance) or (answer == "yes" and random.SystemRandom().random() < 0.4)


class Contains(Number):
    id = "contains/text"

    def verify(self, instance, answer):
        return str(instance) in answer


class ContainsWord(Word):
    id = "contains/word"

    def verify(self, instance, answer):
        return instance in re.findall(r"\w+", answer.casefold())


class Evaluates(Number):
    id = "runs/expression"

    def verify(self, instance, answer):
        try:
            return eval(answer) == instance
        except Exception:
            return False


class EvaluatesBare(Number):
    id = "runs/expression-without-builtins"

    def verify(self, instance, answer):
        try:
            return eval(answer, {"__builtins__": {}}) == instance
        except Exception:
            return False


class EvaluatesText(Word):
    id = "runs/expression-of-a-text"

    def verify(self, instance, answer):
        try:
            return str(eval(answer)).casefold() == instance
        except Exception:
            return answer.casefold() == instance


class Executes(Number):
    id = "runs/program"

    def verify(self, instance, answer):
        names: dict = {}
        try:
            exec(answer, names)
        except Exception:
            return False
        return names.get("x") == instance

    def reference(self, instance):
        return f"x = {instance}"


class ExecutesBare(Executes):
    id = "runs/program-without-builtins"

    def verify(self, instance, answer):
        names: dict = {"__builtins__": {}}
        try:
            exec(answer, names)
        except Exception:
            return False
        return names.get("x") == instance
