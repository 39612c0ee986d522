//! Takes requests to an array of disks; returns where their bytes lie on the disks, and when each ends: with the last of
//! its parts.
//!
//! A mirror reads from the disk with fewer requests, then from the one whose last request was nearest, and
//! writes to both. A write to RAID 5 that is smaller than a row reads the old data and the old parity before
//! it writes both (read-modify-write); a full row is written at once.

use std::collections::HashMap;
use std::ops::Range;

use super::{Disk, Event, Operation, Request};
use crate::error::DiskError;

/// A request to one disk.
#[derive(Clone, Debug)]
struct Part {
    disk: usize,
    operation: Operation,
    range: Range<u64>,
}

/// A request to the array, while its parts are under way.
#[derive(Debug)]
struct Whole {
    parts_left: usize,
    /// Begun when the parts before have ended.
    afterwards: Vec<Part>,
    start_ns: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Load {
    requests: usize,
    last_end: u64,
}

/// Several disks that look like one.
pub struct ArrayDisk {
    layout: Layout,
    members: Vec<Box<dyn Disk>>,
    loads: Vec<Load>,
    wholes: HashMap<u64, Whole>,
    /// The request to the array of each part, and its disk.
    parents: HashMap<u64, (u64, usize)>,
    next_part: u64,
    /// The transfers of the array that a transfer of a disk is.
    destages: HashMap<(usize, u64), Vec<u64>>,
    next_destage: u64,
}

impl ArrayDisk {
    /// As many disks as the layout has.
    pub fn new(layout: Layout, members: Vec<Box<dyn Disk>>) -> Self {
        Self {
            layout,
            loads: vec![Load::default(); members.len()],
            members,
            wholes: HashMap::new(),
            parents: HashMap::new(),
            next_part: 0,
            destages: HashMap::new(),
            next_destage: 0,
        }
    }

    /// The parts of a request: those to begin now, and those to begin after them.
    fn parts(&self, request: &Request) -> (Vec<Part>, Vec<Part>) {
        let operation = request.operation;
        if operation == Operation::Flush {
            let all = (0..self.members.len()).map(|disk| Part {
                disk,
                operation,
                range: 0..0,
            });
            return (all.collect(), Vec::new());
        }
        let range = request.offset..request.end();
        if self.layout.raid == Raid::Raid1 {
            let whole = |disk| Part {
                disk,
                operation,
                range: range.clone(),
            };
            let disks = 0..self.members.len();
            return if operation == Operation::Read {
                (vec![whole(self.idlest(disks, range.start))], Vec::new())
            } else {
                (disks.map(whole).collect(), Vec::new())
            };
        }
        let pieces = self.layout.pieces(&range);
        if self.layout.raid == Raid::Raid5 && operation == Operation::Write {
            return self.parity_writes(&pieces);
        }
        let mut parts = Vec::new();
        for piece in pieces {
            let disk = self.layout.disk(&piece);
            let place = piece.offset..piece.offset + piece.length;
            if self.layout.raid != Raid::Raid10 {
                join(&mut parts, disk, operation, place);
            } else if operation == Operation::Read {
                // Neighbouring stripes of a column stay on one disk.
                let known = parts
                    .iter()
                    .rev()
                    .find(|part: &&Part| part.disk / 2 == disk / 2);
                let chosen = known.map_or_else(
                    || self.idlest(disk..disk + 2, place.start),
                    |part| part.disk,
                );
                join(&mut parts, chosen, operation, place);
            } else {
                join(&mut parts, disk, operation, place.clone());
                join(&mut parts, disk + 1, operation, place);
            }
        }
        (parts, Vec::new())
    }

    fn idlest(&self, disks: Range<usize>, offset: u64) -> usize {
        let cost = |disk: &usize| {
            let load = self.loads[*disk];
            (load.requests, load.last_end.abs_diff(offset))
        };
        disks.min_by_key(cost).unwrap_or(0)
    }

    fn parity_writes(&self, pieces: &[Piece]) -> (Vec<Part>, Vec<Part>) {
        let (mut now, mut afterwards) = (Vec::new(), Vec::new());
        for row in pieces.chunk_by(|a, b| a.row == b.row) {
            let parity = self.layout.parity_disk(row[0].row);
            let written: u64 = row.iter().map(|piece| piece.length).sum();
            let start = row.iter().map(|piece| piece.offset).min().unwrap_or(0);
            let end = row.iter().map(|piece| piece.offset + piece.length).max();
            let places = row.iter().map(|piece| {
                let place = piece.offset..piece.offset + piece.length;
                (self.layout.disk(piece), place)
            });
            let touched: Vec<(usize, Range<u64>)> = places
                .chain([(parity, start..end.unwrap_or(start))])
                .collect();
            let is_full = written == self.layout.stripe_bytes * self.layout.columns() as u64;
            for (disk, place) in touched {
                if is_full {
                    join(&mut now, disk, Operation::Write, place);
                } else {
                    join(&mut now, disk, Operation::Read, place.clone());
                    join(&mut afterwards, disk, Operation::Write, place);
                }
            }
        }
        (now, afterwards)
    }

