//! Takes a seed and the number of an entry; returns the entry as BibTeX text.

use std::fmt::Write as _;

use assay_values::Random;
use assay_values::calendar::{DAY_S, moment_of, seconds_of};

use crate::chance::{Purpose, chance, pick, stream};
use crate::dates::MONTHS;
use crate::synthesize::identity::{Identity, numbers_of};
use crate::synthesize::shapes::{Family, Shape, kind};
use crate::synthesize::words;
use crate::synthesize::words::{capitalised, length, person, phrase, word};

/// Appends entry `index` and an empty line.
pub(super) fn write(out: &mut String, seed: u64, index: u64) {
    let (identity, content) = numbers_of(seed, index);
    let identity = Identity::of(seed, identity);
    let mut random = stream(seed, Purpose::Content, content);
    let (kind, family) = kind(&mut random);
    let defects = Defects::draw(&mut random);
    writeln!(out, "@{kind}{{{},", identity.key).expect("writing to memory is infallible");
    let mut fields = Fields { out, random, seed, defects, identity, shape: family.shape() };
    fields.people(family);
    fields.titles(family);
    fields.where_published(kind, family);
    fields.dates();
    fields.numbers(family);
    fields.texts();
    fields.out.push_str("}\n\n");
}

struct Fields<'o> {
    out: &'o mut String,
    random: Random,
    seed: u64,
    defects: Defects,
    identity: Identity,
    shape: Shape,
}

