//! Takes bytes for several sockets; sends them with one system call where the kernel has one for that.
//!
//! After each send of its own the kernel may hand the processor to the receiver it has just woken; with
//! many clients on one thread the client then pays for a change of process at each of them. Sends that
//! are submitted together (io_uring, Linux 5.19 and later, where the system allows it) pay once.

use std::io;
use std::os::fd::RawFd;

/// As many sends are handed over at once; more go in several turns.
#[cfg(target_os = "linux")]
const AT_ONCE: u32 = 128;

/// Sends for all clients of one thread.
pub struct BatchedSend {
    #[cfg(target_os = "linux")]
    ring: Option<io_uring::IoUring>,
    /// What came of the sends, in their order: the number of bytes that were taken.
    results: Vec<io::Result<usize>>,
}

/// What one socket is to be given.
#[derive(Clone, Copy)]
pub struct Outgoing<'a> {
    pub socket: RawFd,
    pub bytes: &'a [u8],
}

/// Never wait for room, and tell of a closed connection instead of raising a signal.
const FLAGS: libc::c_int = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;

impl BatchedSend {
    /// To be made on the thread that will send.
    #[must_use]
    pub fn new() -> Self {
        Self {
            #[cfg(target_os = "linux")]
            ring: io_uring::IoUring::builder()
                .setup_single_issuer()
                .setup_coop_taskrun()
                .setup_submit_all()
                .build(AT_ONCE)
                .ok(),
            results: Vec::new(),
        }
    }

    /// Sends all of them as far as their sockets take it, without waiting. What came of each is told by
    /// [`BatchedSend::take_result`].
    pub fn send<'a>(&mut self, mut outgoing: impl ExactSizeIterator<Item = Outgoing<'a>>) {
        self.results.clear();
        #[cfg(target_os = "linux")]
        while let Some(ring) = &mut self.ring
            && outgoing.len() > 1
        {
            let some = outgoing.by_ref().take(AT_ONCE as usize);
            if !submit(ring, some, &mut self.results) {
                // It is closed, so that nothing of what it was given is sent any more.
                self.ring = None;
            }
        }
        self.results.extend(outgoing.map(Outgoing::send));
    }

    /// What came of the send with this number, counted from 0; to be asked once.
    ///
    /// # Panics
    /// If there was no such send.
    pub fn take_result(&mut self, number: usize) -> io::Result<usize> {
        std::mem::replace(&mut self.results[number], Ok(0))
    }
}

impl Outgoing<'_> {
    fn send(self) -> io::Result<usize> {
        let Self { socket, bytes } = self;
        // SAFETY: the bytes are borrowed, and of the length that is told.
        let sent = unsafe { libc::send(socket, bytes.as_ptr().cast(), bytes.len(), FLAGS) };
        usize::try_from(sent).map_err(|_| io::Error::last_os_error())
    }
}

/// Hands all of them over at once, and waits until the kernel has told what came of each, which it does
/// without waiting for any socket. Says whether it did; whoever it has told nothing of is taken for lost.
#[cfg(target_os = "linux")]
fn submit<'a>(
    ring: &mut io_uring::IoUring,
    outgoing: impl Iterator<Item = Outgoing<'a>>,
    results: &mut Vec<io::Result<usize>>,
) -> bool {
    use io_uring::{opcode, types};

    let first = results.len();
    let mut queue = ring.submission();
    for (number, Outgoing { socket, bytes }) in outgoing.enumerate() {
        // A longer one is taken in part, as a socket would.
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let entry = opcode::Send::new(types::Fd(socket), bytes.as_ptr(), length)
            .flags(FLAGS)
            .build()
            .user_data(number as u64);
        // SAFETY: the bytes stay borrowed until this function returns, and then the kernel is done with
        // them.
        unsafe { queue.push(&entry) }.expect("the queue was empty, and has room for as many");
        results.push(Err(io::ErrorKind::BrokenPipe.into()));
    }
    drop(queue);
    let mut owed = results.len() - first;
    while owed > 0 {
        if let Err(error) = ring.submit_and_wait(owed)
            && error.kind() != io::ErrorKind::Interrupted
        {
            return false;
        }
        for done in ring.completion() {
            let number = usize::try_from(done.user_data()).expect("it is our own number");
            results[first + number] = usize::try_from(done.result())
                .map_err(|_| io::Error::from_raw_os_error(-done.result()));
            owed -= 1;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;
    use std::os::fd::AsRawFd as _;
    use std::os::unix::net::UnixStream;

    #[test]
    fn each_socket_gets_its_own_bytes_and_a_full_or_closed_one_holds_up_no_other() {
        #[cfg(target_os = "linux")]
        let without_ring = BatchedSend {
            ring: None,
            results: Vec::new(),
        };
        #[cfg(not(target_os = "linux"))]
        let without_ring = BatchedSend::new();
        for together in [BatchedSend::new(), without_ring] {
            check(together);
        }
    }

    fn check(mut batch: BatchedSend) {
        let (full, closed) = (17, 170);
        let much = vec![7; 64 << 20];
        let pairs: Vec<_> = (0..300)
            .map(|_| UnixStream::pair().expect("there are sockets left"))
            .collect();
        let texts: Vec<_> = (0..300).map(|number| format!("for {number}")).collect();
        let closing = pairs[closed].1.shutdown(std::net::Shutdown::Both);
        closing.expect("it is open");

        let outgoing = pairs.iter().zip(&texts).enumerate();
        batch.send(outgoing.map(|(number, ((socket, _), text))| Outgoing {
            socket: socket.as_raw_fd(),
            bytes: if number == full {
                &much
            } else {
                text.as_bytes()
            },
        }));

        for (number, ((_, end), text)) in pairs.iter().zip(&texts).enumerate() {
            let result = batch.take_result(number);
            if number == full {
                let count = result.expect("some of it was taken");
                assert!((1..much.len()).contains(&count), "{count}");
            } else if number == closed {
                let error = result.expect_err("nobody reads there");
                assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
            } else {
                let mut received = [0; 16];
                let count = (&*end).read(&mut received).expect("something was sent");
                assert_eq!(&received[..count], text.as_bytes());
                assert_eq!(result.expect("all of it was taken"), count);
            }
        }
    }
}
