"""Every profile starts its system, each of its settings is then in effect, and its commits have the
durability that it promises."""

from __future__ import annotations

from dataclasses import replace

import pytest

from assay import registry
from assay.contracts.experiment import StorageChoice
from assay.contracts.systems.abilities import HasProfiles, Profile
from assay.env_vars import NEW_DATA
from assay.experiment import SystemChoice
from assay.experiment.choices.profiles import applied
from assay.judge.warnings.run_warnings import mean_the_same
from assay.probe.durability import measure as durability
from assay.probe.durability import watching
from assay.provision.running_system import running_system
from assay.storages.loop import LOOP
from commands import need

pytestmark = pytest.mark.flushes

PROFILES = [
    (name, profile)
    for name, system in registry.usable_systems()
    if isinstance(system, HasProfiles)
    for profile in system.profiles().values()
]

_POLL_S = 0.01
"""In place of a millisecond: the class is asked for, and not the delay of a flush."""
_TRIES = 3
"""A server's own checkpoint, every half a minute, may flush what commits left while they are
followed; on a busy machine they are followed for so long."""


@pytest.mark.parametrize(("name", "profile"), PROFILES, ids=lambda one: getattr(one, "name", one))
def test_its_settings_are_in_effect_and_its_commits_have_the_promised_class(
    name: str, profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The class is measured where this machine has a device for it; on data that the server made
    itself: on a copy, MySQL has flushed some seconds after a commit that nothing was to flush."""
    need(name)
    choice = applied(SystemChoice(name), profile.name)
    if "buffer" in choice.options:
        choice = replace(choice, options={**choice.options, "buffer": "64MB"})
    is_measured = bool(profile.durability) and LOOP.why_unavailable() is None
    storage = StorageChoice("tmpfs", kind="tmpfs")
    if is_measured:
        storage = StorageChoice("disk", kind="loop", options={"size": "600M"})
        monkeypatch.delenv(NEW_DATA.name, raising=False)
        monkeypatch.setattr(watching, "_POLL_S", _POLL_S)
    with running_system(choice, storage, connections=2) as running:
        deployment = running.deployment
        assert deployment.durability_promised == profile.durability
        if is_measured:
            for _ in range(_TRIES):
                measured = durability.measure(deployment, running.system)
                if measured.durability_class == profile.durability:
                    break
            assert measured.durability_class == profile.durability, measured.described
    other = {
        setting: (asked, deployment.settings.get(setting))
        for setting, asked in deployment.settings_asked.items()
        if setting not in deployment.settings_confirmed
        and not mean_the_same(str(asked), str(deployment.settings.get(setting)))
    }
    assert deployment.settings_asked
    assert other == {}
