//! Takes a compiled script; reports whether a transaction that it begins can be open at its end.
//!
//! Every path through the instructions is followed. A condition that occurs twice, with none of its variables
//! set in between, is decided the same way twice. A transaction open at the end of every path is an error; open
//! at the end of some paths, it is a warning.

use crate::ScriptError;
use crate::expression::function::FUNCTIONS;
use crate::expression::number;
use crate::lexer::StatementKind;
use crate::program::explain::operands;
use crate::program::opcode::{Instruction, Slot};
use crate::program::{Program, Script};
use std::collections::{BTreeMap, BTreeSet};

const HINT: &str = "end it with \\commit, COMMIT, ROLLBACK or \\abort before the script ends";

/// With more states than this, nothing is reported.
const MOST_STATES: usize = 20_000;

/// A position on a path.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    at: u32,
    /// The instruction that began the open transaction.
    open_since: Option<u32>,
    /// How conditions were decided, by their numbers, until their variables change.
    decided: BTreeMap<usize, bool>,
}

/// The conditions of a script that can be decided twice.
struct Conditions {
    /// The number of the one whose value an instruction takes.
    numbers: BTreeMap<u32, usize>,
    /// Of each, by its number.
    variables: Vec<Vec<u32>>,
    /// The variables that answers may set.
    gathered: Vec<Slot>,
}

/// The instructions of a condition, and its variables.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Condition {
    spelled: String,
    variables: Vec<u32>,
}

/// Returns a warning if a transaction may be left open.
///
/// # Errors
/// If a transaction is left open on every path.
pub(crate) fn check(
    program: &Program,
    script: &Script,
) -> Result<Option<ScriptError>, ScriptError> {
    if !begins_any(program, script) {
        return Ok(None);
    }
    let mut defers = BTreeSet::new();
    let ends = open_at_ends(program, script, &mut defers).unwrap_or_default();
    if let Some(&at) = defers.first() {
        let place = program.places[at as usize];
        return Err(ScriptError {
            path: script.path.clone(),
            line: place.line,
            column: place.column,
            message: "found \\defer within a transaction".to_owned(),
            hint: Some(
                "put it after \\commit: what it queues does not wait for the transaction, and would be queued again \
                 with each retry"
                    .to_owned(),
            ),
        });
    }
    let Some(begin) = ends.iter().find_map(|end| *end) else {
        return Ok(None);
    };
    let place = program.places[begin as usize];
    let found = |message: &str| ScriptError {
        path: script.path.clone(),
        line: place.line,
        column: place.column,
        message: message.to_owned(),
        hint: Some(HINT.to_owned()),
    };
    match ends.contains(&None) {
        false => {
            Err(found("the transaction that begins here is still open at the end of the script"))
        }
        true => Ok(Some(found(
            "the transaction that begins here is not ended on every branch of the script",
        ))),
    }
}

fn begins_any(program: &Program, script: &Script) -> bool {
    instructions(program, script).any(|(_, instruction)| match instruction {
        Instruction::Execute { statement } | Instruction::Queue { statement } => {
            program.statements[statement.0 as usize].kind == StatementKind::Begin
        }
        _ => false,
    })
}

/// Each with its number.
fn instructions<'a>(
    program: &'a Program,
    script: &Script,
) -> impl Iterator<Item = (u32, Instruction)> + 'a {
    script.instructions.clone().map(|at| (at, program.instructions[at as usize]))
}

/// The transactions open where the script ends, on any path; `None` if there are too many paths. `defers`: gets
/// each `\defer` that is in an open transaction on some path.
fn open_at_ends(
    program: &Program,
    script: &Script,
    defers: &mut BTreeSet<u32>,
) -> Option<BTreeSet<Option<u32>>> {
    let begin = State { at: script.instructions.start, open_since: None, decided: BTreeMap::new() };
    let conditions = Conditions::of(program, script);
    let mut ends = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut to_visit = vec![begin];
    while let Some(state) = to_visit.pop() {
        if !seen.insert(state.clone()) {
            continue;
        }
        if seen.len() > MOST_STATES {
            return None;
        }
        if let Instruction::End {} = program.instructions[state.at as usize] {
            ends.insert(state.open_since);
        } else {
            let is_defer =
                matches!(program.instructions[state.at as usize], Instruction::Defer { .. });
            if is_defer && state.open_since.is_some() {
                defers.insert(state.at);
            }
            follow(program, &conditions, state, &mut to_visit);
        }
    }
    Some(ends)
}

