"""Takes a choice with a URL; returns the deployment at its other end, whichever product it is."""

from __future__ import annotations

from assay.contracts.deployment import Deployment, Node
from assay.contracts.experiment import SystemChoice
from assay.contracts.storage_facts import StorageFacts
from assay.errors import Bug, PasswordNeeded, SystemRefused
from assay.provision.engine.engine_calls import Session
from assay.systems import urls
from assay.systems.first_session import first_session
from assay.systems.mongodb_protocol import url
from assay.systems.mongodb_protocol.answers import command

_NAMES = {"FerretDB": "ferretdb", "MongoDB": "mongodb"}
"""First word of the driver's version → name of the system, and scheme of its URLs."""
_TITLES = {name: title for title, name in _NAMES.items()}

ASKS_FOR_A_LOGIN = '{"listCollections": 1, "nameOnly": true, "authorizedCollections": true}'

UNKNOWN = "a server by URL does not report them to every user"


def _insist_on_replica_set(opened: Session, choice: SystemChoice, asked: str | None) -> None:
    """Raises `SystemRefused` where the server is no member of the replica set that is asked for."""
    found = command(opened, {"hello": 1}).get("setName") if asked else None
    if found != asked:
        of_server = f"one of {found}" if found else "a server without a replica set"
        raise SystemRefused(
            f"{choice.label}: expected a member of the replica set {asked}, found {of_server}",
            hint="correct replicaSet=… in the URL, or leave it out",
        )


def deployment(choice: SystemChoice, name: str) -> Deployment:
    """Raises `SystemRefused` where the server is another product than ``name`` says, or cannot be
    reached."""
    if choice.url is None:
        raise Bug("attach() needs the URL of a server")
    address = urls.with_origins(url.address_of(choice.url, name), choice.url_origins)
    if address.user and address.password is None:
        raise PasswordNeeded(
            f"{choice.label}: expected a password for the user {address.user!r}, found none",
            hint=f"write it into the URL, USER:PASSWORD@, or into {url.PASSWORD.name}",
        )
    with first_session(choice.url, address, url.expected(_TITLES[name])) as opened:
        version = opened.server_version
        # Which every server answers, also to those who may do nothing else.
        opened.execute(ASKS_FOR_A_LOGIN)
        _insist_on_replica_set(opened, choice, url.replica_set(choice.url, name))
    found = _NAMES.get(version.partition(" ")[0], name)
    if found != name:
        raise SystemRefused(
            f"{choice.label}: expected {_TITLES[name]}, found {version}",
            hint=f"the same URL with {found}://",
        )
    return Deployment(
        system=name,
        label=choice.label,
        nodes=(Node(name, StorageFacts.of_url()),),
        endpoints=(address,),
        version=version,
        options=dict(choice.options),
        settings_asked=dict(choice.settings),
        settings={},
        settings_unknown=UNKNOWN,
        is_private=False,
    )
