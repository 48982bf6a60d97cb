"""Answers to the 15 tasks, one string at a time and without a thought to speed.

Each function takes the input as a text, and returns the answer as a text, from the definition of
the task in the paper. Texts use the symbols of the tasks.
"""

import math
import re


def even_pairs(text: str) -> str:
    pairs = sum(text[i : i + 2] in ("01", "10") for i in range(len(text)))
    return str(pairs % 2)


def parity_check(text: str) -> str:
    return str(text.count("1") % 2)


def cycle_navigation(text: str) -> str:
    return str((text.count(">") - text.count("<")) % 5)


def modular_arithmetic(text: str) -> str:
    assert re.fullmatch(r"[0-4]([-+*][0-4])*", text)
    return str(eval(text) % 5)


def modular_arithmetic_brackets(text: str) -> str:
    return str(eval(text) % 5)


def solve_equation(text: str) -> str:
    if len(text) < 3:
        assert set(text) == {"0"}
        return "0"
    left, right = text.split("=")
    (solution,) = (x for x in "01234" if eval(left.replace("x", x)) % 5 == int(right))
    return solution


def stack_manipulation(text: str) -> str:
    stack: list[str] = []
    for symbol in text:
        if symbol == "v":
            stack = stack[:-1]
        else:
            stack.append({"a": "0", "b": "1"}.get(symbol, symbol))
    return "".join(reversed(stack)) + "."


def reverse_string(text: str) -> str:
    return text[::-1]


def duplicate_string(text: str) -> str:
    return text + text


def missing_duplicate(text: str) -> str:
    if text == "1":
        return "1"
    text = text.removesuffix(".")
    half = len(text) // 2
    place = text.index("_")
    left, right = text[:half], text[half:]
    answer = text[(place + half) % len(text)]
    assert left.replace("_", answer) == right.replace("_", answer)
    return answer


def odds_first(text: str) -> str:
    return text[1::2] + text[::2]


def bucket_sort(text: str) -> str:
    return "".join(sorted(text))


def number(text: str) -> int:
    """The number with these digits, lowest first."""
    return int(text[::-1], 2)


def binary_addition(text: str) -> str:
    return f"{sum(map(number, text.split('+'))):b}"[::-1] + "."


def binary_multiplication(text: str) -> str:
    if len(text) <= 2:
        return "0" * (len(text) - 1) + "."
    return f"{math.prod(map(number, text.split('*'))):b}"[::-1] + "."


def compute_sqrt(text: str) -> str:
    return f"{math.isqrt(int(text, 2)):0{math.ceil(len(text) / 2)}b}"
