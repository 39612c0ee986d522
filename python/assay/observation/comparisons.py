"""What tests find that drive several times: one client and many, sessions kept and anew."""

from __future__ import annotations

from assay.observation.shape import Shape


class ReferenceReport(Shape, frozen=True):
    """How clients of which each leaves rows of its own were together."""

    alone_elapsed_ns: int
    one_alone_ns: int
    stagger_ns: int
    pause_ns: int
    least_at_once: int
    most_at_once: int
    equal_dumps: int | None = None
    overtaken: int | None = None


class ConnectReport(Shape, frozen=True):
    """One turn of a client that connects for each transaction, and of one that does not."""

    inside_ns: int
    outside_ns: int
    connect_ns: int
