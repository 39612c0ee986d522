//! Takes a driver and a socket; moves bytes between them until the driver requires an action.

use std::io::{ErrorKind, Read, Write};
use std::time::Duration;

use assay_drivers::postgresql::PostgresqlWire;
use assay_drivers::{Answer, ErrorClass, Progress, SystemError, Wire};

pub struct Pump<Socket> {
    pub wire: PostgresqlWire,
    pub out: Vec<u8>,
    /// The bytes sent and received, for recordings.
    pub sent: Vec<u8>,
    pub received: Vec<u8>,
    socket: Socket,
    input: Vec<u8>,
}

/// How long a server may send nothing before a test fails.
pub const SILENCE: Duration = Duration::from_secs(60);

impl<Socket: Read + Write> Pump<Socket> {
    pub fn new(wire: PostgresqlWire, socket: Socket) -> Self {
        Self {
            wire,
            out: Vec::new(),
            sent: Vec::new(),
            received: Vec::new(),
            socket,
            input: Vec::new(),
        }
    }

    pub fn send(&mut self) -> Result<(), SystemError> {
        let sent = self
            .socket
            .write_all(&self.out)
            .map_err(|error| lost(&error.to_string()));
        self.sent.append(&mut self.out);
        sent
    }

    /// Sends the driver's bytes and reads until the driver needs no more.
    pub fn run(&mut self, answer: &mut Answer) -> Result<Progress, SystemError> {
        loop {
            let (used, progress) = self.wire.receive(&self.input, &mut self.out, answer)?;
            self.input.drain(..used);
            if progress != Progress::NeedMore {
                return Ok(progress);
            }
            self.send()?;
            let mut buffer = [0; 4096];
            let count = match self.socket.read(&mut buffer) {
                Ok(0) => return Err(lost("the server closed the connection")),
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(lost(&error.to_string())),
            };
            self.input.extend_from_slice(&buffer[..count]);
            self.received.extend_from_slice(&buffer[..count]);
        }
    }
}

fn lost(message: &str) -> SystemError {
    SystemError::new(ErrorClass::LostConnection, "", message)
}
