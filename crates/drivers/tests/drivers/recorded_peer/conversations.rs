//! Files of conversations with a server: a line for each event.

use std::fmt::Write as _;
use std::path::PathBuf;

use super::Event;

fn file(driver: &str, name: &str) -> PathBuf {
    let tests = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/drivers");
    (tests.join(driver).join("conversations").join(name)).with_extension("txt")
}

pub fn write(driver: &str, name: &str, events: &[Event]) {
    let mut text = String::new();
    for event in events {
        let (mark, line) = match event {
            Event::Sent(bytes) => ('>', hex(bytes)),
            Event::Received(bytes) => ('<', hex(bytes)),
            Event::Said(said) => ('=', said.clone()),
        };
        writeln!(text, "{mark} {line}").expect("memory is written to");
    }
    std::fs::write(file(driver, name), text).expect("the file can be written");
}

pub fn read(driver: &str, name: &str) -> Vec<Event> {
    let text = std::fs::read_to_string(file(driver, name)).expect("it was recorded");
    let event = |line: &str| {
        let (mark, line) = line.split_at(2);
        match mark {
            "> " => Event::Sent(bytes(line)),
            "< " => Event::Received(bytes(line)),
            _ => Event::Said(line.to_owned()),
        }
    };
    text.lines().map(event).collect()
}

/// What the driver made of it all.
pub fn said(events: &[Event]) -> Vec<&str> {
    (events.iter())
        .filter_map(|event| match event {
            Event::Said(text) => Some(text.as_str()),
            _ => None,
        })
        .collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    let pairs = hex.as_bytes().chunks_exact(2);
    let byte = |pair: &[u8]| {
        let pair = std::str::from_utf8(pair).expect("digits");
        u8::from_str_radix(pair, 16).expect("digits")
    };
    pairs.map(byte).collect()
}
