"""How a requirement ends that is not met, or cannot be tried on this deployment."""

from __future__ import annotations


class NotMet(Exception):
    """The system does something else than the requirement says: what was expected, what was
    found."""


class CannotBeTried(Exception):
    """This deployment has not what the requirement is about (a server by URL, without a
    restart)."""
