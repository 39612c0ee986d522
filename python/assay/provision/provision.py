"""Takes the choices of a system and a storage; returns a `Deployment`, and stops it at the end."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from assay.contracts.deployment import Deployment
from assay.contracts.experiment import StorageChoice, SystemChoice
from assay.provision.running_system import running_system


@contextlib.contextmanager
def provision(
    system_choice: SystemChoice, storage_choice: StorageChoice, *, connections: int | None
) -> Iterator[Deployment]:
    """Starts a system on a storage, or connects to the server of the choice's URL.

    `connections` is how many sessions the run needs; None leaves the server's own limit. What an
    earlier, killed run left is not looked for here: call `leftovers.clear_leftovers` once before.

    Raises members of `SystemUnderTestError` and `ArgumentError`. Whatever is raised inside or out,
    the server is stopped and everything that was made is removed.
    """
    with running_system(system_choice, storage_choice, connections=connections) as made:
        yield made.deployment
