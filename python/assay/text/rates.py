"""Takes an offered rate as plans and records have it, one number or a profile in time; says how
many transactions it makes due.

A profile is the steps of a measurement: ``0s:200,60s:800,90s:200`` offers 200 transactions per
second for a minute, 800 for half of one, then 200 to the end. ``60s:200..800,90s:800`` rises evenly
from 200 to 800 in between. The ramp-up and the warm-up have the first rate.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from math import inf
from typing import NamedTuple

from assay.text import pattern

Rate = float | str
"""Transactions per second, or a profile as `profile` spells it. Any other text is the name of a
parameter, until `assay.plan` inserts its value."""
_STEP = pattern(r"\s*(?P<time>[^:]*):(?P<rate>[^:]*)")
_RAMP = ".."


class ProfileStep(NamedTuple):
    from_s: float
    per_s: float
    to_per_s: float
    """At the next step: as `per_s`, where the rate is even."""


def is_profile(rate: object) -> bool:
    return isinstance(rate, str) and ":" in rate


def profile(word: str, seconds: Callable[[str], float], per_second: Callable[[str], float]) -> Rate:
    """The profile in its one spelling, a number where it is even. Raises `ValueError` saying what
    was expected and found; ``seconds`` and ``per_second`` read a time and a rate."""
    steps = [_step(one, seconds, per_second) for one in word.split(",")]
    if steps[0].from_s != 0:
        raise ValueError(f"expected a profile that begins at 0s, found {word!r}")
    for before, after in pairwise(steps):
        if before.from_s >= after.from_s:
            raise ValueError(
                f"expected steps in the order of time, found {_seconds(after.from_s)} behind "
                f"{_seconds(before.from_s)}"
            )
    last = steps[-1]
    if last.to_per_s != last.per_s:
        raise ValueError(
            f"expected a step at which the ramp {last.per_s:.15g}{_RAMP}{last.to_per_s:.15g} ends, "
            f"found none behind {_seconds(last.from_s)}"
        )
    if not any(step.per_s or step.to_per_s for step in steps):
        raise ValueError(f"expected a rate above 0, found {word!r}")
    steps = _joined(steps)
    if len(steps) == 1:
        return steps[0].per_s
    return ",".join(f"{_seconds(step.from_s)}:{_spelled(step)}" for step in steps)


def _step(
    word: str, seconds: Callable[[str], float], per_second: Callable[[str], float]
) -> ProfileStep:
    found = _STEP.fullmatch(word)
    if found is None:
        raise ValueError(f"expected TIME:RATE, found {word!r}")
    time, rate = found["time"].strip(), found["rate"].strip()
    first, dots, last = rate.partition(_RAMP)
    from_s = seconds(time)
    try:
        per_s = per_second(first)
        return ProfileStep(from_s, per_s, per_second(last) if dots else per_s)
    except ValueError as error:
        raise ValueError(f"{error}; a ramp is written FIRST{_RAMP}LAST, as in 200..800") from None


def _joined(steps: Sequence[ProfileStep]) -> list[ProfileStep]:
    """Without steps that change nothing: the rate goes on as it went."""
    joined = [steps[0]]
    for place, step in enumerate(steps[1:], 1):
        before = joined[-1]
        is_even = before.per_s == before.to_per_s == step.per_s == step.to_per_s
        end_s = steps[place + 1].from_s if place + 1 < len(steps) else inf
        length_s, more_s = step.from_s - before.from_s, end_s - step.from_s
        is_one_ramp = (
            before.to_per_s == step.per_s != step.to_per_s
            and (before.to_per_s - before.per_s) * more_s == (step.to_per_s - step.per_s) * length_s
        )
        if is_one_ramp:
            joined[-1] = before._replace(to_per_s=step.to_per_s)
        elif not is_even:
            joined.append(step)
    return joined


def _seconds(time_s: float) -> str:
    return f"{time_s:.12g}s"


def _spelled(step: ProfileStep) -> str:
    ramp = "" if step.per_s == step.to_per_s else f"{_RAMP}{step.to_per_s:.15g}"
    return f"{step.per_s:.15g}{ramp}"


def split(words: str) -> list[str]:
    """``500,0s:200,60s:800,1000`` is three rates: a profile begins at 0, and has its commas."""
    rates: list[str] = []
    for word in words.split(","):
        is_further = ":" in word and not re.match(r"\s*0+(\.0*)?\s*[a-zµμ]*\s*:", word)
        if is_further and rates and is_profile(rates[-1]):
            rates[-1] += f",{word}"
        else:
            rates.append(word)
    return rates


@lru_cache
def steps(rate: Rate) -> tuple[ProfileStep, ...]:
    """In the order of time; an even rate is one."""
    if not is_profile(rate):
        return (ProfileStep(0.0, float(rate), float(rate)),)
    return tuple(
        _step(word, lambda time: float(time.removesuffix("s")), float)
        for word in str(rate).split(",")
    )


def due(rate: Rate, seconds: float) -> float:
    """How many transactions are due, on average, in the first ``seconds`` of a measurement."""
    if not is_profile(rate):
        return float(rate) * seconds
    number = 0.0
    known = steps(rate)
    for place, step in enumerate(known):
        next_s = known[place + 1].from_s if place + 1 < len(known) else inf
        passed_s = min(seconds, next_s) - step.from_s
        if passed_s <= 0:
            break
        change = 0.0 if next_s == inf else (step.to_per_s - step.per_s) / (next_s - step.from_s)
        number += step.per_s * passed_s + change * passed_s**2 / 2
    return number


def due_in_seconds(rate: Rate, seconds: int) -> list[float]:
    """How many in each of the first seconds."""
    return [due(rate, second + 1) - due(rate, second) for second in range(seconds)]


def last_change_s(rate: Rate) -> float:
    """When it changes for the last time; 0: never."""
    return steps(rate)[-1].from_s


def ends_in_a_ramp(rate: Rate) -> bool:
    """Whether the last step is where a ramp ends."""
    return any(step.per_s != step.to_per_s for step in steps(rate)[-2:])


def mean_per_s(rate: Rate, seconds: float) -> float:
    """Over the first ``seconds`` of a measurement; 0 seconds: up to the last change. A rate of 0 at
    the end ends the measurement."""
    if not is_profile(rate):
        return float(rate)
    over_s = seconds or last_change_s(rate)
    if steps(rate)[-1].per_s == 0:
        over_s = min(over_s, last_change_s(rate))
    return float(f"{due(rate, over_s) / over_s:.6g}")


def example(words: Sequence[str]) -> str:
    """Rates of the same form as these words, for a hint."""
    return "0s:200,60s:800,90s:200" if any(map(is_profile, words)) else "1000,2000"


def shown(rate: Rate) -> str:
    """As it is written where it is asked for: ``800`` also where a rate is kept as 800.0."""
    return rate if isinstance(rate, str) else f"{rate:.15g}"
