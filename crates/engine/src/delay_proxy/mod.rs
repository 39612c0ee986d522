//! Takes a delay document; runs a proxy that makes a server as far away as a round-trip time says, until the
//! caller stops it.
//!
//! Every byte arrives half of that time after it was sent, in both directions. Bandwidth is not limited, and
//! packets on the way overlap, as on a wire. The proxy works in one thread. What it really adds is measured
//! before it is used, by an echo behind it.
//!
//! ```text
//!   client ──► connection: up (bytes and when they are due) ──► server
//!          ◄──       down                             ◄──
//! ```

mod relay;
mod relayed_connection;

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener as StdListener, TcpStream, ToSocketAddrs as _};
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use assay_drivers::{ErrorClass, SystemError};
use mio::net::TcpListener;
use serde::Serialize;

use crate::delay_proxy::relay::{Progress, Relay};
use crate::document::DelayDocument;
use crate::limits::allow_many_open_files;
use crate::session::{CHECK_EVERY, out_of_resources};
use crate::transport::Address;
use crate::{EngineError, clock, cost};

/// How long an address of several has to accept a connection.
const LOOK_FOR: Duration = Duration::from_secs(3);

/// The address of a delay proxy, and what it adds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Delaying {
    /// An address of this machine.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// The median round-trip time to an echo behind the proxy.
    pub measured_rtt_ns: u64,
    /// The same to the echo without the proxy.
    pub direct_rtt_ns: u64,
    /// CPU time of the proxy for each round trip.
    pub round_trip_cpu_ns: u64,
}

/// What a delay proxy has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Delayed {
    /// Connections that were accepted, without that of the measurement.
    pub connections: u64,
    /// CPU time of the process.
    pub processor_ns: u64,
}

