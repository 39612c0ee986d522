//! Takes a site document; gives everything that opening any number of sessions with it needs, looked
//! up once.

use std::time::Duration;

use assay_drivers::registry::{AnyBlocking, AnyWire, DRIVERS, Driver, SessionKind};
use assay_drivers::{ConnectOptions, LocalOptions, SystemError};

use crate::EngineError;
use crate::document::{SiteDocument, TlsMode};
use crate::transport::{Address, TlsOffer};

/// A site, by the shape of its driver.
pub enum Site {
    Wire(Box<WireSite>),
    Local(Box<LocalSite>),
}

/// The addresses of a site that the clients of a run use in turn, by the shape of its driver.
pub enum Endpoints {
    Wire(Vec<WireSite>),
    Local(Vec<LocalSite>),
}

/// A site behind a socket.
pub struct WireSite {
    pub address: Address,
    pub tls: Option<TlsOffer>,
    pub connect_timeout: Duration,
    /// Of one answer outside the measurement; none: without end.
    pub answer_timeout: Option<Duration>,
    options: ConnectOptions,
    begin: fn(ConnectOptions) -> AnyWire,
}

/// A site inside this process.
pub struct LocalSite {
    document: SiteDocument,
    open: fn(&LocalOptions<'_>) -> Result<AnyBlocking, SystemError>,
    /// Of each session.
    pub open_files: u32,
}

impl Site {
    /// # Errors
    /// Where the driver is unknown, the address cannot be looked up, or TLS cannot be as asked.
    pub fn of(document: &SiteDocument) -> Result<Self, EngineError> {
        Self::at(document.at_first())
    }

    fn at(document: SiteDocument) -> Result<Self, EngineError> {
        match named(&document.driver)?.sessions {
            SessionKind::Wire(begin) => Ok(Self::Wire(Box::new(WireSite::of(&document, begin)?))),
            SessionKind::Blocking { open, open_files } => Ok(Self::Local(Box::new(LocalSite {
                document,
                open,
                open_files,
            }))),
        }
    }

    /// Whether a driver can begin, commit and roll back.
    ///
    /// # Errors
    /// Where there is no such driver.
    pub fn has_transactions(driver: &str) -> Result<bool, EngineError> {
        named(driver).map(|driver| driver.has_transactions)
    }

    /// How many files each session of a driver has open that is a library; none behind a socket.
    ///
    /// # Errors
    /// Where there is no such driver.
    pub fn files_of_library(driver: &str) -> Result<Option<u32>, EngineError> {
        match named(driver)?.sessions {
            SessionKind::Wire(_) => Ok(None),
            SessionKind::Blocking { open_files, .. } => Ok(Some(open_files)),
        }
    }
}

impl Endpoints {
    /// # Errors
    /// As [`Site::of`], for any of them.
    pub fn of(document: &SiteDocument) -> Result<Self, EngineError> {
        let (mut wire, mut local) = (Vec::new(), Vec::new());
        for one in document.at_endpoints() {
            match Site::at(one)? {
                Site::Wire(site) => wire.push(*site),
                Site::Local(site) => local.push(*site),
            }
        }
        // All have the same driver, and so the same shape.
        Ok(match local.is_empty() {
            true => Self::Wire(wire),
            false => Self::Local(local),
        })
    }
}

/// The place, among so many endpoints, of the one that the client with this number uses.
#[must_use]
pub fn endpoint_of(client: u32, endpoints: usize) -> usize {
    client as usize % endpoints
}

fn named(driver: &str) -> Result<Driver, EngineError> {
    let found = DRIVERS.iter().find(|known| known.name == driver);
    found.copied().ok_or_else(|| {
        EngineError::Document(format!(
            "the site document, key `driver`: unknown driver `{driver}`, expected one of {}",
            driver_names().join(", ")
        ))
    })
}

impl WireSite {
    fn of(
        document: &SiteDocument,
        begin: fn(ConnectOptions) -> AnyWire,
    ) -> Result<Self, EngineError> {
        let address = Address::resolve(document)?;
        let tls = TlsOffer::new(document, &address)?;
        // With `prefer` nobody knows beforehand whether the server will encrypt.
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
            },
            address,
            tls,
            connect_timeout: document.connect_timeout(),
            answer_timeout: document.answer_timeout(),
            begin,
        })
    }

    /// A driver for one new session.
    #[must_use]
    pub fn driver(&self) -> AnyWire {
        (self.begin)(self.options.clone())
    }
}

impl LocalSite {
    /// # Errors
    /// Where the library refuses.
    pub fn open(&self) -> Result<AnyBlocking, SystemError> {
        (self.open)(&LocalOptions {
            file: self.document.file.as_deref(),
            session_statements: &self.document.session_statements,
            options: &self.document.options,
        })
    }
}

/// The name of every driver, in the order of the registry.
#[must_use]
pub fn driver_names() -> Vec<&'static str> {
    DRIVERS.iter().map(|driver| driver.name).collect()
}
