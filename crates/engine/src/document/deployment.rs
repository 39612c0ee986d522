//! The deployment document: the address of a system, the user, and how to connect.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;

use crate::EngineError;
use crate::document::reading::{null_is_default, parse, positive_seconds};

/// How to open a session. The address is `unix`, `host` with `port`, or `file`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeploymentDocument {
    /// A name of the registry of drivers.
    pub driver: String,
    /// Path of a Unix socket.
    pub unix: Option<String>,
    /// The name or address of the server's machine; absent for a Unix socket or a file.
    pub host: Option<String>,
    /// The server's TCP port.
    pub port: Option<u16>,
    /// Where `host` is, an IP address: it is not looked up, and a certificate is still checked for `host`.
    pub host_address: Option<String>,
    /// A database file, for systems in this process.
    pub file: Option<String>,
    /// Where the clients of a run connect, each a whole deployment document: client *c* uses endpoint *c* modulo their
    /// number, of those that its group reads at. Absent: this deployment, which everything other than clients uses as
    /// well.
    #[serde(default, deserialize_with = "endpoints")]
    pub endpoints: Vec<DeploymentDocument>,
    /// Of an endpoint: its name in the observation; absent: its address.
    pub name: Option<String>,
    /// Of an endpoint: whether it repeats what another one does, and takes no writes itself.
    #[serde(default, deserialize_with = "null_is_default")]
    pub is_replica: bool,
    /// The user's name; empty where the system has none.
    #[serde(default, deserialize_with = "null_is_default")]
    pub user: String,
    /// The user's password, if there is one.
    pub password: Option<Password>,
    /// The database that sessions use; empty where the system has none.
    #[serde(default, deserialize_with = "null_is_default")]
    pub database: String,
    /// Whether the connection is encrypted, and what is verified.
    #[serde(default, deserialize_with = "null_is_default")]
    pub tls: TlsMode,
    /// PEM file of the authorities that `verify-ca` and `verify` trust; absent: those of this machine.
    pub ca_file: Option<String>,
    /// PEM files of the client's own certificate and its key, for a server that requires one.
    pub cert_file: Option<String>,
    /// The file of the client certificate's private key, in PEM form.
    pub key_file: Option<String>,
    /// Statements that each new session runs before anything else.
    #[serde(default, deserialize_with = "null_is_default")]
    pub session_statements: Vec<String>,
    /// What each session of a run's clients is asked once it is open, before the measurement: a row of the
    /// server's address, its role, and its id of the session.
    pub server_query: Option<String>,
    #[serde(default, deserialize_with = "null_is_default")]
    connect_timeout_s: ConnectTimeout,
    #[serde(default, deserialize_with = "positive_seconds_or_none")]
    answer_timeout_s: Option<Duration>,
    /// Options of the driver.
    #[serde(default, deserialize_with = "null_is_default")]
    pub options: BTreeMap<String, String>,
}

impl DeploymentDocument {
    /// The endpoints; the deployment itself if it has none.
    pub fn at_endpoints(&self) -> Vec<Self> {
        if self.endpoints.is_empty() {
            return vec![self.clone()];
        }
        self.endpoints.clone()
    }

    /// As it is called in an observation.
    pub fn endpoint_name(&self) -> String {
        let host = || match self.host.as_deref().unwrap_or_default() {
            host if host.contains(':') => format!("[{host}]"),
            host => host.to_owned(),
        };
        let address = || match (&self.unix, &self.file, self.port) {
            (Some(path), _, _) | (None, Some(path), _) => path.clone(),
            (None, None, Some(port)) => format!("{}:{port}", host()),
            (None, None, None) => host(),
        };
        self.name.clone().unwrap_or_else(address)
    }

    /// Whether it has an address of its own.
    fn has_address(&self) -> bool {
        self.unix.is_some() || self.host.is_some() || self.file.is_some()
    }

    /// The deployment for everything other than clients of a run: unchanged, or at its first endpoint.
    #[must_use]
    pub fn at_first(&self) -> Self {
        if self.has_address() || self.endpoints.is_empty() {
            return self.clone();
        }
        self.at_endpoints().swap_remove(0)
    }

    /// # Errors
    /// If the text is not a valid deployment document; the error names the key.
    pub fn parse(text: &str) -> Result<Self, EngineError> {
        parse("the deployment document", text)
    }

    /// How long opening one session may take.
    pub fn connect_timeout(&self) -> Duration {
        self.connect_timeout_s.0
    }

    /// How long a [`crate::Session`] waits for one answer; `None`: no limit.
    pub fn answer_timeout(&self) -> Option<Duration> {
        self.answer_timeout_s
    }
}

/// Whether a session is encrypted. A Unix socket is private: there all modes mean the same.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum TlsMode {
    /// The connection is not encrypted.
    #[default]
    Off,
    /// Encrypted if the server offers it, without checking its certificate.
    Prefer,
    /// Always encrypted, without checking the certificate: protects from eavesdropping, not from impostors.
    Require,
    /// Always encrypted, and a trusted authority must have signed the certificate, for any host.
    VerifyCa,
    /// Always encrypted, and the certificate must be valid for the host.
    Verify,
}

/// A password, which is hidden when printed.
#[derive(Clone, Deserialize)]
#[serde(transparent)]
pub struct Password(pub String);

impl std::fmt::Debug for Password {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("(hidden)")
    }
}

#[derive(Clone, Copy, Debug)]
struct ConnectTimeout(Duration);

impl Default for ConnectTimeout {
    fn default() -> Self {
        Self(Duration::from_secs(30))
    }
}

impl<'de> Deserialize<'de> for ConnectTimeout {
    fn deserialize<D: serde::Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        positive_seconds(reader).map(Self)
    }
}

fn endpoints<'de, D>(reader: D) -> Result<Vec<DeploymentDocument>, D::Error>
where
    D: serde::Deserializer<'de>,
{
    let found = Option::<Vec<DeploymentDocument>>::deserialize(reader)?.unwrap_or_default();
    if found.iter().any(|endpoint| !endpoint.endpoints.is_empty()) {
        return Err(serde::de::Error::custom(
            "an endpoint has no endpoints of its own",
        ));
    }
    Ok(found)
}

fn positive_seconds_or_none<'de, D>(reader: D) -> Result<Option<Duration>, D::Error>
where
    D: serde::Deserializer<'de>,
{
    Ok(Option::<ConnectTimeout>::deserialize(reader)?.map(|seconds| seconds.0))
}
