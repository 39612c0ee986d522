//! Takes the address of an echo, reached through the proxy or not; returns the round-trip time to it.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

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
pub fn measured(echo: SocketAddr, expected: Duration) -> io::Result<(Duration, u32)> {
    let mut stream = TcpStream::connect(echo)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(LONGEST_SILENCE + 10 * expected))?;
    let fitting = TIMEOUT.as_nanos() / expected.as_nanos().max(1);
    let count = u32::try_from(fitting)
        .unwrap_or(u32::MAX)
        .clamp(LEAST_ROUND_TRIPS, MOST_ROUND_TRIPS);
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
        let reason = format!(
            "no echo within {} s: it is too busy",
            LONGEST_SILENCE.as_secs()
        );
        return io::Error::new(io::ErrorKind::TimedOut, reason);
    }
    error
}

/// Returns to each of the next `connections` clients what it sends, one after another.
///
/// # Errors
/// If a connection fails.
pub fn echo(listener: &TcpListener, connections: u32) -> io::Result<()> {
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
