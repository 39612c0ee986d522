//! Takes the writes that are not durable; decides what of them a power cut leaves on the medium.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::model::random::Random;
use crate::volatile::Piece;

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
        let sectors: Vec<Piece> = pieces
            .iter()
            .flat_map(|piece| sectors(piece, sector_bytes))
            .collect();
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
            numbered
                .filter_map(|(index, sector)| chosen(index).then_some(sector))
                .collect()
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
