//! Runs the fuzz targets of the wire codecs for a few seconds without a fuzzer, on randomly mutated
//! conversations and random bytes, with fixed seeds. `ASSAY_TEST_SEEDS=FOLDER` writes unmutated conversations
//! there, as seeds for a fuzzer.

#[path = "../../../../fuzz/src/wire.rs"]
pub mod wire;

use assay_drivers::registry::{DRIVERS, SessionKind};
use assay_drivers::servers::SERVERS;
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
fn run(body: fn(&str, &[u8]), protocol: &str, conversation: &[u8]) {
    for seed in 0..ROUNDS {
        let mut random = Random::stream(seed, 0);
        // A random prefix, so that every message can be the mutated one.
        let mut data = vec![random.next() as u8, random.next() as u8];
        if seed % 8 == 0 {
            data.extend((0..below(300, &mut random)).map(|_| random.next() as u8));
        } else {
            data.extend(broken(conversation, &mut random));
        }
        body(protocol, &data);
    }
}

fn protocols() -> impl Iterator<Item = &'static str> {
    SERVERS.iter().map(|known| known.name).chain(wire::VARIANTS)
}

/// Returns the conversation; writes it to a file if `ASSAY_TEST_SEEDS` is set.
fn seeded(target: &str, conversation: Vec<u8>) -> Vec<u8> {
    if let Ok(folder) = std::env::var("ASSAY_TEST_SEEDS") {
        let folder = Path::new(&folder).join(target);
        let data = [&[255, 128][..], &conversation].concat();
        std::fs::create_dir_all(&folder).expect("the folder can be made");
        std::fs::write(folder.join("conversation"), data).expect("the file can be written");
    }
    conversation
}

/// A wire driver that is registered has a fuzz target for what a server sends, and is tried below; a null
/// server one for what a client sends.
#[test]
fn every_codec_of_the_registry_is_fuzzed() {
    let manifest = include_str!("../../../../fuzz/Cargo.toml");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/fuzz_targets");
    let is_wire = |sessions| matches!(sessions, SessionKind::Wire(_));
    let wires: Vec<_> = (DRIVERS.iter().filter(|driver| is_wire(driver.sessions)))
        .map(|driver| driver.name)
        .collect();
    let clients = wires.iter().map(|name| (*name, "client"));
    let servers = SERVERS.iter().map(|protocol| (protocol.name, "server"));
    for (protocol, side) in clients.chain(servers) {
        let target = format!("{protocol}_{side}");
        let text = std::fs::read_to_string(folder.join(format!("{target}.rs"))).unwrap_or_default();
        let calls = format!("wire::{side}(\"{protocol}");
        assert!(text.contains(&calls), "fuzz/fuzz_targets/{target}.rs: expected {calls}");
        let named = format!("name = \"{target}\"");
        assert!(manifest.contains(&named), "fuzz/Cargo.toml: expected {named}");
    }
    for driver in wires {
        let is_tried = protocols().any(|protocol| protocol == driver);
        assert!(is_tried, "{driver} has no null server to mutate conversations of");
    }
}

#[test]
fn broken_bytes_from_a_server_are_refused_and_never_panic() {
    for protocol in protocols() {
        let (_, received) = wire::conversation(protocol);
        let received = seeded(&format!("{protocol}_client"), received);
        run(wire::client, protocol, &received);
    }
}

#[test]
fn broken_bytes_from_a_client_are_refused_and_never_panic() {
    for protocol in protocols() {
        let (sent, _) = wire::conversation(protocol);
        let sent = seeded(&format!("{protocol}_server"), sent);
        run(wire::server, protocol, &sent);
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
