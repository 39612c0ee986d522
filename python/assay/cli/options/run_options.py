"""The options that `assay run` and `assay plan` share: a command line stays valid when the one word
is changed into the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from assay.cli.options.experiment_options import experiment_options
from assay.cli.options.loading_options import loading_options
from assay.cli.options.probing_options import probing_options
from assay.cli.options.shared_options import new_option

_GROUPS = (
    experiment_options,
    new_option,
    loading_options,
    probing_options,
)


def run_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The command gets ``words``, ``is_new``, ``loading`` and ``first_use``."""
    decorated = function
    for group in reversed(_GROUPS):
        decorated = group(decorated)
    return decorated
