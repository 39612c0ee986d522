"""Where the engine's sessions go, as it takes it."""

from __future__ import annotations

from msgspec import UNSET, UnsetType, field

from assay.contracts.engine.document import EngineDocument


class DeploymentDocument(EngineDocument, frozen=True, kw_only=True):
    """Of one address, or of several that differ in where they are. Its fields are those of
    `assay.contracts.deployment.Address`, which says what they mean."""

    driver: str
    unix: str | None = None
    host: str | None = None
    port: int | None = None
    host_address: str | None = None
    file: str | None = None
    user: str = ""
    password: str | None = None
    database: str = ""
    tls: str = "off"
    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None
    session_statements: tuple[str, ...] = ()
    server_query: str | None = None
    connect_timeout_s: float = 30.0
    answer_timeout_s: float | None = None
    options: dict[str, str] = field(default_factory=dict)
    """With those that are secret."""
    endpoints: tuple[DeploymentDocument, ...] | UnsetType = UNSET
    """Client c uses endpoint c mod n, of those that its group reads at; left out: there is one, and
    it is here."""
    name: str | UnsetType = UNSET
    """Of an endpoint; left out: its address."""
    is_replica: bool | UnsetType = UNSET

    def __repr__(self) -> str:
        """Without the password and the options."""
        return f"DeploymentDocument(driver={self.driver!r}, host={self.host!r}, port={self.port!r})"
