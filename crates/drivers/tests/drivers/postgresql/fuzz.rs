//! Randomly mutated recordings, with a fixed seed: the driver may refuse them, but must not panic or hang.

use assay_drivers::postgresql::PostgresqlWire;
use assay_drivers::{Keep, Progress, Wire as _};

use crate::postgresql::conversation::{self, Conversation};
use crate::postgresql::recorded;

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014, figure 13).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end.max(1) as u64).expect("it is below a usize")
    }
}

#[expect(clippy::cast_possible_truncation, reason = "any byte will do")]
fn break_bytes(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len());
        match random.below(5) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, random.next() as u8),
            2 if !bytes.is_empty() => drop(bytes.remove(at)),
            // Small bytes more often: they are lengths and counts.
            3 if !bytes.is_empty() => bytes[at] = random.below(6) as u8,
            _ if !bytes.is_empty() => bytes[at] ^= 1 << random.below(8),
            _ => {}
        }
    }
}

#[test]
fn broken_bytes_are_refused_and_never_panic() {
    let mut refused = 0;
    for seed in 0..3_000 {
        let mut random = Random(seed);
        let (_, text) = recorded::ALL[random.below(recorded::ALL.len())];
        let conversation = Conversation::read(text);
        let broken_step = random.below(conversation.steps.len());
        let mut wire = PostgresqlWire::new(conversation.options);
        let mut answer = conversation::answer();
        'session: for (index, mut step) in conversation.steps.into_iter().enumerate() {
            let (mut out, mut input) = (Vec::new(), Vec::new());
            answer.clear([Keep::Count, Keep::Digest, Keep::Rows][random.below(3)]);
            if conversation::begin(&mut wire, &step.request, &mut out).is_err() {
                break;
            }
            if index == broken_step {
                break_bytes(&mut step.received, &mut random);
            }
            let piece = 1 + random.below(64);
            for part in step.received.chunks(piece) {
                input.extend_from_slice(part);
                match wire.receive(&input, &mut out, &mut answer) {
                    Ok((used, Progress::NeedMore)) => drop(input.drain(..used)),
                    Ok((used, _)) => {
                        assert!(
                            used <= input.len(),
                            "seed {seed}: used more bytes than were received"
                        );
                        break;
                    }
                    Err(_) => {
                        refused += 1;
                        assert!(
                            wire.receive(b"Z\0\0\0\x05I", &mut out, &mut answer)
                                .is_err()
                        );
                        break 'session;
                    }
                }
            }
        }
    }
    assert!(
        refused > 500,
        "only {refused} of 3000 mutated conversations were refused"
    );
}
