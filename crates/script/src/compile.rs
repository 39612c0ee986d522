//! Takes the texts of all scripts of a run and the variables given to it; gives one program, or the
//! first thing that is wrong, with its place.

use crate::assemble::Assembler;
use crate::emit;
use crate::items::{Content, items};
use crate::place::Lines;
use crate::program::{Program, Script};
use crate::variables::{Position, Variables};
use crate::{Options, ScriptError};

/// One script as the workload holds it.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The transaction type.
    pub name: &'a str,
    /// Where it was read from, for messages.
    pub path: &'a str,
    pub text: &'a str,
    /// The text is one statement, sent as it stands: no meta commands, no parameters.
    pub is_plain: bool,
}

/// Compiles `sources` into one program.
///
/// # Errors
/// Where a script is not in the language: what was expected, what was found, where, and the cure.
pub fn compile(sources: &[Source<'_>], options: &Options<'_>) -> Result<Program, ScriptError> {
    let mut variables = Variables::given(options.variables);
    let mut scripts = Vec::with_capacity(sources.len());
    for (script, source) in sources.iter().enumerate() {
        let lines = Lines::of(source.text);
        let items = items(source).map_err(|defect| defect.locate(source.path, &lines))?;
        for (item, found) in items.iter().enumerate() {
            if let Content::Command(command) = &found.content {
                variables.note(Position { script, item }, command);
            }
        }
        scripts.push((source, lines, items));
    }
    let mut program = Program::default();
    for (script, (source, lines, items)) in scripts.into_iter().enumerate() {
        let instructions = short(program.instructions.len());
        let statements = short(program.statements.len());
        let assembler = Assembler {
            program: &mut program,
            variables: &mut variables,
            lines: &lines,
            position: Position { script, item: 0 },
        };
        emit::script(assembler, options, items)
            .map_err(|defect| defect.locate(source.path, &lines))?;
        program.scripts.push(Script {
            name: source.name.to_owned(),
            path: source.path.to_owned(),
            statement_ids: statements..short(program.statements.len()),
            instructions: instructions..short(program.instructions.len()),
        });
    }
    // Only now is it known which variables anybody uses, and so which columns are wanted.
    for gather in &mut program.gathers {
        *gather = variables.gather(&gather.prefix);
    }
    program.own = variables.own();
    program.variables = variables.into_slots();
    Ok(program)
}

/// Numbers of things in a program; the bound on the size of scripts keeps them far below 2^32.
pub(crate) fn short(number: usize) -> u32 {
    u32::try_from(number).expect("the size of scripts is bounded")
}
