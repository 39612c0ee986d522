//! Takes a statement with identifiers chosen at run time, and the lists they are chosen from; gives the
//! text of every choice, and which variables choose.

use crate::compile::short;
use crate::emit::Emitter;
use crate::nearest::nearest;
use crate::operand::ChoiceId;
use crate::place::Defect;
use crate::program::Choice;
use crate::statement::{Bound, Name};
use std::collections::BTreeMap;

/// What a statement comes to.
pub(crate) struct Chosen {
    /// The last of the identifiers changes fastest.
    pub texts: Vec<String>,
    /// `None` where there is nothing to choose.
    pub choice: Option<ChoiceId>,
}

/// Every choice is prepared by every client.
const MOST_CHOICES: usize = 10_000;

impl<'a> Emitter<'_, 'a> {
    pub fn choices(&mut self, bound: &Bound<'a>) -> Result<Chosen, Defect> {
        let Some(&(_, Name { at, .. })) = bound.identifiers.first() else {
            return Ok(Chosen {
                texts: vec![bound.text.clone()],
                choice: None,
            });
        };
        // The same name twice is the same choice twice.
        let mut lists: Vec<(&str, &[String])> = Vec::new();
        let mut by = Vec::new();
        for &(_, name) in &bound.identifiers {
            if lists.iter().any(|&(known, _)| known == name.name) {
                continue;
            }
            let list = list(self.options.identifiers, name)?;
            lists.push((name.name, list));
            by.push((self.assembler.resolve(name)?, short(list.len())));
        }
        let count = lists
            .iter()
            .try_fold(1_usize, |count, (_, list)| count.checked_mul(list.len()))
            .filter(|&count| count <= MOST_CHOICES);
        let Some(count) = count else {
            let message = "this statement has too many choices of identifiers";
            return Err(Defect::new(at, message).hint(format!(
                "every client prepares each of them; at most {MOST_CHOICES} are taken"
            )));
        };
        let text = |number: usize| {
            let chosen = bound.identifiers.iter().map(|(_, name)| {
                let mut rest = number;
                let digits = lists.iter().rev().map(|&(known, list)| {
                    let digit = rest % list.len();
                    rest /= list.len();
                    (known, list[digit].as_str())
                });
                let found = digits.into_iter().find(|&(known, _)| known == name.name);
                found.expect("every name was given its list above").1
            });
            bound.with_identifiers(&chosen.collect::<Vec<_>>())
        };
        let choices = &mut self.assembler.program.choices;
        choices.push(Choice { by });
        Ok(Chosen {
            texts: (0..count).map(text).collect(),
            choice: Some(ChoiceId(short(choices.len() - 1))),
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