impl Fields<'_> {
    fn people(&mut self, family: Family) {
        let has_editor = chance(&mut self.random, self.shape.editor);
        if has_editor {
            let names = format!("{} and {}", self.person(), self.person());
            text(self.out, "editor", &names);
        }
        if self.defects.has(20) || (has_editor && family == Family::Book) {
            return;
        }
        let mut names = self.identity.author.clone();
        while chance(&mut self.random, 190_000) {
            names.push_str(" and ");
            names.push_str(&self.person());
        }
        text(self.out, "author", &names);
    }

    fn titles(&mut self, family: Family) {
        if !self.defects.has(21) {
            self.long("title", 46);
        }
        if family == Family::Paper {
            if chance(&mut self.random, 720_000) {
                let key = format!("Anonymous:{}:PRO", self.identity.year);
                text(self.out, "crossref", &key);
            } else {
                self.long("booktitle", 90);
            }
        }
    }

    fn where_published(&mut self, kind: &str, family: Family) {
        let seed = self.seed;
        match family {
            Family::Article => {
                let journal = words::journal(&mut self.random, seed);
                if !self.defects.has(14) {
                    bare(self.out, "journal", &journal.name);
                }
                if chance(&mut self.random, 830_000) {
                    text(self.out, "fjournal", &journal.full);
                    let home = format!("https://{}.example.org/", self.path());
                    text(self.out, "journal-URL", &home);
                }
                if chance(&mut self.random, 150_000) {
                    let coden = match (self.defects.has(3), self.defects.has(11)) {
                        (true, _) => format!("{}Z", journal.coden),
                        (_, true) => journal.coden[..3].to_owned(),
                        _ => journal.coden,
                    };
                    text(self.out, "CODEN", &coden);
                }
                if chance(&mut self.random, 940_000) {
                    let cut = usize::from(self.defects.has(10));
                    text(self.out, "ISSN", &journal.issn[..9 - cut]);
                }
                if !self.defects.has(15) {
                    let volume = self.random.between(1, 60).to_string();
                    text(self.out, "volume", &volume);
                    let number = self.random.between(1, 12).to_string();
                    text(self.out, "number", &number);
                    let issue = self.random.between(1, 140).to_string();
                    text(self.out, "issue", &issue);
                }
            }
            Family::Thesis if !self.defects.has(22) => self.long("school", 40),
            Family::Report if !self.defects.has(23) => self.long("institution", 40),
            Family::Book | Family::Other if kind != "Manual" && !self.defects.has(18) => {
                let publisher = words::publisher(&mut self.random, seed);
                bare(self.out, "publisher", &publisher);
                if !self.defects.has(19) {
                    bare(self.out, "address", &format!("{publisher}:adr"));
                }
            }
            _ => self.long("address", 17),
        }
    }

    fn dates(&mut self) {
        let year = match self.random.between(1, 1000) {
            1..=7 => format!("{}xx", self.identity.year / 100),
            8..=14 => format!("{}--{}", self.identity.year, self.identity.year + 1),
            _ if self.defects.has(5) => format!("c{}", self.identity.year),
            _ if self.defects.has(26) => (self.identity.year - 1).to_string(),
            _ => self.identity.year.to_string(),
        };
        if !self.defects.has(4) {
            text(self.out, "year", &year);
        }
        if chance(&mut self.random, self.shape.month) {
            match self.random.between(1, 100) {
                _ if self.defects.has(24) => text(self.out, "month", "Winter"),
                1..=7 => text(self.out, "month", "????"),
                _ => bare(self.out, "month", pick(&mut self.random, &MONTHS)),
            }
        }
        let is_missing = match self.identity.year {
            2010.. => self.defects.has(6),
            _ => !chance(&mut self.random, 905_000),
        };
        if !is_missing {
            let date = self.bibdate();
            text(self.out, "bibdate", &date);
        }
    }

    fn bibdate(&mut self) -> String {
        if self.defects.has(12) {
            return "12 August 2014".to_owned();
        }
        let first = if self.defects.has(13) { 2031 } else { self.identity.year.max(1992) };
        let earliest = seconds_of(first, 1, 1);
        let latest = seconds_of(first.max(2022), 12, 31) + DAY_S - 1;
        let seconds = self.random.between(earliest, latest);
        let zone = chance(&mut self.random, 711_000).then_some("MST");
        moment_of(seconds).as_date_prints(zone)
    }

    fn numbers(&mut self, family: Family) {
        if chance(&mut self.random, self.shape.pages) {
            let first = self.random.between(1, 400);
            let last = first + self.random.between(0, 20);
            let pages = match family {
                Family::Book => format!("xii + {}", self.random.between(90, 900)),
                _ if self.defects.has(17) => format!("{first}-{last}"),
                Family::Article if chance(&mut self.random, 90_000) => format!("{first}--??"),
                _ => format!("{first}--{last}"),
            };
            text(self.out, "pages", &pages);
        }
        if chance(&mut self.random, self.shape.isbn) {
            self.isbn();
        }
        if chance(&mut self.random, self.shape.lccn) {
            let shelf = self.random.between(1, 300);
            let author = self.identity.author.chars().next().unwrap_or('A');
            let value = format!("Z{shelf}.{author}{} {}", shelf % 90 + 10, self.identity.year);
            text(self.out, "LCCN", &value);
        }
        if chance(&mut self.random, self.shape.doi) {
            let prefix = if self.defects.has(25) { "doi:11" } else { "10" };
            let doi = format!("{prefix}.{}/{}", self.random.between(1000, 9999), self.path());
            text(self.out, "DOI", &doi);
        }
        if chance(&mut self.random, self.shape.url) {
            let scheme = if self.defects.has(28) { "www." } else { "https://" };
            let url = format!("{scheme}{}.example.org/{}.pdf", self.path(), self.path());
            text(self.out, "URL", &url);
        }
    }

    fn isbn(&mut self) {
        let (group, book) = (self.random.between(100, 999), self.random.between(10_000, 99_999));
        let check = self.random.between(0, 9);
        if self.defects.has(9) {
            text(self.out, "ISBN", &format!("9780{group}{book}{check}"));
        } else if self.defects.has(7) {
            text(self.out, "ISBN", &format!("0-{group}-{check}"));
        } else if !self.defects.has(8) {
            text(self.out, "ISBN", &format!("0-{group}-{book}-{check}"));
        }
        if self.defects.has(2) {
            text(self.out, "ISBN-13", &format!("0{group}{book}{check}"));
        } else if !self.defects.has(1) {
            text(self.out, "ISBN-13", &format!("978-0-{group}-{book}-{check}"));
        }
    }

    fn texts(&mut self) {
        let Shape { note, series, abstracts, keywords, remark, subject, toc, .. } = self.shape;
        let texts = [
            ("note", note, 90),
            ("series", series, 30),
            ("abstract", abstracts, 657),
            ("keywords", keywords, 111),
            ("remark", remark, 99),
            ("subject", subject, 141),
            ("tableofcontents", toc, 1358),
            ("bibsource", 900_000, 80),
        ];
        for (name, share, mean) in texts {
            if chance(&mut self.random, share) {
                self.long(name, mean);
            }
        }
        if chance(&mut self.random, 920_000) {
            bare(self.out, "acknowledgement", "ack-nobody");
        }
    }

    fn long(&mut self, name: &str, mean: usize) {
        let length = length(&mut self.random, mean);
        let value = phrase(&mut self.random, length);
        text(self.out, name, &value);
    }

    fn person(&mut self) -> String {
        person(&mut self.random, self.seed).0
    }

    fn path(&mut self) -> String {
        let file = capitalised(&word(&mut self.random));
        format!("{}/{file}", word(&mut self.random))
    }
}

