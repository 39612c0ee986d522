//! Takes a deployment document; returns what opening sessions needs, resolved once.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use assay_drivers::registry::{AnyBlocking, AnyWire, DRIVERS, Driver, SessionKind};
use assay_drivers::{ConnectOptions, LocalOptions, SystemError};

use crate::EngineError;
use crate::document::{DeploymentDocument, TlsMode};
use crate::transport::{Address, TlsOffer};

/// A deployment, by the kind of its driver.
pub enum Deployment {
    Wire(Box<WireDeployment>),
    Local(Box<LocalDeployment>),
}

/// The addresses of a deployment that the clients of a run use in turn, by the kind of its driver.
pub enum Endpoints {
    Wire(Vec<WireDeployment>),
    Local(Vec<LocalDeployment>),
}

/// A deployment reached through a socket.
pub struct WireDeployment {
    pub address: Address,
    pub tls: Option<TlsOffer>,
    pub connect_timeout: Duration,
    /// For one answer outside the measurement; `None`: no limit.
    pub answer_timeout: Option<Duration>,
    /// What a client's session is asked once it is open (`DeploymentDocument::server_query`).
    pub server_query: Option<String>,
    options: ConnectOptions,
    begin: fn(ConnectOptions) -> AnyWire,
}

/// A deployment in this process.
pub struct LocalDeployment {
    document: DeploymentDocument,
    open: fn(&LocalOptions<'_>) -> Result<AnyBlocking, SystemError>,
    /// Files that each session has open.
    pub open_files: u32,
}

impl Deployment {
    /// # Errors
    /// If the driver is unknown, the address cannot be resolved, or TLS cannot be set up.
    pub fn of(document: &DeploymentDocument) -> Result<Self, EngineError> {
        Self::at(document.at_first())
    }

    fn at(document: DeploymentDocument) -> Result<Self, EngineError> {
        let driver = named(&document.driver)?;
        match driver.sessions {
            SessionKind::Wire(begin) => {
                (driver.check_options)(&document.options).map_err(|error| {
                    EngineError::Document(format!(
                        "the deployment document, key `options`: {error}"
                    ))
                })?;
                Ok(Self::Wire(Box::new(WireDeployment::of(&document, begin)?)))
            }
            SessionKind::Blocking { open, open_files } => {
                Ok(Self::Local(Box::new(LocalDeployment {
                    document,
                    open,
                    open_files,
                })))
            }
        }
    }

    /// Whether a driver can begin, commit and roll back.
    ///
    /// # Errors
    /// If there is no such driver.
    pub fn has_transactions(driver: &str) -> Result<bool, EngineError> {
        named(driver).map(|driver| driver.has_transactions)
    }

    /// How many files each session of a library driver opens; `None` for a driver that uses a socket.
    ///
    /// # Errors
    /// If there is no such driver.
    pub fn files_of_library(driver: &str) -> Result<Option<u32>, EngineError> {
        match named(driver)?.sessions {
            SessionKind::Wire(_) => Ok(None),
            SessionKind::Blocking { open_files, .. } => Ok(Some(open_files)),
        }
    }
}

impl Endpoints {
    /// # Errors
    /// As [`Deployment::of`], for any of the addresses.
    pub fn of(document: &DeploymentDocument) -> Result<Self, EngineError> {
        let (mut wire, mut local) = (Vec::new(), Vec::new());
        for endpoint in document.at_endpoints() {
            match Deployment::at(endpoint)? {
                Deployment::Wire(deployment) => wire.push(*deployment),
                Deployment::Local(deployment) => local.push(*deployment),
            }
        }
        // All have the same driver, and so are of the same kind.
        Ok(match local.is_empty() {
            true => Self::Wire(wire),
            false => Self::Local(local),
        })
    }
}

fn named(driver: &str) -> Result<Driver, EngineError> {
    let found = DRIVERS.iter().find(|known| known.name == driver);
    found.copied().ok_or_else(|| {
        EngineError::Document(format!(
            "the deployment document, key `driver`: unknown driver `{driver}`, expected one of {}",
            driver_names().join(", ")
        ))
    })
}

impl WireDeployment {
    fn of(
        document: &DeploymentDocument,
        begin: fn(ConnectOptions) -> AnyWire,
    ) -> Result<Self, EngineError> {
        let address = Address::resolve(document)?;
        let tls = TlsOffer::new(document, &address)?;
        // With `prefer` it is not known beforehand whether the server will encrypt.
        let is_private = matches!(address, Address::Unix(_))
            || !matches!(document.tls, TlsMode::Off | TlsMode::Prefer);
        Ok(Self {
            options: ConnectOptions {
                user: document.user.clone(),
                password: document
                    .password
                    .as_ref()
                    .map(|password| password.0.clone()),
                database: document.database.clone(),
                wants_tls: tls.is_some(),
                is_private,
                session_statements: document.session_statements.clone(),
                options: document.options.clone(),
            },
            address,
            tls,
            connect_timeout: document.connect_timeout(),
            answer_timeout: document.answer_timeout(),
            server_query: document.server_query.clone(),
            begin,
        })
    }

    /// A driver for a new session.
    pub fn driver(&self) -> AnyWire {
        (self.begin)(self.options.clone())
    }
}

impl LocalDeployment {
    /// `stop` ends the waits of the session, also while it is opened.
    ///
    /// # Errors
    /// If the library cannot open it.
    pub fn open(&self, stop: &Arc<AtomicBool>) -> Result<AnyBlocking, SystemError> {
        (self.open)(&LocalOptions {
            file: self.document.file.as_deref(),
            password: (self.document.password.as_ref()).map(|password| password.0.as_str()),
            session_statements: &self.document.session_statements,
            connect_timeout: self.document.connect_timeout(),
            options: &self.document.options,
            stop,
        })
    }

    /// Whether it runs Python code, which may be bound to the thread that opened it: such a library has no file.
    pub fn is_of_python(&self) -> bool {
        self.document.file.is_none()
    }
}

/// The name of every driver, in the order of the registry.
pub fn driver_names() -> Vec<&'static str> {
    DRIVERS.iter().map(|driver| driver.name).collect()
}

/// The drivers whose scripts may begin transactions.
pub fn drivers_with_transactions() -> Vec<&'static str> {
    let found = DRIVERS.iter().filter(|driver| driver.has_transactions);
    found.map(|driver| driver.name).collect()
}

/// What a driver expects as the value of one of its options; `None` where it can take this one. A library
/// says so when it opens a session.
///
/// # Errors
/// If there is no such driver.
pub fn expected_of_option(
    driver: &str,
    name: &str,
    value: &str,
) -> Result<Option<String>, EngineError> {
    let option = BTreeMap::from([(name.to_owned(), value.to_owned())]);
    let checked = (named(driver)?.check_options)(&option);
    Ok(checked.err().map(|wrong| wrong.expected))
}
