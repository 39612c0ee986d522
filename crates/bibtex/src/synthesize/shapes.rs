//! Takes a random stream; returns a type of entry and the probabilities of its fields.

use assay_values::Random;

use crate::chance::number_below;

/// How often each field occurs in entries of one family, per million.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub(super) editor: u32,
    pub(super) pages: u32,
    pub(super) month: u32,
    pub(super) doi: u32,
    pub(super) isbn: u32,
    pub(super) lccn: u32,
    pub(super) url: u32,
    pub(super) note: u32,
    pub(super) series: u32,
    pub(super) abstracts: u32,
    pub(super) keywords: u32,
    pub(super) remark: u32,
    pub(super) subject: u32,
    pub(super) toc: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    Article,
    Book,
    /// A part of proceedings or of a collection.
    Paper,
    Thesis,
    Report,
    Other,
}

/// Types, and how many of 9,733 entries have each type.
const KINDS: [(&str, Family, u64); 14] = [
    ("Article", Family::Article, 6868),
    ("Book", Family::Book, 1669),
    ("InProceedings", Family::Paper, 285),
    ("TechReport", Family::Report, 190),
    ("Periodical", Family::Other, 175),
    ("Misc", Family::Other, 166),
    ("Proceedings", Family::Book, 134),
    ("Manual", Family::Other, 93),
    ("MastersThesis", Family::Thesis, 54),
    ("Booklet", Family::Other, 32),
    ("InCollection", Family::Paper, 31),
    ("PhdThesis", Family::Thesis, 24),
    ("Unpublished", Family::Other, 10),
    ("InBook", Family::Paper, 2),
];

pub(super) fn kind(random: &mut Random) -> (&'static str, Family) {
    let mut place = number_below(random, 9733);
    for (name, family, share) in KINDS {
        if place < share {
            return (name, family);
        }
        place -= share;
    }
    unreachable!("the shares add up to 9,733");
}

const fn percent(share: u32) -> u32 {
    share * 10_000
}

impl Family {
    pub(super) const fn shape(self) -> Shape {
        const RARE: Shape = Shape {
            editor: percent(1),
            pages: percent(20),
            month: percent(10),
            doi: percent(1),
            isbn: percent(3),
            lccn: percent(8),
            url: percent(10),
            note: percent(60),
            series: percent(5),
            abstracts: percent(1),
            keywords: percent(30),
            remark: percent(2),
            subject: percent(1),
            toc: percent(1),
        };
        match self {
            Self::Article => Shape {
                pages: 995_500,
                month: percent(60),
                doi: percent(3),
                isbn: percent(1),
                lccn: percent(1),
                url: percent(71),
                note: percent(2),
                series: 0,
                abstracts: percent(10),
                keywords: percent(10),
                remark: percent(21),
                toc: 0,
                ..RARE
            },
            Self::Book => Shape {
                editor: percent(15),
                pages: percent(87),
                isbn: percent(81),
                lccn: percent(66),
                url: percent(6),
                note: percent(29),
                series: percent(14),
                abstracts: percent(9),
                keywords: percent(19),
                remark: percent(7),
                subject: percent(20),
                toc: percent(15),
                ..RARE
            },
            Self::Paper => Shape {
                pages: percent(95),
                doi: percent(6),
                isbn: percent(8),
                abstracts: percent(19),
                keywords: percent(25),
                note: percent(16),
                ..RARE
            },
            Self::Thesis => Shape { pages: percent(83), abstracts: percent(14), ..RARE },
            Self::Report => Shape { month: percent(52), abstracts: percent(8), ..RARE },
            Self::Other => RARE,
        }
    }
}
