//! What the engine does itself (it makes requests, runs commands, cancels statements) is not charged to the server,
//! nor to the clients of the same thread. The server of these tests answers when something else has happened.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{driven, null_deployment, outcomes};

/// Only a hang takes so long.
const LIMIT: Duration = Duration::from_secs(60);
const CANCEL_REQUEST: i32 = 80_877_102;

/// A server that speaks PostgreSQL's simple protocol. `SELECT stall` is answered once it was cancelled, and a request
/// to cancel is taken once three other statements were answered after it. A request to cancel `SELECT ninth` is taken
/// at once, and those before only after it.
#[derive(Default)]
struct Scripted {
    sessions: AtomicI32,
    answered: AtomicU32,
    /// The sessions whose statements were cancelled.
    cancelled: Mutex<Vec<i32>>,
    /// Others were answered while a request to cancel was under way.
    others_went_on: AtomicBool,
    /// The session of `SELECT ninth`.
    ninth: AtomicI32,
    /// Requests to cancel that are not taken yet.
    waiting: AtomicU32,
    /// Made when this statement arrives.
    announces: Option<(&'static str, PathBuf)>,
    /// What has arrived.
    arrived: Mutex<Vec<(String, Instant)>>,
}

impl Scripted {
    fn start(self) -> (Arc<Self>, Value) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = Arc::new(self);
        let accepting = Arc::clone(&server);
        // It ends with the process.
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let server = Arc::clone(&accepting);
                std::thread::spawn(move || server.serve(stream.unwrap()));
            }
        });
        let deployment = json!({
            "driver": "postgresql", "host": "127.0.0.1", "port": port, "user": "u", "database": "d",
        });
        (server, deployment)
    }

    /// Ends when the client has closed the connection.
    fn serve(&self, mut stream: TcpStream) -> Option<()> {
        stream.set_nodelay(true).ok()?;
        let opening = body(&mut stream)?;
        let code = i32::from_be_bytes(opening[..4].try_into().unwrap());
        if code == CANCEL_REQUEST {
            let session = i32::from_be_bytes(opening[4..8].try_into().unwrap());
            self.cancel(stream, session);
            return None;
        }
        let session = self.sessions.fetch_add(1, Ordering::SeqCst) + 1;
        let key = [session.to_be_bytes(), [0, 0, 0, 9]].concat();
        send(&mut stream, b'R', &[0; 4])?;
        send(&mut stream, b'K', &key)?;
        send(&mut stream, b'Z', b"I")?;
        loop {
            let mut tag = [0];
            stream.read_exact(&mut tag).ok()?;
            let text = body(&mut stream)?;
            if tag != *b"Q" {
                return None;
            }
            let text = String::from_utf8_lossy(&text)
                .trim_end_matches(['\0', ';'])
                .to_owned();
            self.arrived
                .lock()
                .unwrap()
                .push((text.clone(), Instant::now()));
            if let Some((_, path)) = self.announces.as_ref().filter(|(one, _)| *one == text) {
                std::fs::write(path, "").unwrap();
            }
            if ["SELECT stall", "SELECT ninth"].contains(&&*text) {
                if text == "SELECT ninth" {
                    self.ninth.store(session, Ordering::SeqCst);
                }
                wait_until(|| self.is_cancelled(session));
                self.cancelled.lock().unwrap().retain(|one| *one != session);
                send(&mut stream, b'E', b"SERROR\0C57014\0Mcancelled\0\0")?;
            } else {
                self.answered.fetch_add(1, Ordering::SeqCst);
                send(&mut stream, b'C', b"SELECT 1\0")?;
            }
            send(&mut stream, b'Z', b"I")?;
        }
    }

    fn is_cancelled(&self, session: i32) -> bool {
        self.cancelled.lock().unwrap().contains(&session)
    }

    fn cancel(&self, mut stream: TcpStream, session: i32) {
        let enough = self.answered.load(Ordering::SeqCst) + 3;
        stream.set_nonblocking(true).unwrap();
        let others = self.waiting.fetch_add(1, Ordering::SeqCst);
        wait_until(|| {
            let ninth = self.ninth.load(Ordering::SeqCst);
            let went_on = match ninth {
                0 => self.answered.load(Ordering::SeqCst) >= enough,
                _ => session == ninth && others == 8,
            };
            if went_on {
                self.others_went_on.store(true, Ordering::SeqCst);
            }
            let is_closed = matches!(stream.read(&mut [0]), Ok(0));
            let are_let_go = ninth != 0 && self.others_went_on.load(Ordering::SeqCst);
            went_on || is_closed || session == ninth || are_let_go
        });
        self.cancelled.lock().unwrap().push(session);
        self.waiting.fetch_sub(1, Ordering::SeqCst);
    }
}

fn body(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut length = [0; 4];
    stream.read_exact(&mut length).ok()?;
    let mut body = vec![0; usize::try_from(i32::from_be_bytes(length)).unwrap() - 4];
    stream.read_exact(&mut body).ok()?;
    Some(body)
}

