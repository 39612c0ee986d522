//! Takes the data of writes; keeps what is not on the medium yet, the newest of each byte.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

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
        parts
            .filter(|part| part.start < part.end)
            .map(|part| self.clipped(&part))
            .collect()
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
        let piece = Piece {
            offset,
            write,
            from: 0,
            length: data.len(),
            data,
        };
        self.cut(&piece.range(), None);
        self.pieces.insert(offset, piece);
    }

    /// The pieces within a range.
    pub fn within(&self, range: &Range<u64>) -> Vec<Piece> {
        self.overlapping(range)
            .map(|piece| piece.clipped(range))
            .collect()
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