/// Appends the states that can follow this one.
fn follow(program: &Program, conditions: &Conditions, mut state: State, to_visit: &mut Vec<State>) {
    let at = state.at;
    state.at += 1;
    match program.instructions[at as usize] {
        Instruction::Execute { statement } | Instruction::Queue { statement } => {
            match program.statements[statement.0 as usize].kind {
                StatementKind::Rows => {}
                StatementKind::Begin => state.open_since = state.open_since.or(Some(at)),
                StatementKind::Commit | StatementKind::Rollback => state.open_since = None,
                // It may have ended the transaction: nothing is reported here, since the system reports it at run time.
                StatementKind::Other => state.open_since = None,
            }
        }
        Instruction::Store { variable } => state.forget(variable, conditions),
        Instruction::Gather { .. } | Instruction::GatherLast { .. } | Instruction::Sync {} => {
            for variable in &conditions.gathered {
                state.forget(*variable, conditions);
            }
        }
        Instruction::GatherPath { .. } | Instruction::Shell { .. } => state.decided.clear(),
        Instruction::Jump { target } => state.at = target.0,
        Instruction::JumpUnless { target } => {
            let skipping = State { at: target.0, ..state.clone() };
            return decide(program, conditions, at, [skipping, state], to_visit);
        }
        Instruction::LoopEnter { variable, target }
        | Instruction::LoopNext { variable, target } => {
            state.forget(variable, conditions);
            to_visit.push(State { at: target.0, ..state.clone() });
        }
        Instruction::Abort { .. } => return,
        _ => {}
    }
    to_visit.push(state);
}

/// Continues after the condition before `at`, both where it is false and where it is true.
fn decide(
    program: &Program,
    conditions: &Conditions,
    at: u32,
    [no, yes]: [State; 2],
    to_visit: &mut Vec<State>,
) {
    if let Instruction::Constant { constant } = program.instructions[at as usize - 1]
        && let Ok(is_true) = number::condition(program.constant(constant))
    {
        return to_visit.push(if is_true { yes } else { no });
    }
    let condition = conditions.numbers.get(&at);
    let known = condition.and_then(|number| yes.decided.get(number).copied());
    for (is_true, mut state) in [(false, no), (true, yes)] {
        if known.is_none_or(|known| known == is_true) {
            if let Some(number) = condition {
                state.decided.insert(*number, is_true);
            }
            to_visit.push(state);
        }
    }
}

impl State {
    /// The variable changes here.
    fn forget(&mut self, variable: Slot, conditions: &Conditions) {
        let is_of = |number: usize| conditions.variables[number].contains(&variable.0);
        self.decided.retain(|number, _| !is_of(*number));
    }
}

impl Conditions {
    /// One that occurs once is decided twice only where a loop comes back to it. The others are left out: states that
    /// differ in nothing else are one, so that a script with many conditions has few.
    fn of(program: &Program, script: &Script) -> Self {
        let mut places: BTreeMap<Condition, Vec<u32>> = BTreeMap::new();
        let mut has_loops = false;
        for (at, instruction) in instructions(program, script) {
            match instruction {
                Instruction::JumpUnless { .. } => {
                    if let Some(condition) = Condition::before(program, script, at) {
                        places.entry(condition).or_default().push(at);
                    }
                }
                Instruction::LoopNext { .. } => has_loops = true,
                _ => {}
            }
        }
        places.retain(|_, places| has_loops || places.len() > 1);
        let numbers = places
            .values()
            .enumerate()
            .flat_map(|(number, places)| places.iter().map(move |at| (*at, number)))
            .collect();
        let variables = places.into_keys().map(|one| one.variables).collect();
        Self { numbers, variables, gathered: gathered(program) }
    }
}

/// Those that are called as a column may be: by a word of a statement, or by any name where a statement has a `*`.
fn gathered(program: &Program) -> Vec<Slot> {
    let texts = || program.statements.iter().map(|statement| &statement.text);
    let is_any = texts().any(|text| text.contains('*'));
    let is_word = |name: &str| texts().any(|text| has_word(text, name));
    let targets = program.gathers.iter().flat_map(|gather| &gather.targets);
    targets.filter(|(name, _)| is_any || is_word(name)).map(|(_, slot)| *slot).collect()
}

/// Whether the text has the word, in letters of either case, other than as a value's place (`:name`).
fn has_word(text: &str, word: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let (text, word) = (text.to_lowercase(), word.to_lowercase());
    text.match_indices(&word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        before.is_none_or(|letter| !is_part(letter) && letter != ':') && !after.is_some_and(is_part)
    })
}

impl Condition {
    /// The condition whose value is taken at `at`; `None` if it draws random numbers.
    fn before(program: &Program, script: &Script, at: u32) -> Option<Self> {
        let mut spelled = Vec::new();
        let mut variables = Vec::new();
        for number in (script.instructions.start..at).rev() {
            let instruction = program.instructions[number as usize];
            let shown = match instruction {
                Instruction::Load { variable } => {
                    variables.push(variable.0);
                    operands(instruction, program)
                }
                Instruction::Call { function, .. }
                    if FUNCTIONS[function.0 as usize].name.starts_with("random") =>
                {
                    return None;
                }
                Instruction::Constant { .. }
                | Instruction::Binary { .. }
                | Instruction::Test { .. }
                | Instruction::Truth {}
                | Instruction::Call { .. } => operands(instruction, program),
                // Jump targets differ between occurrences of the same condition.
                Instruction::Decide { connective, .. } => connective.symbol().to_owned(),
                _ => break,
            };
            spelled.push(format!("{} {shown}", instruction.opcode().name));
        }
        Some(Self { spelled: spelled.join("; "), variables })
    }
}
