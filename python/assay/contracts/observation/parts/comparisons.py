"""What tests find that drive several times: one client and many, sessions kept and anew."""

from __future__ import annotations

from assay.contracts.observation.parts.shape import Shape


class ReferenceReport(Shape, frozen=True):
    """How clients of which each leaves rows of its own were together, as far as the test's steps
    say it."""

    alone_elapsed_ns: int | None = None
    one_alone_ns: int | None = None
    stagger_ns: int | None = None
    pause_ns: int | None = None
    least_at_once: int | None = None
    most_at_once: int | None = None
    equal_dumps: int | None = None
    overtaken: int | None = None


class ConnectReport(Shape, frozen=True):
    """One turn of a client that connects for each transaction, and of one that does not."""

    inside_ns: int
    outside_ns: int
    connect_ns: int
