//! The delay proxy: what arrives, when, and in which order.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::support::quiet::on_a_quiet_machine;
use assay_engine::{DelayDocument, Delayed, Delaying, delay};
use serde_json::{Value, json};

/// Ends the proxy also when a test fails, which waits for its thread.
struct EndOnDrop<'a>(&'a AtomicBool);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs `act` with a proxy before the server; returns what the proxy did.
fn delayed(server: &Value, rtt_ms: u32, act: impl FnOnce(&Delaying)) -> Delayed {
    let mut text = server.clone();
    text["rtt_s"] = json!(f64::from(rtt_ms) / 1000.0);
    let document = DelayDocument::parse(&text.to_string()).unwrap();
    let is_over = AtomicBool::new(false);
    let (ready_sender, ready_receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        let proxy = scope.spawn(|| {
            let mut ready = |delaying: &Delaying| {
                ready_sender.send(delaying.clone()).unwrap();
                ControlFlow::Continue(())
            };
            delay(&document, &mut ready, &mut || match is_over.load(Ordering::Relaxed) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            })
        });
        let end = EndOnDrop(&is_over);
        let delaying = ready_receiver.recv().unwrap();
        act(&delaying);
        drop(end);
        proxy.join().unwrap().unwrap()
    })
}

fn connect(delaying: &Delaying) -> TcpStream {
    let stream = TcpStream::connect((delaying.host.as_str(), delaying.port)).unwrap();
    stream.set_nodelay(true).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream
}

/// A server that sends back what it gets, until its client has no more.
fn echo() -> Value {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            stream.set_nodelay(true).unwrap();
            std::thread::spawn(move || {
                let mut answers = stream.try_clone().unwrap();
                std::io::copy(&mut stream, &mut answers).unwrap();
                answers.shutdown(Shutdown::Write).unwrap();
            });
        }
    });
    json!({ "host": "127.0.0.1", "port": port })
}

#[test]
fn each_round_trip_takes_its_time_and_those_on_the_way_overlap() {
    on_a_quiet_machine(|| {
        let rtt = Duration::from_millis(40);
        let done = delayed(&echo(), 40, |delaying| {
            assert!(delaying.measured_rtt_ns >= 40_000_000, "{delaying:?}");
            assert!(delaying.direct_rtt_ns < 40_000_000, "{delaying:?}");
            assert!(delaying.round_trip_cpu_ns > 0, "{delaying:?}");
            let mut stream = connect(delaying);
            let mut answer = [0; 8];
            stream.write_all(b"the 1st!").unwrap();
            stream.read_exact(&mut answer).unwrap();
            for _ in 0..3 {
                let began = Instant::now();
                stream.write_all(b"question").unwrap();
                stream.read_exact(&mut answer).unwrap();
                assert!(began.elapsed() >= rtt, "{:?}", began.elapsed());
            }
            // Twenty packets, each 5 ms behind the one before: one behind another they would take 800 ms.
            let began = Instant::now();
            let mut reader = stream.try_clone().unwrap();
            let answered = std::thread::spawn(move || {
                let mut arrived = Vec::new();
                for _ in 0..20 {
                    let mut answer = [0; 8];
                    reader.read_exact(&mut answer).unwrap();
                    arrived.push(began.elapsed());
                }
                arrived
            });
            let mut sent = Vec::new();
            for _ in 0..20 {
                sent.push(began.elapsed());
                stream.write_all(b"question").unwrap();
                std::thread::sleep(Duration::from_millis(5));
            }
            let arrived = answered.join().unwrap();
            for (sent, arrived) in sent.iter().zip(&arrived) {
                assert!(*arrived >= *sent + rtt, "{sent:?} {arrived:?}");
            }
            assert!(arrived[19] - arrived[0] < 20 * rtt, "{arrived:?}");
        });
        assert_eq!(done.connections, 1);
    });
}

#[test]
fn a_connection_opens_as_slowly_as_over_the_distance() {
    delayed(&echo(), 50, |delaying| {
        let began = Instant::now();
        let mut stream = connect(delaying);
        stream.write_all(b"x").unwrap();
        stream.read_exact(&mut [0]).unwrap();
        // The handshake is one round trip, the question another.
        assert!(began.elapsed() >= Duration::from_millis(100));
    });
}

#[test]
fn many_bytes_arrive_in_order_and_the_end_behind_them() {
    const MOST: usize = 24 << 20;
    let bytes: Vec<u8> = (0u32..)
        .flat_map(|number| number.wrapping_mul(2_654_435_761).to_le_bytes())
        .take(MOST)
        .collect();
    delayed(&echo(), 20, |delaying| {
        let mut stream = connect(delaying);
        let mut reader = stream.try_clone().unwrap();
        let received = std::thread::spawn(move || {
            let mut received = Vec::new();
            reader.read_to_end(&mut received).unwrap();
            received
        });
        for (number, piece) in bytes.chunks(70_001).enumerate() {
            stream.write_all(&piece[..1]).unwrap();
            stream.write_all(&piece[1..]).unwrap();
            if number % 100 == 0 {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        stream.shutdown(Shutdown::Write).unwrap();
        assert!(received.join().unwrap() == bytes, "other bytes arrived");
    });
}

#[test]
fn what_a_server_said_before_it_left_arrives() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("server.sock");
    let listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(b"too many sessions").unwrap();
    });
    delayed(&json!({ "unix": socket }), 20, |delaying| {
        let mut stream = connect(delaying);
        // It is sent to nobody: the server does not read.
        stream.write_all(&[0; 4096]).unwrap();
        let mut said = Vec::new();
        match stream.read_to_end(&mut said) {
            Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset),
            Ok(_) => assert_eq!(said, b"too many sessions"),
        }
        assert_eq!(said, b"too many sessions");
        // Nobody listens behind the socket any more: the next client finds its connection ended.
        let mut other = connect(delaying);
        let ended = other.read_to_end(&mut said);
        assert!(
            matches!(ended, Ok(0))
                || ended.is_err_and(|error| error.kind() == ErrorKind::ConnectionReset)
        );
    });
}
