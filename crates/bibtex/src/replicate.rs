//! Takes entries; returns modified copies of them, to enlarge a bibliography.
//!
//! N. Beebe's report on bibsql with solid-state storage (section 7) proposes to replicate and randomise
//! the data, so that new entries have additional fields and keep their original content. Replica *r*
//! of an entry has the key `Key-rNNN`, belongs to the file `name-rNNN.bib`, and has another valid
//! `bibdate` in the ten years before the original date (if that is valid), 20 to 200 random characters
//! at the end of `remark`, and a field `replica`.
//!
//! The random choices are a function of the seed, the entry's text and *r*: two files that contain the same
//! entry also contain the same replicas, so that a comparison of entries finds the same differences in
//! every replica as in the original.

use std::collections::HashSet;

use assay_values::{Random, SourceError};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::chance::{length_between, letter};
use crate::columns::{BIBDATE, REMARK};
use crate::columns::{Fields, Written};
use crate::dates::Bibdate;
use crate::entry::Entry;
use crate::entry::PieceKind;
use crate::item::{Item, Kind};
use assay_values::calendar::{DAY_S, moment_of, seconds_of};

/// How a bibliography is enlarged.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Replicas {
    /// The number of replicas; 1 means the original data.
    pub count: u32,
    /// How the copies differ from the original.
    pub variant: Variant,
    /// The seed of all random edits.
    pub seed: u64,
    /// The entries of the original data that sanity checks report: file name and key, where `null` means any.
    pub reported: Vec<(Option<String>, Option<String>)>,
}

/// How a copy of an entry differs from the original.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Variant {
    /// All entries are replicated, so every check reports `count` times as many entries.
    #[default]
    Full,
    /// Replicas after the first are made only of entries that no check reports, so the answers have
    /// the same length for any number of replicas.
    Clean,
}

impl Default for Replicas {
    fn default() -> Self {
        Self {
            count: 1,
            variant: Variant::Full,
            seed: 1,
            reported: Vec::new(),
        }
    }
}

/// Makes replicas, and reuses its buffers.
pub(crate) struct Replicator {
    pub(crate) count: u32,
    seed: u64,
    /// Present for [`Variant::Clean`].
    reported: Option<Reported>,
    text: Vec<u8>,
    entry: Entry,
    file_name: String,
    edits: Vec<Edit>,
    scratch: Vec<u8>,
}

/// A replica, or the original entry if there is only one.
pub(crate) struct Edited<'t> {
    pub(crate) written: Written<'t>,
    pub(crate) file_name: &'t str,
}

/// A range of the entry's bytes and its replacement.
struct Edit {
    at: usize,
    removed: usize,
    added: String,
}

#[derive(Default)]
struct Reported {
    entries: HashSet<(String, String)>,
    files: HashSet<String>,
    keys: HashSet<String>,
}

impl Replicator {
    pub(crate) fn new(replicas: Option<&Replicas>) -> Result<Self, SourceError> {
        let replicas = replicas.cloned().unwrap_or_default();
        if replicas.count == 0 {
            return Err(SourceError {
                message: "expected 1 replica or more, found 0".to_owned(),
                file: "(replicas)".to_owned(),
                line: 0,
                column: 0,
                hint: Some("1 means the original data".to_owned()),
            });
        }
        Ok(Self {
            count: replicas.count,
            seed: replicas.seed,
            reported: (replicas.variant == Variant::Clean)
                .then(|| Reported::from(replicas.reported)),
            text: Vec::new(),
            entry: Entry::default(),
            file_name: String::new(),
            edits: Vec::new(),
            scratch: Vec::new(),
        })
    }

