//! Takes which `\begin`s with an isolation level were executed; returns them by their scripts.

use std::sync::atomic::{AtomicBool, Ordering};

/// The places of all scripts that begin a transaction at a level. All clients mark them.
#[derive(Debug, Default)]
pub struct BegunLevels {
    places: Vec<Place>,
}

#[derive(Debug)]
struct Place {
    /// Index into the scripts of the program.
    script: u32,
    /// Among those of its script, from 0.
    number: u32,
    level: String,
    is_begun: AtomicBool,
}

/// A place that was executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BegunLevel {
    /// Index into the scripts of the program.
    pub script: u32,
    /// Its number among the `\begin`s of its script that name a level, from 0.
    pub number: u32,
    /// As the script names it, in lower case.
    pub level: String,
}

impl BegunLevels {
    /// Appends a place; returns its index.
    pub(crate) fn place(&mut self, script: u32, level: &str) -> usize {
        let same = self.places.iter().filter(|place| place.script == script);
        let number = u32::try_from(same.count()).expect("the size of scripts is bounded");
        self.places.push(Place {
            script,
            number,
            level: level.to_owned(),
            is_begun: AtomicBool::new(false),
        });
        self.places.len() - 1
    }

    /// It is executed.
    #[inline]
    pub(crate) fn mark(&self, place: usize) {
        let is_begun = &self.places[place].is_begun;
        // Read first: a line that no thread writes stays in the caches of all.
        if !is_begun.load(Ordering::Relaxed) {
            is_begun.store(true, Ordering::Relaxed);
        }
    }

    /// What is shown of an instruction.
    pub(crate) fn level(&self, place: usize) -> &str {
        &self.places[place].level
    }

    /// The places that were executed, in the order of the scripts.
    #[must_use]
    pub fn marked(&self) -> Vec<BegunLevel> {
        let marked = |place: &&Place| place.is_begun.load(Ordering::Relaxed);
        (self.places.iter().filter(marked))
            .map(|place| BegunLevel {
                script: place.script,
                number: place.number,
                level: place.level.clone(),
            })
            .collect()
    }
}