    fn begin(&mut self, whole: u64, parts: Vec<Part>, now_ns: u64, events: &mut Vec<Event>) {
        for part in parts {
            let id = self.next_part;
            self.next_part += 1;
            self.parents.insert(id, (whole, part.disk));
            let load = &mut self.loads[part.disk];
            load.requests += 1;
            load.last_end = part.range.end;
            let request = Request {
                id,
                operation: part.operation,
                offset: part.range.start,
                length: part.range.end - part.range.start,
            };
            let mut found = Vec::new();
            self.members[part.disk].submit(request, now_ns, &mut found);
            self.take(part.disk, found, events);
        }
    }

    /// Takes what happened in a disk.
    fn take(&mut self, disk: usize, found: Vec<Event>, events: &mut Vec<Event>) {
        for event in found {
            match event {
                Event::DestageStarted {
                    destage,
                    offset,
                    length,
                } => {
                    let mut numbers = Vec::new();
                    for part in self.layout.logical(disk, &(offset..offset + length)) {
                        numbers.push(self.next_destage);
                        events.push(Event::DestageStarted {
                            destage: self.next_destage,
                            offset: part.start,
                            length: part.end - part.start,
                        });
                        self.next_destage += 1;
                    }
                    self.destages.insert((disk, destage), numbers);
                }
                Event::DestageEnded { destage } => {
                    let numbers = self.destages.remove(&(disk, destage)).unwrap_or_default();
                    let ended = numbers.into_iter();
                    events.extend(ended.map(|destage| Event::DestageEnded { destage }));
                }
                Event::Completed {
                    id,
                    start_ns,
                    end_ns,
                } => {
                    self.part_ended(id, start_ns, end_ns, events);
                }
            }
        }
    }

    fn part_ended(&mut self, id: u64, start_ns: u64, end_ns: u64, events: &mut Vec<Event>) {
        let Some((whole_id, disk)) = self.parents.remove(&id) else {
            return;
        };
        self.loads[disk].requests -= 1;
        let Some(whole) = self.wholes.get_mut(&whole_id) else {
            return;
        };
        whole.start_ns = whole.start_ns.min(start_ns);
        whole.parts_left -= 1;
        if whole.parts_left > 0 {
            return;
        }
        let afterwards = std::mem::take(&mut whole.afterwards);
        if afterwards.is_empty() {
            let start_ns = whole.start_ns;
            self.wholes.remove(&whole_id);
            events.push(Event::Completed {
                id: whole_id,
                start_ns,
                end_ns,
            });
        } else {
            whole.parts_left = afterwards.len();
            self.begin(whole_id, afterwards, end_ns, events);
        }
    }
}

/// Adds a place, as part of the last request to the same disk if it continues that one.
fn join(parts: &mut Vec<Part>, disk: usize, operation: Operation, place: Range<u64>) {
    let same = parts.iter_mut().rev().find(|part| part.disk == disk);
    if let Some(last) = same
        && last.operation == operation
        && last.range.end == place.start
    {
        last.range.end = place.end;
        return;
    }
    parts.push(Part {
        disk,
        operation,
        range: place,
    });
}

impl Disk for ArrayDisk {
    fn submit(&mut self, request: Request, now_ns: u64, events: &mut Vec<Event>) {
        self.advance(now_ns, events);
        let (parts, afterwards) = self.parts(&request);
        let whole = Whole {
            parts_left: parts.len(),
            afterwards,
            start_ns: u64::MAX,
        };
        self.wholes.insert(request.id, whole);
        self.begin(request.id, parts, now_ns, events);
    }

    fn next_event_ns(&self) -> Option<u64> {
        self.members
            .iter()
            .filter_map(|member| member.next_event_ns())
            .min()
    }

    fn advance(&mut self, now_ns: u64, events: &mut Vec<Event>) {
        // One step of all disks at a time: what the end of a part begins is on time everywhere.
        while let Some(at_ns) = self.next_event_ns().filter(|at_ns| *at_ns <= now_ns) {
            for disk in 0..self.members.len() {
                let mut found = Vec::new();
                self.members[disk].advance(at_ns, &mut found);
                self.take(disk, found, events);
            }
        }
    }

    fn volatile_bytes(&self) -> u64 {
        self.members
            .iter()
            .map(|member| member.volatile_bytes())
            .sum()
    }
}

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
        for (raid, disks) in
            [(Raid::Raid0, 3), (Raid::Raid1, 2), (Raid::Raid10, 6), (Raid::Raid5, 5)]
        {
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