/// The defects of one entry. Their numbers are those of the checks S01 to S28 of workload `bibsql`.
#[derive(Clone, Copy, Default)]
pub(super) struct Defects {
    bits: u32,
}

/// Check number, and how many per million entries that can have the defect have it.
const RATES: [(u32, u32); 26] = [
    (1, 96_000),
    (2, 2_000),
    (3, 3_000),
    (4, 9_100),
    (5, 2_600),
    (6, 600),
    (7, 2_000),
    (8, 1_000),
    (9, 2_000),
    (10, 300),
    (11, 3_000),
    (12, 500),
    (13, 300),
    (14, 300),
    (15, 10_000),
    (17, 300),
    (18, 5_400),
    (19, 9_000),
    (20, 300),
    (21, 300),
    (22, 13_000),
    (23, 10_000),
    (24, 40_000),
    (25, 4_000),
    (26, 300),
    (28, 1_100),
];

impl Defects {
    pub(super) fn draw(random: &mut Random) -> Self {
        let mut bits = 0;
        for (check, per_million) in RATES {
            if chance(random, per_million) {
                bits |= 1 << check;
            }
        }
        Self { bits }
    }

    pub(super) fn has(self, check: u32) -> bool {
        self.bits & (1 << check) != 0
    }
}

/// The column where values begin.
const INDENT: usize = 17;

/// The maximum line length.
const MARGIN: usize = 72;

/// Appends `  name = "value",` and folds a long value at its blanks.
pub(super) fn text(out: &mut String, name: &str, value: &str) {
    open(out, name);
    out.push('"');
    let mut column = INDENT + 1;
    for (at, word) in value.split(' ').enumerate() {
        if at > 0 {
            if column + 1 + word.len() > MARGIN {
                out.push('\n');
                out.extend(std::iter::repeat_n(' ', INDENT));
                column = INDENT;
            } else {
                out.push(' ');
                column += 1;
            }
        }
        out.push_str(word);
        column += word.len();
    }
    out.push_str("\",\n");
}

/// Appends `  name = value,` for the name of a macro.
pub(super) fn bare(out: &mut String, name: &str, value: &str) {
    open(out, name);
    out.push_str(value);
    out.push_str(",\n");
}

fn open(out: &mut String, name: &str) {
    let name = format!("{name} =");
    write!(out, "  {name:<width$}", width = INDENT - 2).expect("writing to memory is infallible");
    if name.len() >= INDENT - 2 {
        out.push(' ');
    }
}
