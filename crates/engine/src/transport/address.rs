//! Takes a deployment document; returns the addresses to connect to, resolved once for all clients.

use std::net::{SocketAddr, ToSocketAddrs as _};
use std::path::PathBuf;

use assay_drivers::{ErrorClass, SystemError};

use crate::EngineError;
use crate::document::{DeploymentDocument, TlsMode};

#[derive(Clone, Debug)]
pub enum Address {
    Unix(PathBuf),
    /// A host may have several addresses (`localhost` has two); they are tried in this order.
    Tcp {
        host: String,
        port: u16,
        places: Vec<SocketAddr>,
    },
}

impl Address {
    /// # Errors
    /// If the document has no address, or the host name cannot be resolved.
    pub fn resolve(deployment: &DeploymentDocument) -> Result<Self, EngineError> {
        if let Some(path) = &deployment.unix {
            return Ok(Self::Unix(path.into()));
        }
        let (Some(host), Some(port)) = (&deployment.host, deployment.port) else {
            return Err(EngineError::Document(format!(
                "the deployment document: the driver {} reaches its server through `unix`, or `host` and \
                 `port`; expected one of them",
                deployment.driver
            )));
        };
        let unknown = |reason: String| {
            let error = SystemError::new(ErrorClass::ConnectionRefused, "", reason);
            EngineError::System(error, format!("looking up the host {host}"))
        };
        let places: Vec<_> = (
            deployment.host_address.as_ref().unwrap_or(host).as_str(),
            port,
        )
            .to_socket_addrs()
            .map_err(|error| unknown(error.to_string()))?
            .collect();
        if places.is_empty() {
            return Err(unknown("the host has no address".to_owned()));
        }
        Ok(Self::Tcp {
            host: host.clone(),
            port,
            places,
        })
    }

    /// How many addresses there are to try.
    pub fn place_count(&self) -> usize {
        match self {
            Self::Unix(_) => 1,
            Self::Tcp { places, .. } => places.len(),
        }
    }

    /// Whether TLS is used here in this mode.
    pub fn wants_tls(&self, mode: TlsMode) -> bool {
        matches!(self, Self::Tcp { .. }) && mode != TlsMode::Off
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unix(path) => write!(out, "{}", path.display()),
            Self::Tcp { host, port, .. } if host.contains(':') => write!(out, "[{host}]:{port}"),
            Self::Tcp { host, port, .. } => write!(out, "{host}:{port}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_whose_address_is_given_is_not_looked_up() {
        let text = r#"{
            "driver": "any", "host": "db.invalid", "host_address": "127.0.0.1", "port": 5432
        }"#;
        let deployment = DeploymentDocument::parse(text).expect("a deployment document");
        let address = Address::resolve(&deployment).expect("an IP address needs no name server");
        assert_eq!(address.to_string(), "db.invalid:5432");
        let Address::Tcp { places, .. } = address else {
            panic!("{address}")
        };
        assert_eq!(places, [SocketAddr::from(([127, 0, 0, 1], 5432))]);
    }
}
