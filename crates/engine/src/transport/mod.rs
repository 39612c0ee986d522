//! Takes an address and bytes; returns non-blocking sockets, and TLS as a layer between a socket and a wire
//! driver.

mod address;
mod certificates;
mod socket;
mod tls;

pub use address::Address;
pub use certificates::TlsOffer;
pub use socket::{Socket, Unsent};
pub use tls::TlsLayer;
