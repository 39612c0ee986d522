//! Takes the data of writes; keeps what is not on the medium yet, the newest of each byte, and decides what of it a power
//! cut leaves there.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::model::Random;

/// Bytes of one write that lie together.
#[derive(Clone, Debug)]
pub struct Piece {
    /// First byte on the disk.
    pub offset: u64,
    /// The number of the write.
    pub write: u64,
    data: Arc<[u8]>,
    from: usize,
    length: usize,
}

impl Piece {
    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.data[self.from..self.from + self.length]
    }

    /// Where they belong.
    pub fn range(&self) -> Range<u64> {
        self.offset..self.offset + self.length as u64
    }

    /// The part of it that lies in `range`, which it touches.
    pub fn clipped(&self, range: &Range<u64>) -> Self {
        let own = self.range();
        let (start, end) = (own.start.max(range.start), own.end.min(range.end));
        let bytes = |count: u64| usize::try_from(count).unwrap_or(0);
        Self {
            offset: start,
            write: self.write,
            data: Arc::clone(&self.data),
            from: self.from + bytes(start - own.start),
            length: bytes(end - start),
        }
    }

    /// The parts of it that do not lie in `range`.
    pub fn outside(&self, range: &Range<u64>) -> Vec<Self> {
        let own = self.range();
        let before = own.start..own.end.min(range.start);
        let after = own.start.max(range.end)..own.end;
        let parts = [before, after].into_iter();
        parts.filter(|part| part.start < part.end).map(|part| self.clipped(&part)).collect()
    }
}

/// What the write cache holds, and the writes that have not ended.
#[derive(Debug, Default)]
pub struct VolatileData {
    /// By offset; they do not overlap.
    pieces: BTreeMap<u64, Piece>,
}

impl VolatileData {
    fn overlapping(&self, range: &Range<u64>) -> impl Iterator<Item = &Piece> {
        let before = self.pieces.range(..range.start).next_back();
        before
            .into_iter()
            .chain(self.pieces.range(range.clone()))
            .map(|(_, piece)| piece)
            .filter(|piece| piece.range().end > range.start)
    }

    /// Adds a write; what it covers of others is gone.
    pub fn insert(&mut self, offset: u64, data: Arc<[u8]>, write: u64) {
        let piece = Piece { offset, write, from: 0, length: data.len(), data };
        self.cut(&piece.range(), None);
        self.pieces.insert(offset, piece);
    }

    /// The pieces within a range.
    pub fn within(&self, range: &Range<u64>) -> Vec<Piece> {
        self.overlapping(range).map(|piece| piece.clipped(range)).collect()
    }

    /// Removes a range; with `write`, only what is of that write.
    fn cut(&mut self, range: &Range<u64>, write: Option<u64>) {
        let touched: Vec<Piece> = self
            .overlapping(range)
            .filter(|piece| write.is_none_or(|write| piece.write == write))
            .cloned()
            .collect();
        for piece in touched {
            self.pieces.remove(&piece.offset);
            for rest in piece.outside(range) {
                self.pieces.insert(rest.offset, rest);
            }
        }
    }

    /// These pieces are on the medium. What was written over them since stays.
    pub fn forget(&mut self, pieces: &[Piece]) {
        for piece in pieces {
            self.cut(&piece.range(), Some(piece.write));
        }
    }

    /// These bytes have another content now.
    pub fn discard(&mut self, range: &Range<u64>) {
        self.cut(range, None);
    }

    /// Everything, by write; afterwards nothing is left.
    pub fn take_writes(&mut self) -> BTreeMap<u64, Vec<Piece>> {
        let writes = self.writes();
        self.pieces.clear();
        writes
    }

    /// Everything, by write.
    pub fn writes(&self) -> BTreeMap<u64, Vec<Piece>> {
        let mut writes: BTreeMap<u64, Vec<Piece>> = BTreeMap::new();
        for piece in self.pieces.values() {
            writes.entry(piece.write).or_default().push(piece.clone());
        }
        writes
    }
}

/// Which writes stay.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Keep {
    /// None: all that no flush had reached is lost.
    #[default]
    None,
    /// All, as if the cache had a battery.
    All,
    /// Each with a chance of one half.
    Random,
    /// Those with these numbers, as `volatile` lists them.
    Writes(Vec<u64>),
}

/// Which sectors of a write stay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Torn {
    /// All.
    #[default]
    No,
    /// A prefix of at least one, not all.
    Prefix,
    /// Any of them, at least one, not all.
    Subset,
}

