//! Takes definitions and uses of macros; gives those that are used and defined nowhere.

use std::collections::HashMap;

use crate::hash::TextHash;
use crate::problems::Place;
use crate::timestamp::MONTHS;

/// What is known of every macro met; a name means the same in any case of letters.
#[derive(Default)]
pub(crate) struct Macros {
    met: HashMap<Box<[u8]>, Macro, TextHash>,
    lower: Vec<u8>,
}

#[derive(Default)]
struct Macro {
    is_defined: bool,
    uses: u64,
    /// The file by its index, and the place of the first use.
    first: (usize, Place),
}

/// A macro that no file defines.
pub(crate) struct Unknown {
    pub(crate) name: String,
    pub(crate) uses: u64,
    pub(crate) file: usize,
    pub(crate) place: Place,
}

impl Macros {
    pub(crate) fn define(&mut self, name: &[u8]) {
        self.entry(name).is_defined = true;
    }

    /// Counts a use; `place` is asked for only where it is the first.
    pub(crate) fn use_name(&mut self, name: &[u8], file: usize, place: impl FnOnce() -> Place) {
        if is_month(name) {
            return;
        }
        let met = self.entry(name);
        met.uses += 1;
        if met.uses == 1 && !met.is_defined {
            met.first = (file, place());
        }
    }

    /// The macros that are used and that no file defines, in the order of their first use. A
    /// definition counts wherever it stands, since the files may come in any order.
    pub(crate) fn unknown(&self) -> Vec<Unknown> {
        let mut unknown: Vec<Unknown> = self
            .met
            .iter()
            .filter(|(_, met)| !met.is_defined)
            .map(|(name, met)| Unknown {
                name: String::from_utf8_lossy(name).into_owned(),
                uses: met.uses,
                file: met.first.0,
                place: met.first.1,
            })
            .collect();
        unknown.sort_by_key(|met| (met.file, met.place.line, met.place.column));
        unknown
    }

    fn entry(&mut self, name: &[u8]) -> &mut Macro {
        self.lower.clear();
        self.lower.extend_from_slice(name);
        self.lower.make_ascii_lowercase();
        if !self.met.contains_key(self.lower.as_slice()) {
            self.met
                .insert(self.lower.as_slice().into(), Macro::default());
        }
        self.met
            .get_mut(self.lower.as_slice())
            .expect("it was there or has just been added")
    }
}

fn is_month(name: &[u8]) -> bool {
    name.len() == 3
        && MONTHS
            .iter()
            .any(|month| month.as_bytes().eq_ignore_ascii_case(name))
}