/// Passes bytes on until `go_on`, which is called ten times a second, breaks. `ready` gets the address, and may
/// break too.
///
/// # Errors
/// If the document is wrong, or its addresses cannot be used.
pub fn delay(
    document: &DelayDocument,
    ready: &mut dyn FnMut(&Delaying) -> ControlFlow<()>,
    go_on: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<Delayed, EngineError> {
    allow_many_open_files();
    let server = server_address(document)?;
    let listener = listen(document.listen_port)?;
    let measured_listener = listen(0)?;
    let echo_listener = listen(0)?;
    let local = |listener: &StdListener| listener.local_addr().map_err(|error| failed(&error));
    let address = local(&listener)?;
    let (measured_address, echo_address) = (local(&measured_listener)?, local(&echo_listener)?);
    let routes = vec![
        (not_blocking(listener)?, server),
        (not_blocking(measured_listener)?, tcp(echo_address)),
    ];
    let progress = Progress::default();
    let (relay, waker) =
        Relay::new(routes, document.rtt / 2, &progress).map_err(|error| failed(&error))?;
    std::thread::scope(|scope| {
        let running = scope.spawn(|| relay.run());
        let worked = (|| {
            // Not of this scope: where nobody connects, it waits for ever.
            std::thread::spawn(move || echo(&echo_listener, 2));
            let none = Duration::ZERO;
            let (direct, _) = measured(echo_address, none).map_err(|error| failed(&error))?;
            let (measured, round_trips) =
                measured(measured_address, document.rtt).map_err(|error| failed(&error))?;
            let ran_ns = cost::ran_ns(progress.thread.load(Ordering::Relaxed));
            let delaying = Delaying {
                host: address.ip().to_string(),
                port: address.port(),
                measured_rtt_ns: clock::nanoseconds(measured),
                direct_rtt_ns: clock::nanoseconds(direct),
                round_trip_cpu_ns: ran_ns / u64::from(round_trips),
            };
            if ready(&delaying).is_break() {
                return Err(EngineError::Interrupted);
            }
            while go_on().is_continue() && !running.is_finished() {
                std::thread::sleep(CHECK_EVERY);
            }
            Ok(())
        })();
        progress.is_over.store(true, Ordering::Relaxed);
        // A relay that has ended need not be woken.
        let _ = waker.wake();
        match running.join() {
            Ok(relayed) => worked.and(relayed.map_err(|error| failed(&error))),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })?;
    Ok(Delayed {
        connections: progress.connections.load(Ordering::Relaxed).saturating_sub(1),
        processor_ns: cost::processor_ns(),
    })
}

/// Of several addresses of the server's name, the first that accepts a connection.
fn server_address(document: &DelayDocument) -> Result<Address, EngineError> {
    let (host, port) = match (&document.unix, &document.host, document.port) {
        (Some(path), None, None) => return Ok(Address::Unix(path.into())),
        (None, Some(host), Some(port)) => (host, port),
        _ => {
            return Err(EngineError::Document(
                "the delay document: expected `unix`, or `host` and `port`".to_owned(),
            ));
        }
    };
    let unknown = |reason: String| {
        let error = SystemError::new(ErrorClass::ConnectionRefused, "", reason);
        EngineError::System(error, format!("looking up the host {host}"))
    };
    let places = (host.as_str(), port).to_socket_addrs();
    let places: Vec<_> = places.map_err(|error| unknown(error.to_string()))?.collect();
    let answers = |place: &&SocketAddr| TcpStream::connect_timeout(place, LOOK_FOR).is_ok();
    let place = match places[..] {
        [only] => only,
        // A server that is not up yet is tried again with every client.
        [first, ..] => places.iter().find(answers).copied().unwrap_or(first),
        [] => return Err(unknown("the host has no address".to_owned())),
    };
    Ok(tcp(place))
}

fn tcp(address: SocketAddr) -> Address {
    Address::Tcp { host: address.ip().to_string(), port: address.port(), places: vec![address] }
}

fn listen(port: u16) -> Result<StdListener, EngineError> {
    StdListener::bind(("127.0.0.1", port)).map_err(|error| failed(&error))
}

fn not_blocking(listener: StdListener) -> Result<TcpListener, EngineError> {
    let set = listener.set_nonblocking(true);
    set.map_err(|error| failed(&error))?;
    Ok(TcpListener::from_std(listener))
}

fn failed(error: &io::Error) -> EngineError {
    let error: SystemError = if error.kind() == io::ErrorKind::TimedOut {
        let reason = format!("this machine: {error}");
        SystemError::new(ErrorClass::Resources, "", reason)
    } else {
        out_of_resources(error)
    };
    EngineError::System(error, "running a delay proxy".to_owned())
}

// Takes the address of an echo, reached through the proxy or not; returns the round-trip time to it.

/// Enough for a median, where each takes little time.
const MOST_ROUND_TRIPS: u32 = 51;
const LEAST_ROUND_TRIPS: u32 = 3;
/// About as long as a measurement may take.
const TIMEOUT: Duration = Duration::from_secs(1);
/// How long the echo may be silent: a busy machine lets it wait.
const LONGEST_SILENCE: Duration = Duration::from_secs(20);

/// The median of some round trips of a few bytes, behind the first: that one opens the connection. With the
/// number of all.
///
/// # Errors
/// If there is no echo.
fn measured(echo: SocketAddr, expected: Duration) -> io::Result<(Duration, u32)> {
    let mut stream = TcpStream::connect(echo)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(LONGEST_SILENCE + 10 * expected))?;
    let fitting = TIMEOUT.as_nanos() / expected.as_nanos().max(1);
    let count =
        u32::try_from(fitting).unwrap_or(u32::MAX).clamp(LEAST_ROUND_TRIPS, MOST_ROUND_TRIPS);
    let mut taken = Vec::new();
    for _ in 0..=count {
        let began = Instant::now();
        stream.write_all(b"0123456789abcdef")?;
        stream.read_exact(&mut [0; 16]).map_err(silent)?;
        taken.push(began.elapsed());
    }
    let mut taken = taken.split_off(1);
    taken.sort_unstable();
    Ok((taken[taken.len() / 2], count + 1))
}

/// A time-out, by its name: the system calls it a resource that is unavailable.
fn silent(error: io::Error) -> io::Error {
    if error.kind() == io::ErrorKind::WouldBlock {
        let reason = format!("no echo within {} s: it is too busy", LONGEST_SILENCE.as_secs());
        return io::Error::new(io::ErrorKind::TimedOut, reason);
    }
    error
}

/// Returns to each of the next `connections` clients what it sends, one after another.
///
/// # Errors
/// If a connection fails.
fn echo(listener: &StdListener, connections: u32) -> io::Result<()> {
    for _ in 0..connections {
        let (mut stream, _) = listener.accept()?;
        stream.set_nodelay(true)?;
        let mut bytes = [0; 4096];
        loop {
            match stream.read(&mut bytes)? {
                0 => break,
                count => stream.write_all(&bytes[..count])?,
            }
        }
    }
    Ok(())
}
