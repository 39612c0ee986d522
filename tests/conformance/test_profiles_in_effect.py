"""Every profile starts its system, each of its settings is then in effect, and its commits have the
durability that it promises."""

from __future__ import annotations

from dataclasses import replace

import pytest

from assay import registry
from assay.contracts.experiment import StorageChoice
from assay.contracts.systems.abilities import HasProfiles, Profile
from assay.experiment import SystemChoice
from assay.experiment.profiles import applied
from assay.judge.settings import mean_the_same
from assay.probe.durability import stage as durability
from assay.provision.running import running_system
from assay.storages.loop import LOOP
from commands import need

pytestmark = [pytest.mark.server, pytest.mark.timeout(300)]

PROFILES = [
    (name, profile)
    for name, system in registry.usable_systems()
    if isinstance(system, HasProfiles)
    for profile in system.profiles()
]
PROMISING = [
    (name, profile)
    for name, system in registry.usable_systems()
    if isinstance(system, HasProfiles)
    for profile in system.profiles().values()
    if profile.durability
]


@pytest.mark.parametrize(("name", "profile"), PROFILES)
def test_its_settings_are_in_effect(name: str, profile: str) -> None:
    need(name)
    choice = applied(SystemChoice(name), profile)
    if "buffer" in choice.options:
        choice = replace(choice, options={**choice.options, "buffer": "64MB"})
    in_memory = StorageChoice("tmpfs", kind="tmpfs")
    with running_system(choice, in_memory, connections=2) as running:
        deployment = running.deployment
    other = {
        setting: (asked, deployment.settings.get(setting))
        for setting, asked in deployment.settings_asked.items()
        if setting not in deployment.settings_confirmed
        and not mean_the_same(str(asked), str(deployment.settings.get(setting)))
    }
    assert deployment.settings_asked
    assert other == {}


@pytest.mark.skipif(LOOP.why_unavailable() is not None, reason="needs root and loop devices")
@pytest.mark.parametrize(("name", "profile"), PROMISING)
def test_its_commits_have_the_class_that_it_promises(name: str, profile: Profile) -> None:
    need(name)
    choice = applied(SystemChoice(name), profile.name)
    disk = StorageChoice("disk", kind="loop", options={"size": "1G"})
    with running_system(choice, disk, connections=2) as running:
        measured = durability.measure(running.deployment, running.system)
        assert running.deployment.durability_promised == profile.durability
    assert measured.durability_class == profile.durability, measured.described
