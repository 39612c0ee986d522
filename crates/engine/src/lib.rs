//! Takes documents; opens sessions, drives clients, loads rows; gives observations and reports.
//!
//! | module | takes → gives |
//! |---|---|
//! | `document` | JSON → what is to be done, or which key is wrong |
//! | `transport` | an address → non-blocking sockets, and TLS as a layer over them |
//! | `session` | a site → sessions; a wire driver, perhaps TLS and a socket put together |
//! | `load` | a source of rows → filled tables |
//! | `drive` | scripts → clients at work: one event loop for each processor, or a thread for each client |
//! | `account` | what became of every transaction → histograms, intervals, errors, results |
//! | `observation` | all of that → JSON |
//!
//! It knows no system by name: drivers are looked up in the registry of `assay-drivers`.

mod account;
mod clock;
mod cost;
mod document;
mod drive;
mod error;
mod load;
mod observation;
mod session;
mod transport;

pub use document::{
    BulkFormWord, DriveDocument, LoadDocument, Order, Password, Protocol, ScriptDocument,
    SiteDocument, StopDocument, TableDocument, TlsMode,
};
pub use drive::{DriveProgress, compile, drive};
pub use error::EngineError;
pub use load::{LoadProgress, LoadReport, TableReport, load};
pub use observation::{
    ClientCost, ClientEnd, ErrorReport, Interval, Observation, Outcomes, Passes, ResponseTime,
    ResultReport, TransactionReport,
};
pub use session::{Probe, ProbeError, Session, driver_names, probe};
