//! Takes JSON text; returns the documents with the engine's input, or an error that names the wrong key.

mod check;
mod deployment;
mod drive;
mod group;
mod load;
mod pace;
mod reading;
mod serve;

pub use deployment::{DeploymentDocument, Password, TlsMode};
pub use drive::{DriveDocument, LogDocument, Protocol, ScriptDocument, SharedNumbersDocument};
pub use group::{ClientsDocument, GroupDocument, Order, Read, StopDocument};
pub use load::{BulkFormWord, LoadDocument, TableDocument};
pub use pace::{ArrivalDocument, ReconnectDocument, RetriesDocument};
pub use serve::{DelayDocument, ServeDocument};
