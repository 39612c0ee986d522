//! Takes a statement with identifiers chosen at run time, and the lists they are chosen from; returns every
//! choice, and the variables that select it.

use crate::emit::Emitter;
use crate::nearest::nearest;
use crate::operand::{ChoiceId, short};
use crate::place::Defect;
use crate::program::Choice;
use crate::statement::{Name, Written};
use std::collections::BTreeMap;

/// The choices of a statement, numbered from 0; the last identifier changes fastest.
pub(crate) struct Choices<'o, 'a> {
    pub count: usize,
    /// `None` if the statement has no such identifiers.
    pub choice: Option<ChoiceId>,
    /// Each name once, with the list it chooses from.
    lists: Vec<(&'a str, &'o [String])>,
}

impl<'o> Choices<'o, '_> {
    /// The identifier that replaces a name in the choice of this number.
    pub fn identifier(&self, number: usize, name: &str) -> &'o str {
        let mut rest = number;
        let digits = self.lists.iter().rev().map(|&(known, list)| {
            let digit = rest % list.len();
            rest /= list.len();
            (known, list[digit].as_str())
        });
        let found = digits.into_iter().find(|&(known, _)| known == name);
        found.expect("every name was given its list").1
    }
}

/// Every client prepares every choice.
const MOST_CHOICES: usize = 10_000;

impl<'p, 'a> Emitter<'p, 'a> {
    pub fn choices(&mut self, written: &Written<'a>) -> Result<Choices<'p, 'a>, Defect> {
        // A name used twice has the same choice in both places.
        let mut lists: Vec<(&str, &[String])> = Vec::new();
        let mut by = Vec::new();
        for name in written.identifiers() {
            if lists.iter().any(|&(known, _)| known == name.name) {
                continue;
            }
            let list = list(self.options.identifiers, name)?;
            lists.push((name.name, list));
            by.push((self.assembler.resolve(name)?, short(list.len())));
        }
        let Some(Name { at, .. }) = written.identifiers().next() else {
            return Ok(Choices {
                count: 1,
                choice: None,
                lists,
            });
        };
        let count = lists
            .iter()
            .try_fold(1_usize, |count, (_, list)| count.checked_mul(list.len()))
            .filter(|&count| count <= MOST_CHOICES);
        let Some(count) = count else {
            let message = "this statement has too many choices of identifiers";
            return Err(Defect::new(at, message).hint(format!(
                "every client prepares each of them; at most {MOST_CHOICES} are accepted"
            )));
        };
        let choices = &mut self.assembler.program.choices;
        choices.push(Choice { by });
        Ok(Choices {
            count,
            choice: Some(ChoiceId(short(choices.len() - 1))),
            lists,
        })
    }
}

fn list<'o>(
    known: &'o BTreeMap<String, Vec<String>>,
    Name { at, name }: Name<'_>,
) -> Result<&'o [String], Defect> {
    if let Some(list) = known.get(name).filter(|list| !list.is_empty()) {
        return Ok(list);
    }
    let names: Vec<String> = known.keys().map(|name| format!(":{{{name}}}")).collect();
    let hint = match names.is_empty() {
        true => "the workload declares no [identifiers]; a value is written :name".to_owned(),
        false => format!("the identifiers of the workload are {}", names.join(", ")),
    };
    let meant = nearest(name, known.keys().map(String::as_str));
    let defect = Defect::new(at, format!("nothing declares the identifier :{{{name}}}"));
    Err(defect
        .hint(hint)
        .perhaps(meant.map(|meant| format!(":{{{meant}}}"))))
}
