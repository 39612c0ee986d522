//! Takes a compiled script; says whether a transaction that it begins can be open at its end.
//!
//! Every way through the instructions is followed. A condition that stands there twice, with nothing set
//! in between, is taken the same way twice. Open at the end of every way is a mistake, open at the end of
//! some may be one.

use crate::ScriptError;
use crate::function::FUNCTIONS;
use crate::lexer::StatementKind;
use crate::number;
use crate::opcode::Instruction;
use crate::operand::Slot;
use crate::program::{Program, Script};
use crate::show::operands;
use std::collections::{BTreeMap, BTreeSet};

const HINT: &str = "end it with \\commit, COMMIT, ROLLBACK or \\abort before the script ends";

/// Beyond so many places on different ways nothing is said.
const MOST_STATES: usize = 20_000;

/// A place on a way.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    at: u32,
    /// The instruction that began the open transaction.
    open_since: Option<u32>,
    /// How conditions were decided, while their variables stay as they are.
    decided: BTreeMap<Condition, bool>,
}

/// A condition as its instructions spell it, and the variables in it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Condition {
    spelled: String,
    variables: Vec<u32>,
}

/// A warning where a transaction may be left open.
///
/// # Errors
/// Where one is left open in any case.
pub(crate) fn check(
    program: &Program,
    script: &Script,
) -> Result<Option<ScriptError>, ScriptError> {
    let ends = open_at_ends(program, script).unwrap_or_default();
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
        false => Err(found(
            "the transaction that begins here is still open at the end of the script",
        )),
        true => Ok(Some(found(
            "the transaction that begins here is not ended on every branch of the script",
        ))),
    }
}

/// What is open where the script ends, on any of its ways; none where there are too many.
fn open_at_ends(program: &Program, script: &Script) -> Option<BTreeSet<Option<u32>>> {
    let begin = State {
        at: script.instructions.start,
        open_since: None,
        decided: BTreeMap::new(),
    };
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
            follow(program, script, state, &mut to_visit);
        }
    }
    Some(ends)
}

/// Appends the places that can follow this one.
fn follow(program: &Program, script: &Script, mut state: State, to_visit: &mut Vec<State>) {
    let at = state.at;
    state.at += 1;
    match program.instructions[at as usize] {
        Instruction::Execute { statement } | Instruction::Queue { statement } => {
            match program.statements[statement.0 as usize].kind {
                StatementKind::Rows => {}
                StatementKind::Begin => state.open_since = state.open_since.or(Some(at)),
                StatementKind::Commit | StatementKind::Rollback => state.open_since = None,
                // It may have ended it: then nothing is said here, and the system itself will say.
                StatementKind::Other => state.open_since = None,
            }
        }
        Instruction::Store { variable } => state.forget(variable),
        Instruction::Gather { .. }
        | Instruction::GatherLast { .. }
        | Instruction::Sync {}
        | Instruction::Shell { .. } => state.decided.clear(),
        Instruction::Jump { target } => state.at = target.0,
        Instruction::JumpUnless { target } => {
            let skipping = State {
                at: target.0,
                ..state.clone()
            };
            return decide(program, script, at, [skipping, state], to_visit);
        }
        Instruction::LoopEnter { variable, target }
        | Instruction::LoopNext { variable, target } => {
            state.forget(variable);
            to_visit.push(State {
                at: target.0,
                ..state.clone()
            });
        }
        Instruction::Abort {} => return,
        _ => {}
    }
    to_visit.push(state);
}

/// A condition before `at` chooses between where it is false and where it is true.
fn decide(
    program: &Program,
    script: &Script,
    at: u32,
    [no, yes]: [State; 2],
    to_visit: &mut Vec<State>,
) {
    if let Instruction::Constant { constant } = program.instructions[at as usize - 1]
        && let Ok(is_true) = number::condition(program.constant(constant))
    {
        return to_visit.push(if is_true { yes } else { no });
    }
    let condition = Condition::before(program, script, at);
    let known = condition
        .as_ref()
        .and_then(|known| yes.decided.get(known).copied());
    for (is_true, mut state) in [(false, no), (true, yes)] {
        if known.is_none_or(|known| known == is_true) {
            if let Some(condition) = &condition {
                state.decided.insert(condition.clone(), is_true);
            }
            to_visit.push(state);
        }
    }
}

impl State {
    /// The variable has another value from here on.
    fn forget(&mut self, variable: Slot) {
        let is_of = |condition: &Condition| condition.variables.contains(&variable.0);
        self.decided.retain(|condition, _| !is_of(condition));
    }
}

impl Condition {
    /// The one whose value is taken at `at`; none where chance is in it.
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
                // Where it goes differs from place to place.
                Instruction::Decide { connective, .. } => connective.symbol().to_owned(),
                _ => break,
            };
            spelled.push(format!("{} {shown}", instruction.opcode().name));
        }
        Some(Self {
            spelled: spelled.join("; "),
            variables,
        })
    }
}
