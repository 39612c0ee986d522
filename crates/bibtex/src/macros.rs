//! Takes definitions and uses of macros; returns the macros that are used but not defined.

use std::collections::HashMap;

use crate::hash::TextHash;
use crate::problems::Place;
use crate::timestamp::MONTHS;

/// All macros defined or used so far; names are case-insensitive.
#[derive(Default)]
pub(crate) struct Macros {
    met: HashMap<Box<[u8]>, Macro, TextHash>,
    lower: Vec<u8>,
}

#[derive(Default)]
struct Macro {
    is_defined: bool,
    uses: u64,
    /// The index of the file, and the place of the first use.
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

    /// Counts a use; `place` is called only for the first.
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
    /// definition counts anywhere, since the files may be read in any order.
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
            .expect("it existed or has just been added")
    }
}

fn is_month(name: &[u8]) -> bool {
    name.len() == 3
        && MONTHS
            .iter()
            .any(|month| month.as_bytes().eq_ignore_ascii_case(name))
}
