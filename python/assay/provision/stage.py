"""The stage: takes a system and a storage as asked for; gives a `Site`, and takes it down again."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from assay import registry
from assay.experiment.values import StorageChoice, SystemChoice
from assay.provision.directory import server_directory
from assay.provision.site import Site
from assay.storages.protocol import Storage


@contextlib.contextmanager
def provision(
    system_choice: SystemChoice, storage_choice: StorageChoice, *, connections: int | None
) -> Iterator[Site]:
    """Brings a system up on a storage, or reaches the one of the choice's URL.

    `connections` is how many sessions the run needs; None leaves the server's own limit. What an
    earlier, killed run left is not looked for here: call `leftovers.clear_leftovers` once before.

    Raises members of `SystemUnderTestError` and `ArgumentError`. Whatever is raised inside or out,
    the server is stopped and everything that was made is removed.
    """
    system = registry.system(system_choice.name)
    if system_choice.url is not None:
        with system.attach(system_choice) as site:
            yield site
        return
    storage: Storage = registry.storage(storage_choice.kind)
    with (
        storage.prepare(storage_choice) as facts,
        server_directory(facts) as directory,
        system.provision(system_choice, directory, connections=connections) as site,
    ):
        yield site