/// How the power is cut.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PowerCut {
    /// Which writes stay.
    #[serde(default)]
    pub keep: Keep,
    /// Which sectors of them.
    #[serde(default)]
    pub torn: Torn,
    /// Of `random` and of the sectors.
    #[serde(default)]
    pub seed: u64,
}

/// What a power cut did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Lost {
    /// Writes that stay as a whole.
    pub kept: Vec<u64>,
    /// Writes of which some sectors stay.
    pub torn: Vec<u64>,
    /// Writes that are gone.
    pub dropped: Vec<u64>,
    /// Bytes that are gone.
    pub dropped_bytes: u64,
}

/// What stays on the medium, and an account of it.
pub fn survivors(
    writes: BTreeMap<u64, Vec<Piece>>,
    cut: &PowerCut,
    sector_bytes: u64,
) -> (Vec<Piece>, Lost) {
    let mut random = Random::new(cut.seed);
    let (mut stay, mut lost) = (Vec::new(), Lost::default());
    for (number, pieces) in writes {
        let bytes: u64 = pieces.iter().map(|piece| piece.bytes().len() as u64).sum();
        let is_kept = match &cut.keep {
            Keep::None => false,
            Keep::All => true,
            Keep::Random => random.below(2) == 0,
            Keep::Writes(numbers) => numbers.contains(&number),
        };
        if !is_kept {
            lost.dropped.push(number);
            lost.dropped_bytes += bytes;
            continue;
        }
        let sectors: Vec<Piece> =
            pieces.iter().flat_map(|piece| sectors(piece, sector_bytes)).collect();
        if cut.torn == Torn::No || sectors.len() < 2 {
            lost.kept.push(number);
            stay.extend(pieces);
            continue;
        }
        let count = sectors.len() as u64;
        let left: Vec<Piece> = if cut.torn == Torn::Prefix {
            let most = usize::try_from(1 + random.below(count - 1)).unwrap_or(1);
            sectors.into_iter().take(most).collect()
        } else {
            // One that stays and one that does not, the others by chance.
            let stays = random.below(count);
            let goes = (stays + 1 + random.below(count - 1)) % count;
            let mut chosen = |index: u64| index == stays || (index != goes && random.below(2) == 0);
            let numbered = (0_u64..).zip(sectors);
            numbered.filter_map(|(index, sector)| chosen(index).then_some(sector)).collect()
        };
        let left_bytes: u64 = left.iter().map(|sector| sector.bytes().len() as u64).sum();
        lost.torn.push(number);
        lost.dropped_bytes += bytes - left_bytes;
        stay.extend(left);
    }
    (stay, lost)
}

/// A piece, sector by sector of the disk.
fn sectors(piece: &Piece, sector_bytes: u64) -> impl Iterator<Item = Piece> {
    let Range { start, end } = piece.range();
    let first = start / sector_bytes;
    let last = end.div_ceil(sector_bytes);
    (first..last)
        .map(move |sector| piece.clipped(&(sector * sector_bytes..(sector + 1) * sector_bytes)))
}

#[cfg(test)]
mod tests {
    use super::VolatileData;

    fn text(data: &VolatileData, range: std::ops::Range<u64>) -> String {
        let mut found = vec![b'.'; usize::try_from(range.end - range.start).expect("small")];
        for piece in data.within(&range) {
            let at = usize::try_from(piece.offset - range.start).expect("small");
            found[at..at + piece.bytes().len()].copy_from_slice(piece.bytes());
        }
        String::from_utf8(found).expect("ASCII")
    }

    #[test]
    fn the_newest_bytes_win_and_only_what_was_seen_is_forgotten() {
        let mut data = VolatileData::default();
        data.insert(2, b"aaaaaa"[..].into(), 1);
        data.insert(4, b"bb"[..].into(), 2);
        assert_eq!(text(&data, 0..10), "..aabbaa..");
        let seen = data.within(&(3..7));
        data.insert(5, b"c"[..].into(), 3);
        data.forget(&seen);
        assert_eq!(text(&data, 0..10), "..a..c.a..");
        data.discard(&(0..6));
        assert_eq!(text(&data, 0..10), ".......a..");
        let writes = data.take_writes();
        assert_eq!(writes.keys().copied().collect::<Vec<_>>(), [1]);
        assert_eq!(text(&data, 0..10), "..........");
    }
}
