//! Takes the names that scripts set and use; returns the slot of each, or an error if a name is never set.

use crate::commands::Command;
use crate::lexer::statement::Name;
use crate::nearest::nearest;
use crate::place::Defect;
use crate::program::opcode::Slot;
use crate::program::{Gather, Own, Variable};
use assay_values::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

/// The position of a command: its script, and its number among that script's items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    pub script: usize,
    pub item: usize,
}

/// All variables of a run. A client keeps them from transaction to transaction, so what one script
/// sets another may use.
#[derive(Default)]
pub(crate) struct Variables<'a> {
    slots: Vec<Variable>,
    by_name: BTreeMap<String, Slot>,
    /// The variables that some script reads.
    used: BTreeSet<u32>,
    /// The variables that `\set` and `\for` set, and where.
    set: BTreeMap<&'a str, Vec<Position>>,
    /// The prefixes of `\gset` and `\aset`: they may set any variable whose name begins with one.
    gathered: Vec<(Position, &'a str)>,
    own: Vec<(Slot, Own)>,
}

impl<'a> Variables<'a> {
    /// Begins with the variables of the run and the built-in ones; `counts_changes`: whether the system says how
    /// many rows a statement has changed.
    pub fn given(variables: &[(String, Value)], counts_changes: bool) -> Self {
        let mut all = Self::default();
        for (name, value) in variables {
            all.give(name, value.clone());
        }
        for (name, own) in Own::ALL {
            let is_known = own != Own::RowsChanged || counts_changes;
            if is_known && !all.by_name.contains_key(name) {
                let slot = all.give(name, Value::Null);
                all.own.push((slot, own));
            }
        }
        all
    }

    /// The slot of a built-in variable that some script reads.
    pub fn used_own(&self, sought: Own) -> Option<Slot> {
        let found = self.own.iter().find(|(_, own)| *own == sought);
        found.map(|&(slot, _)| slot).filter(|slot| self.used.contains(&slot.0))
    }

    pub fn own(&self) -> Vec<(Slot, Own)> {
        self.own.clone()
    }

    fn give(&mut self, name: &str, value: Value) -> Slot {
        let slot = self.slot(name);
        self.slots[slot.0 as usize].initial = Some(value);
        slot
    }

    /// Notes the variables that a command sets; all commands are noted before any name is resolved.
    pub fn note(&mut self, position: Position, command: &Command<'a>) {
        match command {
            Command::Set { name, .. }
            | Command::Next { name }
            | Command::Acknowledged { name, .. }
            | Command::For { name, .. }
            | Command::GsetPath { name, .. } => {
                self.set.entry(name.name).or_default().push(position);
            }
            Command::Shell(shell) => {
                if let Some(name) = shell.into {
                    self.set.entry(name.name).or_default().push(position);
                }
            }
            Command::Gset { prefix } | Command::Aset { prefix } => {
                self.gathered.push((position, prefix));
            }
            _ => {}
        }
    }

    /// The slot of a name that is set here.
    pub fn slot(&mut self, name: &str) -> Slot {
        if let Some(&slot) = self.by_name.get(name) {
            return slot;
        }
        let slot = Slot(u32::try_from(self.slots.len()).expect("the size of scripts is bounded"));
        self.slots.push(Variable { name: name.to_owned(), initial: None });
        self.by_name.insert(name.to_owned(), slot);
        slot
    }

    /// The slot of a name that is used at `position`: a variable of the run, set earlier in the same script, or
    /// set by name anywhere in another script. (A `\gset` in another script does not count: it could set any
    /// name, and typing errors would no longer be found.)
    pub fn resolve(&mut self, used: Name<'_>, position: Position) -> Result<Slot, Defect> {
        let Name { at, name } = used;
        if let Some(slot) = self.find(name, position) {
            return Ok(slot);
        }
        if self.set.contains_key(name) {
            return Err(Defect::new(at, format!("the variable :{name} is used before it is set"))
                .hint(format!("set it above this line: \\set {name} ...")));
        }
        let known = self.slots.iter().map(|variable| variable.name.as_str());
        let meant = nearest(name, known.chain(self.set.keys().copied()));
        Err(Defect::new(at, format!("nothing sets the variable :{name}"))
            .hint(format!("set it with \\set {name} ..., or give it with the workload"))
            .perhaps(meant.map(|meant| format!(":{meant}"))))
    }

    /// The slot as [`Variables::resolve`] returns it; `None` if nothing sets the name.
    pub fn find(&mut self, name: &str, position: Position) -> Option<Slot> {
        let may_be_gathered =
            |(set, prefix): &(Position, &str)| is_above(*set, position) && name.starts_with(prefix);
        if !self.is_set(name, position) && !self.gathered.iter().any(may_be_gathered) {
            return None;
        }
        let slot = self.slot(name);
        self.used.insert(slot.0);
        Some(slot)
    }

    /// Whether a variable of this name is certain to have a value: a `\gset` without a prefix could set any name.
    pub fn is_surely_set(&self, name: &str, position: Position) -> bool {
        let is_gathered = |(set, prefix): &(Position, &str)| {
            is_above(*set, position) && !prefix.is_empty() && name.starts_with(prefix)
        };
        self.is_set(name, position) || self.gathered.iter().any(is_gathered)
    }

    /// Whether it is a variable of the run, or set by its name before `position` or in another script.
    fn is_set(&self, name: &str, position: Position) -> bool {
        let is_given = |slot: &Slot| self.slots[slot.0 as usize].initial.is_some();
        let set = self.set.get(name).map_or(&[][..], Vec::as_slice);
        let is_elsewhere = |set: &Position| set.script != position.script;
        self.by_name.get(name).is_some_and(is_given)
            || (set.iter()).any(|set| is_above(*set, position) || is_elsewhere(set))
    }

    /// Whether only answers set a variable.
    pub fn is_of_answers(&self, name: &str) -> bool {
        let is_given = |slot: &Slot| self.slots[slot.0 as usize].initial.is_some();
        !self.set.contains_key(name) && !self.by_name.get(name).is_some_and(is_given)
    }

    /// The value of a variable of the run that no script changes.
    pub fn constant(&self, name: &str) -> Option<Value> {
        let slot = *self.by_name.get(name)?;
        let is_changed = self.set.contains_key(name)
            || (self.gathered.iter()).any(|(_, prefix)| name.starts_with(prefix))
            || self.own.iter().any(|&(own, _)| own == slot);
        match is_changed {
            true => None,
            false => self.slots[slot.0 as usize].initial.clone(),
        }
    }

    /// The columns that a `\gset` with this prefix stores: those of the variables that some script uses.
    pub fn gather(&self, prefix: &str) -> Gather {
        let begin_so = self.by_name.range::<str, _>((Bound::Excluded(prefix), Bound::Unbounded));
        let targets = begin_so
            .take_while(|(name, _)| name.starts_with(prefix))
            .filter(|(_, slot)| self.used.contains(&slot.0))
            .map(|(name, &slot)| (name[prefix.len()..].to_owned(), slot));
        Gather { prefix: prefix.to_owned(), targets: targets.collect() }
    }

    pub fn into_slots(self) -> Vec<Variable> {
        self.slots
    }
}

fn is_above(set: Position, position: Position) -> bool {
    set.script == position.script && set.item < position.item
}
