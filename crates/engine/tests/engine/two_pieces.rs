//! A server whose error and “ready” arrive separately in the middle of a bulk load, as with a real server
//! only now and then: its side of the protocol is replayed from fixed bytes.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::Duration;

use assay_engine::{EngineError, LoadDocument, load};
use serde_json::json;

use crate::support::rows::Counting;

const AUTHENTICATED: &[u8] = b"R\0\0\0\x08\0\0\0\0";
const READY: &[u8] = b"Z\0\0\0\x05I";
const COPY_IN: &[u8] = b"G\0\0\0\x07\0\0\0";
const ERROR: &[u8] = b"E\0\0\0\x23SERROR\0C22P02\0Minvalid syntax\0\0";

#[test]
fn an_error_in_two_pieces_is_one_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| play(listener.accept().unwrap().0));
        let error = try_load(&path);
        let EngineError::System(error, _) = error else {
            panic!("{error:?}")
        };
        assert_eq!(
            (error.class.word(), error.message.as_str()),
            ("data", "invalid syntax")
        );
    });
}

fn play(mut stream: UnixStream) {
    let mut buffer = vec![0; 1 << 20];
    let mut receive = |stream: &mut UnixStream| match stream.read(&mut buffer).unwrap() {
        0 => panic!("the client hung up early"),
        count => count,
    };
    receive(&mut stream);
    stream.write_all(&[AUTHENTICATED, READY].concat()).unwrap();
    receive(&mut stream);
    stream.write_all(COPY_IN).unwrap();
    let mut taken = 0;
    while taken < 200_000 {
        taken += receive(&mut stream);
    }
    stream.write_all(ERROR).unwrap();
    while taken < 2_000_000 {
        taken += receive(&mut stream);
    }
    // Rows were sent after the error: now the rest of it follows.
    std::thread::sleep(Duration::from_millis(10));
    stream.write_all(READY).unwrap();
    std::io::copy(&mut stream, &mut std::io::sink()).unwrap();
}

fn try_load(socket: &Path) -> EngineError {
    let document = json!({
        "deployment": { "driver": "postgresql", "unix": socket, "user": "test" },
        "tables": [{ "name": "t", "bulk": "COPY t FROM STDIN", "form": "native" }],
    });
    let document = LoadDocument::parse(&document.to_string()).unwrap();
    let mut source = Counting::new(1, 100_000_000);
    load(&document, &mut source, &mut |_| {
        std::ops::ControlFlow::Continue(())
    })
    .unwrap_err()
}
