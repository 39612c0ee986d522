//! Takes JSON text; returns the documents with the engine's input, or an error that names the wrong key.

mod check;
mod delay;
mod deployment;
mod drive;
mod group;
mod load;
mod log;
mod pace;
mod read;
mod reading;
mod seconds;
mod serve;
mod shared_numbers;
mod stop;

pub use delay::DelayDocument;
pub use deployment::{DeploymentDocument, Password, TlsMode};
pub use drive::{DriveDocument, Protocol, ScriptDocument};
pub use group::{GroupDocument, Order};
pub use load::{BulkFormWord, LoadDocument, TableDocument};
pub use log::LogDocument;
pub use pace::{ArrivalDocument, ReconnectDocument, RetriesDocument};
pub use read::Read;
pub use serve::ServeDocument;
pub use shared_numbers::SharedNumbersDocument;
pub use stop::StopDocument;
