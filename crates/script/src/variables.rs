//! Takes the names that scripts set and use; gives each a slot, or says that nobody sets it.

use crate::command::Command;
use crate::nearest::nearest;
use crate::operand::Slot;
use crate::place::Defect;
use crate::program::{Gather, Own, Variable};
use crate::statement::Name;
use assay_values::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

/// Where in the scripts a command stands: its script, and its number among that script's items.
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
    /// Those that anybody reads.
    used: BTreeSet<u32>,
    /// What `\set` and `\for` set, and where.
    set: BTreeMap<&'a str, Vec<Position>>,
    /// What `\gset` and `\aset` set: any variable whose name begins so.
    gathered: Vec<(Position, &'a str)>,
    own: Vec<(Slot, Own)>,
}

impl<'a> Variables<'a> {
    /// Begins with those that are given from outside, and those that are always there.
    pub fn given(variables: &[(String, Value)]) -> Self {
        let mut all = Self::default();
        for (name, value) in variables {
            all.give(name, value.clone());
        }
        for (name, own) in Own::ALL {
            if !all.by_name.contains_key(name) {
                let slot = all.give(name, Value::Null);
                all.own.push((slot, own));
            }
        }
        all
    }

    pub fn own(&self) -> Vec<(Slot, Own)> {
        self.own.clone()
    }

    fn give(&mut self, name: &str, value: Value) -> Slot {
        let slot = self.slot(name);
        self.slots[slot.0 as usize].initial = Some(value);
        slot
    }

    /// Notes what a command will set; all of them are noted before any name is resolved.
    pub fn note(&mut self, position: Position, command: &Command<'a>) {
        match command {
            Command::Set { name, .. }
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
        self.slots.push(Variable {
            name: name.to_owned(),
            initial: None,
        });
        self.by_name.insert(name.to_owned(), slot);
        slot
    }

    /// The slot of a name that is used at `position`: given, set before it in the same script, or set
    /// by name anywhere in another script. (A `\gset` elsewhere does not count: it could set anything,
    /// and no slip of the hand would be found any more.)
    pub fn resolve(&mut self, used: Name<'_>, position: Position) -> Result<Slot, Defect> {
        let Name { at, name } = used;
        if let Some(slot) = self.find(name, position) {
            return Ok(slot);
        }
        if self.set.contains_key(name) {
            return Err(
                Defect::new(at, format!("the variable :{name} is used before it is set"))
                    .hint(format!("set it above this line: \\set {name} ...")),
            );
        }
        let known = self.slots.iter().map(|variable| variable.name.as_str());
        let meant = nearest(name, known.chain(self.set.keys().copied()));
        Err(
            Defect::new(at, format!("nothing sets the variable :{name}"))
                .hint(format!(
                    "set it with \\set {name} ..., or give it with the workload"
                ))
                .perhaps(meant.map(|meant| format!(":{meant}"))),
        )
    }

    /// The slot as [`Variables::resolve`] gives it; none where nothing sets the name.
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

    /// Whether a variable of this name has a value: an answer may fill it only where a prefix determines which.
    pub fn is_surely_set(&self, name: &str, position: Position) -> bool {
        let is_gathered = |(set, prefix): &(Position, &str)| {
            is_above(*set, position) && !prefix.is_empty() && name.starts_with(prefix)
        };
        self.is_set(name, position) || self.gathered.iter().any(is_gathered)
    }

    /// Whether it is given, or set by its name, before `position` or in another script.
    fn is_set(&self, name: &str, position: Position) -> bool {
        let is_given = |slot: &Slot| self.slots[slot.0 as usize].initial.is_some();
        let set = self.set.get(name).map_or(&[][..], Vec::as_slice);
        let is_elsewhere = |set: &Position| set.script != position.script;
        self.by_name.get(name).is_some_and(is_given)
            || (set.iter()).any(|set| is_above(*set, position) || is_elsewhere(set))
    }

    /// Whether only answers fill a variable.
    pub fn is_of_answers(&self, name: &str) -> bool {
        let is_given = |slot: &Slot| self.slots[slot.0 as usize].initial.is_some();
        !self.set.contains_key(name) && !self.by_name.get(name).is_some_and(is_given)
    }

    /// The value of a variable that is given from outside and that nothing can change.
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

    /// Which columns a `\gset` with this prefix looks for: those of the variables that anybody uses.
    pub fn gather(&self, prefix: &str) -> Gather {
        let begin_so = self
            .by_name
            .range::<str, _>((Bound::Excluded(prefix), Bound::Unbounded));
        let targets = begin_so
            .take_while(|(name, _)| name.starts_with(prefix))
            .filter(|(_, slot)| self.used.contains(&slot.0))
            .map(|(name, &slot)| (name[prefix.len()..].to_owned(), slot));
        Gather {
            prefix: prefix.to_owned(),
            targets: targets.collect(),
        }
    }

    pub fn into_slots(self) -> Vec<Variable> {
        self.slots
    }
}

fn is_above(set: Position, position: Position) -> bool {
    set.script == position.script && set.item < position.item
}
