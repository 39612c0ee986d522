//! Tests SCRAM-SHA-256 with the password and salt of RFC 7677 section 3, whose keys are known.
//!
//! The client's nonce is random, so the exchange cannot be a recording: the test acts as the
//! server, with keys computed independently (Python's hashlib and hmac), which agree with the RFC's
//! example.

use assay_drivers::postgresql::PostgresqlWire;
use assay_drivers::{ConnectOptions, ErrorClass, Progress, SystemError, Wire as _};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};

use crate::postgresql::conversation;

/// `pencil`, salted with `W22ZaJ0SNY7soEsUEjb6gQ==` and 4096 iterations: H(ClientKey) and ServerKey.
const STORED_KEY: &str = "WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=";
const SERVER_KEY: &str = "wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=";
const SERVER_NONCE: &str = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";

fn hmac(key: &[u8], text: &str) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC accepts any key length");
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().into()
}

fn message(code: i32, text: &str) -> Vec<u8> {
    let length = u32::try_from(8 + text.len()).expect("it is short");
    [
        b"R",
        &length.to_be_bytes()[..],
        &code.to_be_bytes(),
        text.as_bytes(),
    ]
    .concat()
}

/// Acts as the server. `spoil` changes its final signature. Returns whether the client's proof is right, and
/// the driver's result for the server's signature.
fn exchange(password: &str, spoil: bool) -> (bool, Result<(usize, Progress), SystemError>) {
    let options = ConnectOptions {
        user: "user".into(),
        password: Some(password.into()),
        ..ConnectOptions::default()
    };
    let mut wire = PostgresqlWire::new(options);
    let (mut out, mut answer) = (Vec::new(), conversation::answer());
    wire.connected(&mut out);
    let mut say = |bytes: &[u8]| {
        out.clear();
        let result = wire.receive(bytes, &mut out, &mut answer);
        (result, out.clone())
    };

    let (_, first) = say(&message(10, "SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0"));
    let head = b"SCRAM-SHA-256\0";
    assert_eq!(first[0], b'p');
    assert_eq!(&first[5..5 + head.len()], head);
    let client_first = std::str::from_utf8(&first[5 + head.len() + 4..]).expect("SCRAM is text");
    let bare = client_first
        .strip_prefix("n,,")
        .expect("no channel binding");
    let nonce = bare
        .strip_prefix("n=,r=")
        .expect("the name is in the startup message");
    assert!(
        nonce.len() >= 18,
        "a nonce that cannot be guessed, not {nonce}"
    );

    let server_first = format!("r={nonce}{SERVER_NONCE},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096");
    let (_, last) = say(&message(11, &server_first));
    let client_final = std::str::from_utf8(&last[5..]).expect("SCRAM is text");
    let (unproven, proof) = client_final.rsplit_once(",p=").expect("a proof is last");
    assert_eq!(unproven, format!("c=biws,r={nonce}{SERVER_NONCE}"));

    let decode = |text: &str| STANDARD.decode(text).expect("base64");
    let signed = format!("{bare},{server_first},{unproven}");
    let signature = hmac(&decode(STORED_KEY), &signed);
    let client_key: Vec<u8> = decode(proof)
        .iter()
        .zip(signature)
        .map(|(a, b)| a ^ b)
        .collect();
    let is_proven = Sha256::digest(&client_key).as_slice() == decode(STORED_KEY);

    let mut server_signature = hmac(&decode(SERVER_KEY), &signed);
    server_signature[0] ^= u8::from(spoil);
    let server_final = format!("v={}", STANDARD.encode(server_signature));
    (is_proven, say(&message(12, &server_final)).0)
}

#[test]
fn only_the_right_password_gives_a_valid_proof() {
    assert!(exchange("pencil", false).0);
    assert!(!exchange("pen", false).0);
}

#[test]
fn a_server_that_does_not_know_the_password_is_refused() {
    assert_eq!(
        exchange("pencil", false)
            .1
            .expect("the signature is right")
            .1,
        Progress::NeedMore
    );
    let error = exchange("pencil", true)
        .1
        .expect_err("its signature is wrong");
    assert_eq!(error.class, ErrorClass::Authentication);
}

#[test]
fn a_server_that_skips_its_proof_is_refused() {
    let options = ConnectOptions {
        password: Some("pencil".into()),
        ..ConnectOptions::default()
    };
    let mut wire = PostgresqlWire::new(options);
    let (mut out, mut answer) = (Vec::new(), conversation::answer());
    wire.connected(&mut out);
    let skipping = [message(10, "SCRAM-SHA-256\0\0"), message(0, "")].concat();
    let error = wire
        .receive(&skipping, &mut out, &mut answer)
        .expect_err("no proof came");
    assert_eq!(error.class, ErrorClass::Protocol);
}
