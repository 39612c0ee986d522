//! A server of PostgreSQL's protocol whose answers a test writes, for what a real one cannot be made to answer.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

const CANCEL: u32 = 80_877_102;

/// What a session asks.
#[derive(Debug)]
pub enum Asked {
    /// A text.
    Query(String),
    /// The end of a request in several messages: the tags of those before it.
    Sync(String),
}

pub struct Scripted {
    folder: tempfile::TempDir,
}

impl Scripted {
    /// `answer` gets what is asked, and its number among all that sessions have asked; it returns the bytes of the
    /// answer. The request to cancel a statement closes all sessions.
    pub fn start(answer: impl Fn(u32, &Asked) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(folder.path().join("socket")).unwrap();
        let (answer, asked, open) = (Arc::new(answer), Arc::default(), Arc::default());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let answer = Arc::clone(&answer);
                let (asked, open) = (Arc::clone(&asked), Arc::clone(&open));
                std::thread::spawn(move || serve(stream, &*answer, &asked, &open));
            }
        });
        Self { folder }
    }

    pub fn deployment(&self) -> Value {
        json!({ "driver": "postgresql", "unix": self.folder.path().join("socket"), "user": "test" })
    }
}

fn serve(
    mut stream: UnixStream,
    answer: &(impl Fn(u32, &Asked) -> Vec<u8> + ?Sized),
    asked: &Mutex<u32>,
    open: &Mutex<Vec<UnixStream>>,
) -> Option<()> {
    let start = body(&mut stream).ok()?;
    if start[..4] == CANCEL.to_be_bytes() {
        for session in open.lock().unwrap().drain(..) {
            let _ = session.shutdown(Shutdown::Both);
        }
        return None;
    }
    open.lock().unwrap().push(stream.try_clone().ok()?);
    let login = [message(b'R', &[0; 4]), message(b'K', &[0, 0, 0, 1, 0, 0, 0, 2]), ready(b'I')];
    stream.write_all(&login.concat()).ok()?;
    let mut tags = String::new();
    loop {
        let mut tag = [0];
        stream.read_exact(&mut tag).ok()?;
        let text = body(&mut stream).ok()?;
        let now = match tag[0] {
            b'X' => return None,
            b'Q' => Asked::Query(String::from_utf8_lossy(&text[..text.len() - 1]).into_owned()),
            b'S' => Asked::Sync(std::mem::take(&mut tags)),
            other => {
                tags.push(other.into());
                continue;
            }
        };
        let number = {
            let mut asked = asked.lock().unwrap();
            *asked += 1;
            *asked
        };
        stream.write_all(&answer(number, &now)).ok()?;
    }
}

/// The rest of a message, after its length.
fn body(stream: &mut UnixStream) -> io::Result<Vec<u8>> {
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let mut body = vec![0; u32::from_be_bytes(length) as usize - 4];
    stream.read_exact(&mut body)?;
    Ok(body)
}

pub fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).unwrap();
    [&[tag], &length.to_be_bytes()[..], body].concat()
}

/// A statement is complete; its command is `tag`.
pub fn complete(tag: &str) -> Vec<u8> {
    message(b'C', format!("{tag}\0").as_bytes())
}

pub fn error(code: &str) -> Vec<u8> {
    message(
        b'E',
        format!("SERROR\0VERROR\0C{code}\0Mscripted\0\0").as_bytes(),
    )
}

/// The next request may come; the state of the transaction.
pub fn ready(status: u8) -> Vec<u8> {
    message(b'Z', &[status])
}
