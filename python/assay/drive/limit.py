"""Takes a way to bring a site up; gives the first client count it refuses, by default and when
raised.

Experiment B7 (Beebe 2011, section 6): one server refused already at 16 jobs and another soon after,
both with a default limit of 100; both limits were raised to 1000.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from assay import _engine
from assay.drive.transactions import Observation
from assay.provision.session import raise_as_ours
from assay.provision.site import Site

SiteOpener = Callable[[int | None], AbstractContextManager[Site]]
"""Brings up a fresh site whose limit fits so many clients; None: with the system's own default."""


def observe(open_site: SiteOpener, upto: int) -> Observation:
    """Opens sessions one by one, up to ``upto``, with the default limit and with it raised."""
    return {
        "kind": "limit",
        "upto": upto,
        "default": _probe(open_site, None, upto),
        "raised": _probe(open_site, upto, upto),
    }


def _probe(open_site: SiteOpener, connections: int | None, upto: int) -> dict[str, Any]:
    with open_site(connections) as site:
        try:
            found = json.loads(_engine.probe(json.dumps(site.address.for_engine()), upto))
        except _engine.EngineError as error:
            raise_as_ours(error)
        return {"limit": site.connection_limit, **found}