fn send(stream: &mut TcpStream, tag: u8, body: &[u8]) -> Option<()> {
    let length = i32::try_from(body.len() + 4).unwrap().to_be_bytes();
    let message = [&[tag], &length[..], body].concat();
    stream.write_all(&message).ok()
}

fn wait_until(mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() && began.elapsed() < LIMIT {
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn other_clients_of_the_thread_go_on_while_a_statement_is_cancelled() {
    let (server, deployment) = Scripted::default().start();
    let script = "\\if :client_id = 0\nSELECT stall;\n\\else\nSELECT 1;\n\\sleep 1 ms\n\\endif";
    let more = json!({
        "clients": 2, "threads": 1, "protocol": "simple", "statement_limit_s": 0.1,
        "stop": { "duration_s": 1.0 },
    });
    let run = driven(deployment, &[script], more);
    assert!(run.outcomes.failed >= 1, "{:?}", run.outcomes);
    assert_eq!((run.outcomes.unknown, run.ended_by.word()), (0, "stop"));
    assert!(server.others_went_on.load(Ordering::SeqCst));
}

#[test]
fn eight_requests_to_cancel_that_hang_do_not_delay_the_ninth() {
    let (server, deployment) = Scripted::default().start();
    let script =
        "\\if :client_id = 8\n\\sleep 500 ms\nSELECT ninth;\n\\else\nSELECT stall;\n\\endif";
    let run = driven(
        deployment,
        &[script],
        json!({ "clients": 9, "threads": 1, "protocol": "simple", "statement_limit_s": 0.1 }),
    );
    assert_eq!(outcomes(&run), (0, 0, 9, 0), "{:?}", run.errors);
    assert!(server.others_went_on.load(Ordering::SeqCst));
}

/// A command that waits until the file is there.
fn wait_for(path: &Path) -> String {
    let path = path.display();
    format!(
        "\\shell i=0; until test -e {path}; do i=$((i+1)); test $i -lt 200 || exit 1; sleep 0.1; done"
    )
}

#[test]
fn other_clients_of_the_thread_go_on_while_a_command_runs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("arrived");
    let server = Scripted {
        announces: Some(("SELECT 6", path.clone())),
        ..Scripted::default()
    };
    let (server, deployment) = server.start();
    let script = format!(
        "\\if :client_id = 0\n{}\n\\setshell n echo 7\n\\else\n\\set n 6\n\\endif\nSELECT :n;",
        wait_for(&path)
    );
    let more = json!({ "clients": 2, "threads": 1, "protocol": "simple", "allow_shell": true });
    let run = driven(deployment, &[&script], more);
    assert_eq!(outcomes(&run), (2, 0, 0, 0), "{:?}", run.errors);
    let arrived = server.arrived.lock().unwrap();
    let texts: Vec<&str> = arrived.iter().map(|(text, _)| text.as_str()).collect();
    assert_eq!(texts, ["SELECT 6", "SELECT 7"]);
}

#[test]
fn after_a_stall_the_first_requests_are_sent_before_the_last_are_made() {
    let (server, deployment) = Scripted::default().start();
    // All that becomes due while the values of the 5th are made is begun at once after it. To make those of each takes
    // some milliseconds.
    let long = "\\set t text(16000000, 16000000)\n".repeat(10);
    let script = format!(
        "\\if :transaction_number >= 5\n\\set t text(2000000, 2000000)\n\\endif\n\
         \\if :transaction_number = 5\n{long}\\endif\n\\set t 0\nSELECT :transaction_number;"
    );
    let more = json!({
        "clients": 100, "threads": 1, "protocol": "simple",
        "arrival": { "kind": "constant", "offered_rate_per_s": 400 }, "stop": { "transactions": 1 },
        "drain_s": 120,
    });
    let run = driven(deployment, &[&script], more);
    assert_eq!(outcomes(&run), (100, 0, 0, 0), "{:?}", run.errors);
    let arrived = server.arrived.lock().unwrap();
    let arrived_at = |text: &str| arrived.iter().find(|(one, _)| one == text).unwrap().1;
    let between = arrived_at("SELECT 99") - arrived_at("SELECT 6");
    assert!(between > Duration::from_millis(100), "{between:?}");
}

#[test]
fn a_command_of_the_script_is_in_the_latency_and_in_no_statement() {
    for is_wire in [true, false] {
        let deployment = match is_wire {
            true => Scripted::default().start().1,
            false => null_deployment("program", json!({})),
        };
        let more = json!({ "protocol": "simple", "per_statement": true, "allow_shell": true });
        let run = driven(deployment, &["\\shell sleep 0.3\nSELECT 1;"], more);
        let [statement] = &run.per_statement[..] else {
            panic!("{:?}", run.per_statement)
        };
        let (latency, service) = (run.all_ok.latency.max_ns, statement.service_time.min_ns);
        assert!(latency >= service + 290_000_000, "{latency} {service}");
    }
}
