"""Takes a deployment; returns in words what lowers the durability of its commits: settings that the
system names, and the class that was measured.

A setting counts whatever was measured: a class is an upper bound, and a setting may lose more than
the flushes of a device show (torn pages, a log that is taken back). A class below D3 counts
whatever the settings are: the storage may pass no flushes on.
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.provision.deployment_facts import DeploymentFacts

HIGHEST = "D3"


def lowered(deployment: DeploymentFacts) -> Iterator[str]:
    """Each cause; nothing where commits are flushed before they are answered, as far as is
    known."""
    found = deployment.durability
    measured = f"; measured {found.described}" if found and found.durability_class else ""
    for setting in deployment.durability_lowered_by:
        instead = deployment.durable_instead.get(setting, "its default")
        yield f"{setting}; durable: {instead}{measured}"
    is_lower = found is not None and found.durability_class not in (None, HIGHEST)
    if is_lower and not deployment.durability_lowered_by:
        yield f"on {deployment.storage.name}{measured}, and no setting that explains it is known"


def level(deployment: DeploymentFacts) -> str | None:
    """By which numbers are compared; None: not measured. Of the highest class, systems with
    settings that may lose more than its flushes show are told from those without."""
    found = deployment.durability
    if found is None or found.durability_class is None:
        return None
    if found.durability_class == HIGHEST and deployment.durability_lowered_by:
        return f"{HIGHEST}, lowered by settings"
    return found.durability_class


def fix(deployment: DeploymentFacts) -> str:
    """What to set so that its commits are of the highest class; empty: not known."""
    return ", ".join(
        deployment.durable_instead.get(setting, f"{setting.partition(' = ')[0]} at its default")
        for setting in deployment.durability_lowered_by
    )