    /// Replica `replica` of an entry, or `None` if it is left out.
    pub(crate) fn edit<'t>(
        &'t mut self,
        written: Written<'t>,
        file_name: &'t str,
        replica: u32,
    ) -> Option<Edited<'t>> {
        if self.count == 1 {
            return Some(Edited { written, file_name });
        }
        let key = &written.text[written.entry.key.clone()];
        if replica > 1
            && self
                .reported
                .as_ref()
                .is_some_and(|reported| reported.contains(file_name, key))
        {
            return None;
        }
        self.find_edits(written, replica);
        self.apply_edits(written.text);
        let item = Item {
            kind: Kind::Entry,
            word: (written.entry.kind.start, written.entry.kind.end),
            open: written.entry.open,
            length: self.text.len(),
        };
        self.entry
            .read(&self.text, &item)
            .expect("what is added is whole fields and words");
        self.name_file(file_name, replica);
        Some(Edited {
            written: Written {
                text: &self.text,
                entry: &self.entry,
            },
            file_name: &self.file_name,
        })
    }

    fn find_edits(&mut self, written: Written<'_>, replica: u32) {
        let Written { text, entry } = written;
        let mut random = Random::stream(xxh3_64_with_seed(text, self.seed), u64::from(replica));
        self.edits.clear();
        self.insert(entry.key.end, format!("-r{replica:03}"));
        let fields = Fields::of(written);
        if let Some(field) = fields.field(BIBDATE) {
            self.scratch.clear();
            fields.write_plain(BIBDATE, &mut self.scratch);
            let date = std::str::from_utf8(&self.scratch)
                .ok()
                .and_then(Bibdate::parse);
            if let Some(date) = date {
                self.edits.push(Edit {
                    at: field.value.start,
                    removed: field.value.len(),
                    added: format!("\"{}\"", earlier(&date, &mut random)),
                });
            }
        }
        let words = random_words(&mut random);
        let mut new_fields = String::new();
        match fields.field(REMARK) {
            Some(field) => {
                let last = &entry.pieces[field.pieces.end - 1];
                match last.kind {
                    PieceKind::Braced | PieceKind::Quoted => {
                        self.insert(last.text.end, format!(" {words}"));
                    }
                    PieceKind::Macro | PieceKind::Number => {
                        self.insert(field.value.end, format!(" # \" {words}\""));
                    }
                }
            }
            None => new_fields = format!(",\n  remark =       \"{words}\""),
        }
        new_fields.push_str(&format!(",\n  replica =      \"{replica}\""));
        let end = entry
            .fields
            .last()
            .map_or(entry.key.end, |field| field.value.end);
        self.insert(end, new_fields);
        self.edits.sort_by_key(|edit| edit.at);
    }

    fn insert(&mut self, at: usize, added: String) {
        self.edits.push(Edit {
            at,
            removed: 0,
            added,
        });
    }

    fn apply_edits(&mut self, text: &[u8]) {
        self.text.clear();
        let mut from = 0;
        for Edit { at, removed, added } in &self.edits {
            self.text.extend_from_slice(&text[from..*at]);
            self.text.extend_from_slice(added.as_bytes());
            from = at + removed;
        }
        self.text.extend_from_slice(&text[from..]);
    }

    fn name_file(&mut self, file_name: &str, replica: u32) {
        let (stem, suffix) = match file_name.rfind('.') {
            Some(dot) if dot > 0 => file_name.split_at(dot),
            _ => (file_name, ""),
        };
        self.file_name = format!("{stem}-r{replica:03}{suffix}");
    }
}

impl Reported {
    fn from(reported: Vec<(Option<String>, Option<String>)>) -> Self {
        let mut all = Self::default();
        for pair in reported {
            match pair {
                (Some(file), Some(key)) => all.entries.insert((file, key)),
                (Some(file), None) => all.files.insert(file),
                (None, Some(key)) => all.keys.insert(key),
                (None, None) => false,
            };
        }
        all
    }

    fn contains(&self, file: &str, key: &[u8]) -> bool {
        let key = String::from_utf8_lossy(key);
        self.files.contains(file)
            || self.keys.contains(key.as_ref())
            || self.entries.contains(&(file.to_owned(), key.into_owned()))
    }
}

/// A date between one day and ten years before `date`, with the same time zone.
fn earlier(date: &Bibdate<'_>, random: &mut Random) -> String {
    let own = seconds_of(date.year.into(), date.month.into(), date.day.into());
    let back = random.between(DAY_S, 3652 * DAY_S);
    moment_of(own - back).as_date_prints(date.zone)
}

/// 20 to 200 lower-case letters and blanks.
fn random_words(random: &mut Random) -> String {
    let length = length_between(random, 20, 200);
    let mut words = String::with_capacity(length);
    let mut letters_left = random.between(2, 9);
    while words.len() < length {
        if letters_left <= 0 && words.len() + 1 < length {
            words.push(' ');
            letters_left = random.between(2, 9);
        } else {
            words.push(letter(random, b'a'));
            letters_left -= 1;
        }
    }
    words
}
