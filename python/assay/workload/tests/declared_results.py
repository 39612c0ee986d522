"""Takes the keys ``headline`` and ``response_limits`` of a test; returns the rate by which it is
known, and how long its transactions may take.

    headline = { title = "new orders", transactions = ["new-order"] }
    response_limits = { new-order = "p90 < 5s", stock-level = "p90 < 20s" }
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec.structs import replace

from assay.contracts.observation import PERCENTILES, Headline, ResponseLimit
from assay.text import quantities
from assay.text.files.toml_file import TomlTable
from assay.text.nearest import did_you_mean
from assay.workload.scripts import script_names
from assay.workload.values import Script, Test

_LIMIT = re.compile(r"\s*(?P<percentile>p[0-9.]+)\s*<\s*(?P<limit>[^=\s].*\D)")
_LIMIT_S = replace(quantities.LATENCY_LIMIT_S, may_be_none=False)
_FORM = 'new-order = "p90 < 5s"; percentiles: ' + ", ".join(PERCENTILES)


def headline(section: TomlTable, scripts: Mapping[str, Script]) -> Headline | None:
    """None where the test declares none."""
    if "headline" not in section:
        return None
    own = section.section("headline")
    title, words = own.text("title"), own.texts("transactions")
    own.done()
    return Headline(title, script_names.named(own, "transactions", words, scripts))


def response_limits(section: TomlTable, scripts: Mapping[str, Script]) -> tuple[ResponseLimit, ...]:
    own = section.section("response_limits")
    return tuple(
        ResponseLimit(name, *_limit(own, word))
        for word in own.names()
        for name in script_names.named(own, word, [word], scripts)
    )


def refuse_others(section: TomlTable, test: Test) -> None:
    """Raises `ExperimentError` where a transaction type is named that the test does not run."""
    named = {
        "headline": test.headline.transactions if test.headline else (),
        "response_limits": [limit.transaction for limit in test.response_limits],
    }
    for key, names in named.items():
        for name in names:
            if name not in test.named_scripts:
                hint = did_you_mean(name, test.named_scripts)
                raise section.error(f"the test does not run {name!r}", key, hint=hint)


def _limit(section: TomlTable, key: str) -> tuple[str, int]:
    """``p90 < 5s``."""
    words = section.text(key)
    found = _LIMIT.fullmatch(words)
    if found is None or found["percentile"] not in PERCENTILES:
        raise section.error(
            f"expected a percentile, < and a duration with its unit, found {words!r}",
            key,
            hint=_FORM,
        )
    try:
        limit_s = _LIMIT_S.of_word(found["limit"])
    except ValueError as error:
        raise section.error(str(error), key, hint=_FORM) from None
    return found["percentile"], round(limit_s * 1e9)
