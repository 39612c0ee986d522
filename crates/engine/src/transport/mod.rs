//! Takes an address and bytes; returns non-blocking sockets, and TLS as a layer between a socket and a wire
//! driver.

mod address;
mod certificates;
mod socket;
mod tls;
mod unsent;
mod verifier;

pub use address::Address;
pub use certificates::TlsOffer;
pub use socket::Socket;
pub use tls::TlsLayer;
pub use unsent::Unsent;
