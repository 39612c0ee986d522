"""The null system behind the protocol of every system under test.

It lives in this process and keeps nothing but the number of rows of each loaded table. Its options
are passed to the engine's driver, which checks and documents them (``crates/drivers/src/null``).
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import replace
from urllib.parse import parse_qsl, urlsplit

from assay.dialects.null import NULL as DIALECT
from assay.errors import ArgumentError, Bug, SystemRefused
from assay.experiment.values import SystemChoice
from assay.provision import sampling
from assay.provision.session import session
from assay.provision.site import Address, Site, StorageFacts
from assay.systems.protocol import OptionSpec, ProcessSample, ServerDirectory, System

OPTIONS = (
    OptionSpec(
        "delay",
        "",
        (),
        "Time of each statement: constant:1ms, uniform:1ms..3ms, exponential:1ms (mean), "
        "lognormal:1ms,0.5 (median, deviation of the logarithm).",
    ),
    OptionSpec(
        "stall",
        "",
        (),
        "When it stands still: 1.4s@5s (the whole system, from 5 s on), 1.4s@#1000 (each session's "
        "statement of that number), 1.4s@0.01 (a share of the statements).",
    ),
    OptionSpec(
        "fail", "", (), "Errors it gives: deadlock@#10, timeout@0.01; several between commas."
    ),
    OptionSpec("lose", "", (), "When a session is lost: #100, 0.001 or 5s."),
    OptionSpec("rows", "0", (), "Rows that each SELECT returns."),
    OptionSpec("refuse_after", "", (), "Sessions it takes at a time; more are refused."),
    OptionSpec("seed", "1", (), "Of all that is random in it."),
)


class Null:
    name = "null"
    dialect = DIALECT
    driver = "null"
    option_specs: tuple[OptionSpec, ...] = OPTIONS
    url_schemes: tuple[str, ...] = ("null",)
    has_connection_limit = True

    @contextlib.contextmanager
    def provision(
        self, choice: SystemChoice, directory: ServerDirectory, *, connections: int | None
    ) -> Iterator[Site]:
        """Writes nothing. ``refuse_after`` is its connection limit and stays as it was asked."""
        del connections
        yield _site(choice, directory.storage)

    @contextlib.contextmanager
    def attach(self, choice: SystemChoice) -> Iterator[Site]:
        """``null:///?delay=constant:1ms&rows=3``: options in the URL, and those of the choice."""
        if choice.url is None:
            raise Bug("attach() needs the URL of a server")
        in_url = dict(parse_qsl(urlsplit(choice.url).query, keep_blank_values=True))
        chosen = replace(choice, options={**in_url, **choice.options})
        site = _site(chosen, StorageFacts(name="none", kind="url", directory=""))
        yield replace(site, is_private=False)

    def size_on_disk_bytes(self, site: Site) -> int:
        """Nothing is stored."""
        del site
        return 0

    def sample(self, site: Site) -> ProcessSample | None:
        """This process, where the null system lives beside us."""
        del site
        return sampling.sample(os.getpid(), with_descendants=False)

    def why_it_died(self, site: Site) -> str | None:
        """Never: it dies with us."""
        del site
        return None

    def client_command(self, address: Address) -> tuple[list[str], Mapping[str, str]]:
        del address
        raise ArgumentError("the null system has no client of its own")


def _site(choice: SystemChoice, storage: StorageFacts) -> Site:
    if choice.settings:
        raise ArgumentError(
            f"the null system has no settings, found {', '.join(choice.settings)}",
            hint=f"its options are {', '.join(spec.name for spec in OPTIONS)}",
        )
    asked = {name: value for name, value in choice.options.items() if value != ""}
    options = {spec.name: asked.get(spec.name, spec.default) for spec in OPTIONS}
    # The word tells this site from others that are told to do the same.
    address = Address(driver="null", options={**asked, "site": secrets.token_hex(8)})
    try:
        with session(address) as opened:
            version = opened.server_version
    except SystemRefused as error:  # nothing can be wrong here but what it was told
        raise ArgumentError(error.message) from error
    return Site(
        system=Null.name,
        label=choice.label,
        address=address,
        version=version,
        storage=storage,
        options=options,
        settings_asked={},
        settings={},
        connection_limit=int(options["refuse_after"]) if options["refuse_after"] else None,
    )


NULL: System = Null()
