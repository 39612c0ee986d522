//! Takes documents; opens sessions, drives clients, loads rows; gives observations and reports.
//!
//! | module | takes → gives |
//! |---|---|
//! | `document` | JSON → what is to be done, or which key is wrong |
//! | `transport` | an address → non-blocking sockets, and TLS as a layer over them |
//! | `session` | a site → sessions; a wire driver, perhaps TLS and a socket put together |
//! | `limits` | how many threads and files are needed → whether this machine allows them |
//! | `load` | a source of rows → filled tables |
//! | `drive` | scripts → clients at work: one event loop for each processor, or a thread for each client |
//! | `query` | a script → the rows of its answers, values bound |
//! | `null_server` | the options of a null server → a server of a protocol, which does nothing |
//! | `account` | outcomes and times of every transaction → histograms, intervals, errors, results |
//! | `observation` | all of that → JSON |
//!
//! It knows no system by name: drivers are looked up in the registry of `assay-drivers`.

mod account;
mod clock;
mod cost;
mod document;
mod drive;
mod error;
mod limits;
mod load;
mod null_server;
mod observation;
mod query;
mod session;
mod timer;
mod timer_queue;
mod transport;

pub use document::{
    ArrivalDocument, BulkFormWord, DriveDocument, EndpointDocument, GroupDocument, LoadDocument,
    Order, Password, Protocol, ReconnectDocument, RetriesDocument, ScriptDocument, ServeDocument,
    SiteDocument, StopDocument, TableDocument, TlsMode,
};
pub use drive::{DrainProgress, DriveProgress, check_clients, compile, drive};
pub use error::EngineError;
pub use limits::check_load_sessions;
pub use load::{LoadProgress, LoadReport, Source, TableReport, load, load_parts};
pub use null_server::{Listening, Served, null_protocols, serve};
pub use observation::{
    AllOk, Arrival, ArrivalKind, CarriedOver, Certainty, ClientCost, ClientEnd, ClientState,
    EndedBy, ErrorReport, GroupReport, InFlight, Interval, Latency, LittlesLaw, Observation,
    Outage, Outcome, Outcomes, Passes, Resolution, ResultReport, Standstill, StatementReport,
    TransactionOutcomes, TransactionReport, TransactionsPerClient, Unfinished,
    schema as observation_schema,
};
pub use query::{Answered, query};
pub use session::{Probe, ProbeError, Session, driver_names, probe};
