"""Takes a text and a random stream; returns the text with random mistakes."""

from __future__ import annotations

import re
from random import Random

from proofs._values import NUMBERS, TEXTS

_NUMBER = re.compile(r"(?<![\w.])-?\d+(\.\d+)?(?![\w.])")
_QUOTED = re.compile(r'"[^"\n]*"|\'[^\'\n]*\'')
_WORD = re.compile(r"[A-Za-z_][\w-]*")
_SIGNS = "\"'[]{}()=,.:;#\\-+*/<>|&^%$@!?`~ \t\n\r\x00\x1b\u202e\ufeff\U0001f4a5"


def mutated(text: str, random: Random) -> bytes:
    """Changed in one place or a few; sometimes unchanged."""
    for _ in range(random.choice((1, 1, 1, 2, 3, 6))):
        text = random.choice(_WAYS)(text, random)
    content = text.encode("utf-8", "surrogateescape")
    if random.random() < 0.05 and content:
        at = random.randrange(len(content))
        content = content[:at] + bytes([random.randrange(256)]) + content[at + 1 :]
    return content


def _replace_one(pattern: re.Pattern[str], text: str, new: str, random: Random) -> str:
    found = list(pattern.finditer(text))
    if not found:
        return text + new
    one = random.choice(found)
    return text[: one.start()] + new + text[one.end() :]


def _number(text: str, random: Random) -> str:
    return _replace_one(_NUMBER, text, random.choice(NUMBERS), random)


def _quoted(text: str, random: Random) -> str:
    quote = random.choice("\"'")
    return _replace_one(_QUOTED, text, f"{quote}{random.choice(TEXTS + NUMBERS)}{quote}", random)


def _other_type(text: str, random: Random) -> str:
    new = random.choice(("[]", "{}", "true", "nan", "1", '"x"', "[[]]", "{a = 1}", "1979-05-27"))
    return _replace_one(random.choice((_NUMBER, _QUOTED)), text, new, random)


def _word(text: str, random: Random) -> str:
    words = _WORD.findall(text) or ["x"]
    return _replace_one(_WORD, text, random.choice([*words, *TEXTS]), random)


def _sign(text: str, random: Random) -> str:
    at = random.randrange(len(text) + 1)
    return text[:at] + random.choice(_SIGNS) + text[at + random.choice((0, 1)) :]


def _line_gone(text: str, random: Random) -> str:
    lines = text.splitlines(keepends=True)
    if lines:
        del lines[random.randrange(len(lines))]
    return "".join(lines)


def _line_twice(text: str, random: Random) -> str:
    lines = text.splitlines(keepends=True) or [""]
    line = random.choice(lines)
    lines.insert(random.randrange(len(lines) + 1), line * random.choice((1, 1, 1, 200)))
    return "".join(lines)


def _cut(text: str, random: Random) -> str:
    at = random.randrange(len(text) + 1)
    return random.choice((text[:at], text[at:]))


def _deep(text: str, random: Random) -> str:
    at = random.randrange(len(text) + 1)
    opened, closed = random.choice(("[]", "()", "{}", '""'))
    depth = random.choice((10, 500, 20_000))
    return text[:at] + opened * depth + closed * depth + text[at:]


def _long(text: str, random: Random) -> str:
    at = random.randrange(len(text) + 1)
    return text[:at] + random.choice(_SIGNS + "x1") * random.choice((1000, 100_000)) + text[at:]


_WAYS = (
    _number, _number, _number, _quoted, _quoted, _other_type, _other_type, _word, _word, _word,
    _sign, _sign, _sign, _line_gone, _line_gone, _line_twice, _cut, _deep, _long,
)  # fmt: skip
