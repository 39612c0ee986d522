"""Takes the values of a service file and the environment; refuses parameters of libpq that are not
supported here and would silently be ignored."""

from __future__ import annotations

from collections.abc import Mapping

from assay.env_vars import EnvVar
from assay.errors import ArgumentError
from assay.systems.sourced import Sourced

_ASK_FOR_NOTHING: Mapping[str, tuple[str, ...]] = {
    "channel_binding": ("disable", "prefer"),
    "gssencmode": ("disable", "prefer"),
    "load_balance_hosts": ("disable",),
    "replication": ("false", "off", "no", "0"),
    "require_auth": (),
    "requirepeer": (),
    "ssl_max_protocol_version": (),
    "ssl_min_protocol_version": ("tlsv1", "tlsv1.1", "tlsv1.2"),
    "sslcertmode": ("allow", "disable"),
    "sslcrl": (),
    "sslcrldir": (),
    "sslnegotiation": ("postgres",),
    "sslpassword": (),
}
"""Parameter → the values that need no support."""

ENVIRONMENT: Mapping[str, EnvVar] = {
    "channel_binding": EnvVar("PGCHANNELBINDING", "Refused if it is `require`."),
    "gssencmode": EnvVar("PGGSSENCMODE", "Refused if it is `require`."),
    "load_balance_hosts": EnvVar("PGLOADBALANCEHOSTS", "Refused if it is `random`."),
    "require_auth": EnvVar("PGREQUIREAUTH", "Refused."),
    "requirepeer": EnvVar("PGREQUIREPEER", "Refused."),
    "ssl_max_protocol_version": EnvVar("PGSSLMAXPROTOCOLVERSION", "Refused."),
    "ssl_min_protocol_version": EnvVar(
        "PGSSLMINPROTOCOLVERSION", "Refused if it is above TLSv1.2, which is the least here."
    ),
    "sslcertmode": EnvVar("PGSSLCERTMODE", "Refused if it is `require`."),
    "sslcrl": EnvVar("PGSSLCRL", "Refused."),
    "sslcrldir": EnvVar("PGSSLCRLDIR", "Refused."),
    "sslnegotiation": EnvVar("PGSSLNEGOTIATION", "Refused if it is `direct`."),
}


def refuse(given: Sourced) -> None:
    """Raises `ArgumentError` for the first unsupported parameter."""
    for name, harmless in _ASK_FOR_NOTHING.items():
        value = given.get(name)
        if value is not None and value.lower() not in harmless:
            expected = f"only {' or '.join(harmless)} is supported" if harmless else "not supported"
            raise ArgumentError(
                f"{given.spelled(name)}: {expected}",
                hint="leave it out for this run, or require it in the server's configuration",
            )
