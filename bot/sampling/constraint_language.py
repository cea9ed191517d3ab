"""The language of constraints: reads sentences over options into clauses for a solver."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from lark import Lark, Token, Transformer, v_args
from lark.exceptions import UnexpectedCharacters, UnexpectedEOF, UnexpectedInput, UnexpectedToken

from bot.model.errors import ConstraintError
from bot.model.space import Option, Space, Value, value_text

MAX_LENGTH = 10_000  # characters of one constraint; people write fewer than 200

# Loosest first: iff, implies (to the right), or, xor, and, not. A keyword ends where a name could not go on.
GRAMMAR = r"""
?start: iff
?iff: implication | iff _IFF implication
?implication: disjunction | disjunction _IMPLIES implication -> implies
?disjunction: exclusive | exclusive (_OR exclusive)+ -> either
?exclusive: conjunction | exclusive _XOR conjunction -> xor
?conjunction: negation | negation (_AND negation)+ -> both
?negation: atom | _NOT negation -> negate
?atom: "(" iff ")" | NAME COMPARISON VALUE -> compare | NAME -> switch
_IFF.2: /iff(?![\w.-])/
_IMPLIES.2: /implies(?![\w.-])/
_OR.2: /or(?![\w.-])/
_XOR.2: /xor(?![\w.-])/
_AND.2: /and(?![\w.-])/
_NOT.2: /not(?![\w.-])|!/
COMPARISON: "!=" | ">=" | "<=" | "==" | "=" | "<" | ">"
NAME: /[A-Za-z_][A-Za-z0-9_.-]*/
VALUE: /[A-Za-z0-9_.:\/@%+-]+/
%ignore /[ \t\r\n]+/
"""
_WORDS = {
    "_IFF": '"iff"',
    "_IMPLIES": '"implies"',
    "_OR": '"or"',
    "_XOR": '"xor"',
    "_AND": '"and"',
    "_NOT": '"not"',
    "COMPARISON": "= != < <= > >=",
    "NAME": "an option",
    "VALUE": "a value",
    "LPAR": '"("',
    "RPAR": '")"',
    "$END": "the end",
}


class Encoding:
    """Boolean variables of a space: one per flag, one per value of a choice or number.

    `literals[i][value]` is the literal that is true when option i has the value; `variables` counts them all.
    `clauses` grows with what is compiled; auxiliary variables are functions of the options, so every valid
    configuration has exactly one model (Tseitin, On the Complexity of Derivation in Propositional Calculus,
    1968).
    """

    def __init__(self, space: Space) -> None:
        self.space = space
        self.clauses: list[list[int]] = []
        self.literals: list[Mapping[Value, int]] = []
        self.variables = 0
        for option in space.options:
            if option.kind == "flag":
                variable = self.new()
                self.literals.append({False: -variable, True: variable})
                self.clauses.append([variable, -variable])  # makes the solver know it, constrained or not
            else:
                self.literals.append({value: self.new() for value in option.values})
                group = list(self.literals[-1].values())
                self.clauses.append(group)
                self.clauses += [[-a, -b] for i, a in enumerate(group) for b in group[:i]]

    def new(self) -> int:
        """A fresh variable."""
        self.variables += 1
        return self.variables

    def any_of(self, literals: Sequence[int]) -> int:
        """A literal that is true exactly when one of the literals is (none: false)."""
        if len(literals) == 1:
            return literals[0]
        result = self.new()
        self.clauses.append([-result, *literals])
        self.clauses += [[result, -literal] for literal in literals]
        return result


class Compiler:
    """Compiles sentences into an encoding."""

    def __init__(self, encoding: Encoding) -> None:
        self._actions = _Actions(encoding)

    def compile_all(self, sentences: Sequence[str]) -> list[tuple[int, frozenset[int]]]:
        """For each sentence the literal that is true when it holds, and the places of the options it names.

        Raises:
            ConstraintError: a sentence cannot be read; one line with the column and what was expected.
        """
        if not sentences:
            return []
        # The actions run while parsing: no tree, hence no recursion however deep the parentheses.
        parser = Lark(GRAMMAR, parser="lalr", transformer=self._actions)
        return [self._compile(parser, text, place) for place, text in enumerate(sentences)]

    def _compile(self, parser: Lark, text: str, place: int) -> tuple[int, frozenset[int]]:
        self._actions.used = set()
        shown = text if len(text) <= 200 else text[:200] + "..."
        try:
            if len(text) > MAX_LENGTH:
                raise _ReadError(f"it has {len(text)} characters; at most {MAX_LENGTH} are read")
            literal: int = parser.parse(text)  # type: ignore[assignment]  # actions give literals
        except UnexpectedInput as error:
            raise ConstraintError(f'"{shown}": {_explain(error, text)}', (place,)) from None
        except _ReadError as error:
            raise ConstraintError(f'"{shown}": {error}', (place,)) from None
        return literal, frozenset(self._actions.used)


class _ReadError(Exception):
    """What is wrong inside a sentence."""


def _explain(error: UnexpectedInput, text: str) -> str:
    match error:
        case UnexpectedToken():
            names = error.accepts or error.expected
            found = "ends too early" if error.token.type == "$END" else f'"{error.token}" is not understood'
        case UnexpectedCharacters():
            names, found = error.allowed or set(), f'"{text[error.pos_in_stream or 0]}" is not understood'
        case _:
            names, found = set(), "is not understood"
    place = "" if isinstance(error, UnexpectedEOF) or "early" in found else f" at column {error.column}"
    expected = ", ".join(_WORDS[name] for name in _WORDS if name in names)
    return f"{found}{place}; expected: {expected}"


@v_args(inline=True)
class _Actions(Transformer[Token, int]):
    """Grammar rules as operations on literals."""

    def __init__(self, encoding: Encoding) -> None:
        super().__init__()
        self._encoding = encoding
        self.used: set[int] = set()

    def iff(self, first: int, second: int) -> int:
        return -self.xor(first, second)

    def implies(self, first: int, second: int) -> int:
        return self.either(-first, second)

    def either(self, *literals: int) -> int:
        return self._encoding.any_of(literals)

    def both(self, *literals: int) -> int:
        return -self._encoding.any_of([-literal for literal in literals])

    def xor(self, first: int, second: int) -> int:
        return self.either(self.both(first, -second), self.both(-first, second))

    def negate(self, literal: int) -> int:
        return -literal

    def switch(self, name: Token) -> int:
        option, literals = self._option(name)
        if option.kind != "flag":
            example = f"{option.name}={value_text(option.values[0])}"
            raise _ReadError(f"{option.name} is a {option.kind}; compare it with a value, such as {example}")
        return literals[True]

    def compare(self, name: Token, comparison: Token, text: Token) -> int:
        option, literals = self._option(name)
        operator = "=" if comparison == "==" else str(comparison)
        if operator not in ("=", "!="):
            bound = _number(option, operator, text)
            return self._encoding.any_of([lit for v, lit in literals.items() if _holds(v, operator, bound)])
        by_text = {value_text(value): lit for value, lit in literals.items()}
        if option.kind == "number":
            by_text |= {value_text(v): lit for v, lit in literals.items() if _same_number(v, text)}
        key = next((value_text(v) for v in literals if _same_number(v, text)), str(text))
        if key not in by_text:
            raise _ReadError(f"{text} is no value of {option.name}; {_meant(text, list(by_text))}")
        return by_text[key] if operator == "=" else -by_text[key]

    def _option(self, name: Token) -> tuple[Option, Mapping[Value, int]]:
        space = self._encoding.space
        if name not in space.index:
            raise _ReadError(f"there is no option {name}; {_meant(name, space.names)}")
        index = space.index[name]
        self.used.add(index)
        return space.options[index], self._encoding.literals[index]


def _same_number(value: Value, text: str) -> bool:
    if isinstance(value, (bool, str)):
        return False
    try:
        return float(text) == value
    except ValueError:
        return False


def _number(option: Option, operator: str, text: str) -> float:
    if option.kind != "number":
        raise _ReadError(
            f"{option.name} is a {option.kind}, which has no order: {operator} goes with numbers only"
        )
    try:
        return float(text)
    except ValueError:
        raise _ReadError(f"{text} is no number, but {option.name} is one") from None


def _holds(value: Any, operator: str, bound: float) -> bool:
    if operator.startswith(">"):
        return bool(value >= bound if operator == ">=" else value > bound)
    return bool(value <= bound if operator == "<=" else value < bound)


def _meant(word: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    shown = ", ".join(known[:12]) + (", ..." if len(known) > 12 else "")
    return (f"did you mean {close[0]}? " if close else "") + f"allowed: {shown}"
