//! Takes a request that ended; returns its bytes in the file of the account, and back.
//!
//! The file begins with 32 bytes: the magic word, the version, the bytes of a row, and one instant on both
//! clocks, monotonic and since 1970. Rows of 48 bytes follow, all numbers little-endian. A process that is
//! killed leaves a part of a row at the end at most.

use crate::model::Operation;

pub const MAGIC: &[u8; 8] = b"ASSAYDSK";
pub const VERSION: u32 = 1;
pub const HEADER_BYTES: usize = 32;
pub const ROW_BYTES: usize = 48;

const READ: u8 = 1;
const WRITE: u8 = 2;
const FLUSH: u8 = 3;
/// A row that says how many rows before it are missing.
const LOST: u8 = 255;

/// A request that ended, with instants of the monotonic clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// What it asked.
    pub operation: Operation,
    /// First byte; 0 for a flush.
    pub offset: u64,
    /// Number of bytes; 0 for a flush.
    pub length: u32,
    /// When it reached the process.
    pub arrival_ns: u64,
    /// When the modelled disk began to work on it.
    pub start_ns: u64,
    /// When the modelled disk ended it.
    pub modelled_end_ns: u64,
    /// When it was answered.
    pub end_ns: u64,
    /// 0, or the error that it was answered with.
    pub errno: u16,
}

/// What 48 bytes of the file say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A request.
    Row(Row),
    /// Rows that are missing before the next one.
    Lost(Gap),
}

/// Rows that are missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gap {
    /// How many.
    pub count: u64,
    /// When the first and the last of them were answered; none where rows were too many to look at.
    pub ended_ns: Option<(u64, u64)>,
}

impl Gap {
    /// So many more, answered by then.
    pub(super) fn add(&mut self, count: u64, end_ns: u64) {
        self.count += count;
        let (first, last) = self.ended_ns.unwrap_or((end_ns, end_ns));
        self.ended_ns = Some((first.min(end_ns), last.max(end_ns)));
    }

    pub(super) fn encode(&self) -> [u8; ROW_BYTES] {
        let (first_ns, last_ns) = self.ended_ns.unwrap_or_default();
        encoded([self.count, first_ns, last_ns, 0, 0], 0, LOST, 0)
    }
}

pub fn header(monotonic_ns: u64, realtime_ns: u64) -> [u8; HEADER_BYTES] {
    let mut bytes = [0; HEADER_BYTES];
    bytes[..8].copy_from_slice(MAGIC);
    bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
    bytes[12..16].copy_from_slice(&48_u32.to_le_bytes());
    bytes[16..24].copy_from_slice(&monotonic_ns.to_le_bytes());
    bytes[24..32].copy_from_slice(&realtime_ns.to_le_bytes());
    bytes
}

fn encoded(numbers: [u64; 5], length: u32, kind: u8, errno: u16) -> [u8; ROW_BYTES] {
    let mut bytes = [0; ROW_BYTES];
    for (place, number) in bytes.chunks_exact_mut(8).zip(numbers) {
        place.copy_from_slice(&number.to_le_bytes());
    }
    bytes[40..44].copy_from_slice(&length.to_le_bytes());
    bytes[44] = kind;
    bytes[46..48].copy_from_slice(&errno.to_le_bytes());
    bytes
}

impl Row {
    pub(super) fn encode(&self) -> [u8; ROW_BYTES] {
        let kind = match self.operation {
            Operation::Read => READ,
            Operation::Write => WRITE,
            Operation::Flush => FLUSH,
        };
        let numbers = [
            self.offset,
            self.arrival_ns,
            self.start_ns,
            self.modelled_end_ns,
            self.end_ns,
        ];
        encoded(numbers, self.length, kind, self.errno)
    }
}

fn number(bytes: &[u8], place: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[place * 8..place * 8 + 8]);
    u64::from_le_bytes(word)
}

/// None if these bytes are no row.
pub fn decode(bytes: &[u8; ROW_BYTES]) -> Option<Entry> {
    let operation = match bytes[44] {
        READ => Operation::Read,
        WRITE => Operation::Write,
        FLUSH => Operation::Flush,
        LOST => {
            let ended_ns = (number(bytes, 1), number(bytes, 2));
            return Some(Entry::Lost(Gap {
                count: number(bytes, 0),
                ended_ns: (ended_ns != (0, 0)).then_some(ended_ns),
            }));
        }
        _ => return None,
    };
    Some(Entry::Row(Row {
        operation,
        offset: number(bytes, 0),
        arrival_ns: number(bytes, 1),
        start_ns: number(bytes, 2),
        modelled_end_ns: number(bytes, 3),
        end_ns: number(bytes, 4),
        length: u32::from_le_bytes([bytes[40], bytes[41], bytes[42], bytes[43]]),
        errno: u16::from_le_bytes([bytes[46], bytes[47]]),
    }))
}

/// The two instants of a header; an error says what was expected.
pub fn decode_header(bytes: &[u8; HEADER_BYTES]) -> Result<(u64, u64), String> {
    if &bytes[..8] != MAGIC {
        return Err("expected the account of a modelled disk; this is another file".to_owned());
    }
    let version = u32::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]);
    if version != VERSION {
        return Err(format!(
            "expected version {VERSION} of the account, found {version}"
        ));
    }
    Ok((number(bytes, 2), number(bytes, 3)))
}
