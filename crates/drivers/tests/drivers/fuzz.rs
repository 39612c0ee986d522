//! Runs the fuzz targets of the wire codecs for a few seconds without a fuzzer, on randomly mutated
//! conversations and random bytes, with fixed seeds. `ASSAY_TEST_SEEDS=FOLDER` writes unmutated conversations
//! there, as seeds for a fuzzer.

#[path = "../../../../fuzz/src/wire.rs"]
pub mod wire;

use assay_drivers::registry::{DRIVERS, SessionKind};
use assay_values::Random;
use std::path::Path;

const ROUNDS: u64 = 4_000;

#[expect(clippy::cast_possible_truncation, reason = "any byte will do")]
/// Changes, removes or inserts a few bytes, or truncates.
pub fn broken(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=below(3, random) {
        let at = below(bytes.len(), random);
        match below(5, random) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, random.next() as u8),
            2 if !bytes.is_empty() => drop(bytes.remove(at)),
            // Small bytes more often: they are lengths and counts.
            3 if !bytes.is_empty() => bytes[at] = below(6, random) as u8,
            _ if !bytes.is_empty() => bytes[at] ^= 1 << below(8, random),
            _ => {}
        }
    }
    bytes
}

pub fn below(end: usize, random: &mut Random) -> usize {
    let highest = i64::try_from(end.max(1) - 1).expect("it is short");
    usize::try_from(random.between(0, highest)).expect("it is not below 0")
}

#[expect(clippy::cast_possible_truncation, reason = "any byte will do")]
fn run(side: fn(&str, &[u8]), number: u8, conversation: &[u8]) {
    for seed in 0..ROUNDS {
        let mut random = Random::stream(seed, 0);
        // A random prefix, so that every message can be the mutated one.
        let mut data = vec![number, random.next() as u8, random.next() as u8];
        if seed % 8 == 0 {
            data.extend((0..below(300, &mut random)).map(|_| random.next() as u8));
        } else {
            data.extend(broken(conversation, &mut random));
        }
        wire::any(side, &data);
    }
}

/// Returns the conversation; writes it to a file if `ASSAY_TEST_SEEDS` is set.
fn seeded(target: &str, number: u8, conversation: Vec<u8>) -> Vec<u8> {
    if let Ok(folder) = std::env::var("ASSAY_TEST_SEEDS") {
        let folder = Path::new(&folder).join(target);
        let data = [&[number, 255, 128][..], &conversation].concat();
        std::fs::create_dir_all(&folder).expect("the folder can be made");
        std::fs::write(folder.join(format!("conversation_{number}")), data)
            .expect("the file can be written");
    }
    conversation
}

#[test]
fn every_wire_driver_of_the_registry_is_fuzzed() {
    for driver in DRIVERS {
        let is_tried = wire::protocols().any(|protocol| protocol == driver.name);
        assert!(
            is_tried || !matches!(driver.sessions, SessionKind::Wire(_)),
            "{} has no null server to mutate conversations of",
            driver.name
        );
    }
}

#[test]
fn broken_bytes_from_a_server_are_refused_and_never_panic() {
    for (number, protocol) in (0..).zip(wire::protocols()) {
        let (_, received) = wire::conversation(protocol);
        let received = seeded("wire_client", number, received);
        run(wire::client, number, &received);
    }
}

#[test]
fn broken_bytes_from_a_client_are_refused_and_never_panic() {
    for (number, protocol) in (0..).zip(wire::protocols()) {
        let (sent, _) = wire::conversation(protocol);
        let sent = seeded("wire_server", number, sent);
        run(wire::server, number, &sent);
    }
}

/// Found by the fuzzer: a server may report more changed rows than 64 bits can count.
#[test]
fn row_counts_of_a_server_do_not_overflow() {
    const READY: &[u8] = b"Z\0\0\0\x05I";
    let (_, received) = wire::conversation("postgresql");
    let mut ends = (received.windows(READY.len()).enumerate())
        .filter(|(_, window)| *window == READY)
        .map(|(at, _)| at + READY.len());
    // The second ends the answer to the session statement; a text statement is sent next.
    let opening = &received[..ends.nth(1).expect("there are many")];
    let changed = b"C\0\0\0\x20UPDATE 18446744073709551615\0";
    let data = [&[255, 130], opening, changed, changed, READY].concat();
    wire::client("postgresql", &data);
}
