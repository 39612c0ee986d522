"""Takes a workload; returns an error for each of its parameters that nothing uses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from assay.errors import ExperimentError
from assay.registry import WORKLOAD_FILE, row_source
from assay.text.files import toml_file
from assay.workload.values import Workload

_VARIABLE = re.compile(r":\{?([A-Za-z_]\w*)")
_ONLY_SHOW = ("parameters", "report", "series")
"""Tables of the workload file in which a parameter is declared or shown, and not used."""


def unused_parameters(workload: Workload) -> Iterator[ExperimentError]:
    """None where rows come from a source that does not say which parameters it reads, and where
    script files are run in place of those that would use them."""
    read = row_source(workload.data_source).reads_parameters
    if read is None or workload.is_ad_hoc or workload.given_scripts:
        return
    top = toml_file.read(workload.folder / WORKLOAD_FILE)
    used = {*read}
    for name, value in top.plain().items():
        if name not in _ONLY_SHOW:
            used |= _words(value)
    from assay.workload.expected_answers import EXPECTED_FILE

    for path, text in workload.texts.items():
        if path not in (WORKLOAD_FILE, EXPECTED_FILE):
            used |= set(_VARIABLE.findall(text))
    own = top.section("parameters").names()
    for name, parameter in workload.parameters.items():
        if name in own and name not in used and not parameter.needs:
            yield top.section("parameters").error(
                f"nothing uses the parameter {name}",
                name,
                hint=f":{name} in a script or an expression, or leave it out",
            )


def _words(value: Any) -> set[str]:
    """The variables in all texts below, and the texts themselves, as keys name parameters."""
    if isinstance(value, str):
        return {value, *_VARIABLE.findall(value)}
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return {word for one in inner for word in _words(one)}
