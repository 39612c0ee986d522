"""Takes an experiment and its workload as it was read; returns the experiment with the digests of
its script files, and of a workload that is named by a path: what they hold, wherever they lie.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace

from assay import registry
from assay.contracts.experiment import OF_SCRIPTS, Experiment, OfTest, ScriptFile
from assay.text.files import text_file
from assay.workload.ad_hoc_script import GIVEN, name_of
from assay.workload.values import Workload


def with_contents(experiment: Experiment, workload: Workload) -> Experiment:
    """The text of each script as it was read, and the texts of the workload's folder without
    them."""

    def known(files: Iterable[ScriptFile]) -> tuple[ScriptFile, ...]:
        return tuple(
            replace(file, content=text_file.digest(workload.scripts[name_of(file.path)].text))
            for file in files
        )

    of_tests: dict[str, OfTest] = {}
    for test, given in experiment.of_tests.items():
        of_tests[test] = OfTest(given)
        if "scripts" in given:
            of_tests[test]["scripts"] = known(given["scripts"])
    return replace(
        experiment,
        scripts=known(experiment.scripts),
        of_tests=of_tests,
        workload_content=_of_workload(experiment, workload),
    )


def _of_workload(experiment: Experiment, workload: Workload) -> str:
    if experiment.is_ad_hoc:
        return OF_SCRIPTS
    if experiment.workload in registry.workloads():
        return ""
    return content_of(workload)


def content_of(workload: Workload) -> str:
    """Digest of the texts of its folder, without scripts that were given in place of its own."""
    own = {path: text for path, text in workload.texts.items() if not path.startswith(GIVEN)}
    return text_file.digest(json.dumps(own, sort_keys=True))
