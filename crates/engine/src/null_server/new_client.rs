//! A client that the acceptor passes to a worker.

use std::sync::mpsc::Sender;

use assay_drivers::SystemError;
use assay_drivers::null::SessionModel;
use mio::Waker;

use crate::transport::Socket;

/// A client that has connected.
pub struct NewClient {
    pub socket: Socket,
    pub model: Result<SessionModel, SystemError>,
}

/// The channel to a worker.
pub struct WorkerHandle {
    pub new_clients: Sender<NewClient>,
    pub waker: Waker,
}
