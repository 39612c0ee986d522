//! Takes a byte range of an array; returns where it lies on its disks, and back.
//!
//! RAID 0, 1, 10 and 5 as in D. Patterson, G. Gibson, R. Katz, "A case for redundant arrays of inexpensive
//! disks (RAID)", SIGMOD 1988; the parity of RAID 5 rotates as in Linux md's default ("left-symmetric").

use std::ops::Range;

use crate::error::DiskError;

/// How disks make one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Raid {
    /// Stripes.
    Raid0,
    /// Every disk has everything.
    Raid1,
    /// Stripes over pairs of mirrors; RAID 0+1 has the same times.
    Raid10,
    /// Stripes with rotating parity.
    Raid5,
}

/// Part of a range, on one column of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Which disk's worth of data in its row.
    pub column: usize,
    /// Which row of stripes.
    pub row: u64,
    /// On the disk.
    pub offset: u64,
    pub length: u64,
}

/// The layout of an array.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layout {
    pub raid: Raid,
    pub disks: usize,
    pub stripe_bytes: u64,
}

impl Layout {
    pub fn new(raid: Raid, disks: usize, stripe_bytes: u64) -> Result<Self, DiskError> {
        let (is_possible, expected) = match raid {
            Raid::Raid0 | Raid::Raid1 => (disks >= 2, "at least 2"),
            Raid::Raid10 => (
                disks >= 4 && disks.is_multiple_of(2),
                "an even number from 4",
            ),
            Raid::Raid5 => (disks >= 3, "at least 3"),
        };
        if !is_possible {
            let name = format!("{raid:?}").to_lowercase().replace("raid", "raid=");
            return Err(DiskError::argument(format!(
                "disks: {name} needs {expected}, found {disks}"
            )));
        }
        Ok(Self {
            raid,
            disks,
            stripe_bytes,
        })
    }

    /// Disks' worth of data.
    pub fn columns(&self) -> usize {
        match self.raid {
            Raid::Raid0 => self.disks,
            Raid::Raid1 => 1,
            Raid::Raid10 => self.disks / 2,
            Raid::Raid5 => self.disks - 1,
        }
    }

    fn column_count(&self) -> u64 {
        self.columns() as u64
    }

    /// The size of each disk.
    pub fn member_bytes(&self, size_bytes: u64) -> u64 {
        let row_bytes = self.stripe_bytes * self.column_count();
        size_bytes.div_ceil(row_bytes) * self.stripe_bytes
    }

    /// The pieces of a range, one for each stripe that it touches.
    pub fn pieces(&self, range: &Range<u64>) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut at = range.start;
        while at < range.end {
            let chunk = at / self.stripe_bytes;
            let end = range.end.min((chunk + 1) * self.stripe_bytes);
            let row = chunk / self.column_count();
            pieces.push(Piece {
                column: usize::try_from(chunk % self.column_count()).unwrap_or(0),
                row,
                offset: row * self.stripe_bytes + at % self.stripe_bytes,
                length: end - at,
            });
            at = end;
        }
        pieces
    }

    /// The disk with the parity of a row.
    pub fn parity_disk(&self, row: u64) -> usize {
        self.disks - 1 - usize::try_from(row % self.disks as u64).unwrap_or(0)
    }

    /// The disk of a column; of mirrors, the first.
    pub fn disk(&self, piece: &Piece) -> usize {
        match self.raid {
            Raid::Raid0 | Raid::Raid1 => piece.column,
            Raid::Raid10 => piece.column * 2,
            Raid::Raid5 => (self.parity_disk(piece.row) + 1 + piece.column) % self.disks,
        }
    }

    /// What a range of a disk is in the array. Nothing for parity, nor for the second disk of a mirror: after
    /// a power cut mirrors are made equal to the first.
    pub fn logical(&self, disk: usize, range: &Range<u64>) -> Vec<Range<u64>> {
        let mut found: Vec<Range<u64>> = Vec::new();
        let mut at = range.start;
        while at < range.end {
            let row = at / self.stripe_bytes;
            let end = range.end.min((row + 1) * self.stripe_bytes);
            let column = match self.raid {
                Raid::Raid0 => Some(disk),
                Raid::Raid1 => (disk == 0).then_some(0),
                Raid::Raid10 => disk.is_multiple_of(2).then_some(disk / 2),
                Raid::Raid5 => {
                    let parity = self.parity_disk(row);
                    (disk != parity).then(|| (disk + self.disks - parity - 1) % self.disks)
                }
            };
            if let Some(column) = column {
                let chunk = row * self.column_count() + column as u64;
                let start = chunk * self.stripe_bytes + at % self.stripe_bytes;
                let part = start..start + (end - at);
                match found.last_mut() {
                    Some(last) if last.end == part.start => last.end = part.end,
                    _ => found.push(part),
                }
            }
            at = end;
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::{Layout, Raid};

    const STRIPE: u64 = 65_536;

    #[test]
    fn pieces_lie_on_distinct_bytes_and_lead_back_to_the_range() {
        for (raid, disks) in [
            (Raid::Raid0, 3),
            (Raid::Raid1, 2),
            (Raid::Raid10, 6),
            (Raid::Raid5, 5),
        ] {
            let layout = Layout::new(raid, disks, STRIPE).expect("possible");
            let range = 12_345..12_345 + 40 * STRIPE;
            let mut back = Vec::new();
            let mut places = std::collections::BTreeSet::new();
            for piece in layout.pieces(&range) {
                let disk = layout.disk(&piece);
                assert!(places.insert((disk, piece.offset)), "{raid:?}");
                back.extend(layout.logical(disk, &(piece.offset..piece.offset + piece.length)));
            }
            let mut at = range.start;
            for part in back {
                assert_eq!(part.start, at, "{raid:?}");
                at = part.end;
            }
            assert_eq!(at, range.end, "{raid:?}");
        }
    }

    #[test]
    fn impossible_arrays_are_refused() {
        for (raid, disks) in [(Raid::Raid10, 3), (Raid::Raid5, 2), (Raid::Raid0, 1)] {
            assert!(Layout::new(raid, disks, STRIPE).is_err());
        }
    }
}
