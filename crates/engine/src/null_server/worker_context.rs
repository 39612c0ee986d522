//! The state that all sessions of one worker share.

use std::sync::mpsc::Sender;

use assay_drivers::SystemError;
use assay_drivers::null::SessionModel;
use mio::{Registry, Waker};

use crate::clock::Clock;
use crate::timer::TimerQueue;
use crate::transport::Socket;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionStatus {
    Open,
    Ended,
}

/// The state that all sessions of a thread share.
pub struct WorkerContext<'r> {
    /// The session's index in the thread's list.
    pub place: usize,
    pub registry: &'r Registry,
    pub timers: &'r mut TimerQueue,
    pub clock: Clock,
    pub scratch: &'r mut Buffers,
    pub statements: &'r mut u64,
}

pub struct Buffers {
    pub input: Box<[u8]>,
    pub out: Vec<u8>,
}

impl Default for Buffers {
    fn default() -> Self {
        // About what a Unix socket delivers at once during a bulk load.
        const INPUT_BYTES: usize = 256 * 1024;
        Self {
            input: vec![0; INPUT_BYTES].into(),
            out: Vec::new(),
        }
    }
}

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
