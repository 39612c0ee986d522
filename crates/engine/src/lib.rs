//! Takes documents; opens sessions, drives clients, loads rows; returns observations and reports.
//!
//! | module | takes → returns |
//! |---|---|
//! | `document` | JSON → a request, or which key is wrong |
//! | `transport` | an address → non-blocking sockets, and TLS as a layer over them |
//! | `session` | a deployment → sessions: a wire driver, optionally TLS, and a socket |
//! | `limits` | how many threads and files are needed → whether this machine allows them |
//! | `load` | a source of rows → filled tables |
//! | `drive` | scripts → running clients: one event loop for each processor, or a thread for each client |
//! | `query` | a script → the rows of its answers, with bound values |
//! | `null_server` | the options of a null server → a server of a protocol that executes nothing |
//! | `delay_proxy` | a server's address and a round-trip time → a proxy that makes it so far away |
//! | `account` | outcomes and times of every transaction → histograms, intervals, errors, results |
//! | `observation` | all of these → JSON |
//!
//! It contains no system's name: drivers are found in the registry of `assay-drivers`.

mod account;
mod clock;
mod cost;
mod delay_proxy;
mod document;
mod drive;
mod error;
mod limits;
mod load;
mod null_server;
mod observation;
mod probe;
mod query;
mod session;
mod transport;

pub use delay_proxy::{Delayed, Delaying, delay};
pub use document::{
    ArrivalDocument, BulkFormWord, ClientsDocument, DelayDocument, DeploymentDocument,
    DriveDocument, GroupDocument, LoadDocument, Order, Password, Protocol, ReconnectDocument,
    RetriesDocument, ScriptDocument, ServeDocument, StopDocument, TableDocument, TlsMode,
};
pub use drive::{
    ClientsSoFar, DrainProgress, DriveProgress, check_clients, compile, drive, is_prepared,
};
pub use error::EngineError;
pub use limits::check_load_sessions;
pub use load::{LoadProgress, LoadReport, LoadSource, TableReport, load, load_parts};
pub use null_server::{Listening, Served, null_protocols, null_protocols_in, serve};
pub use observation::{
    AllOk, Arrival, ArrivalKind, CarriedOver, Certainty, ClientCost, ClientEnd, ClientState,
    EndedBy, ErrorReport, GroupReport, InFlight, Interval, Latency, LittlesLaw, Observation,
    Outage, Outcome, Outcomes, Passes, Resolution, ResultReport, Standstill, StatementReport,
    TransactionOutcomes, TransactionReport, TransactionsPerClient, Unfinished,
    schema as observation_schema,
};
pub use probe::{Probe, ProbeError, probe};
pub use query::{Answered, query};
pub use session::{Session, driver_names, drivers_with_transactions, expected_of_option};
