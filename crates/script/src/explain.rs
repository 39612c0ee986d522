//! Takes a program; returns a listing of its instructions and statements.

use crate::opcode::Opcode;
use crate::program::{Gathering, Need, Program, Script};
use crate::show::{operands, show};
use std::fmt::Write as _;

/// Operands longer than this move only their own line's meaning to the right.
const WIDEST_OPERANDS: usize = 24;

impl Program {
    /// Lists every script with its instructions, one per line (number, place, opcode, operands, meaning), and
    /// the text of its statements as they are sent.
    #[must_use]
    pub fn explain(&self) -> String {
        let mut out = String::new();
        for (index, script) in self.scripts.iter().enumerate() {
            let gap = if index == 0 { "" } else { "\n" };
            put(
                &mut out,
                format_args!("{gap}script {} ({})\n", script.name, script.path),
            );
            self.explain_instructions(script, &mut out);
            self.explain_statements(script, &mut out);
        }
        out
    }

    fn explain_instructions(&self, script: &Script, out: &mut String) {
        let lines: Vec<_> = script
            .instructions
            .clone()
            .map(|number| {
                let instruction = self.instructions[number as usize];
                let place = self.places[number as usize];
                let place = format!("{}:{}", place.line, place.column);
                (
                    number,
                    place,
                    instruction.opcode(),
                    operands(instruction, self),
                )
            })
            .collect();
        let width = |of: fn(&(u32, String, &'static Opcode, String)) -> usize| {
            lines.iter().map(of).max().unwrap_or(0)
        };
        let places = width(|line| line.1.len());
        let names = width(|line| line.2.name.len());
        let operands = width(|line| line.3.chars().count()).min(WIDEST_OPERANDS);
        for (number, place, opcode, shown) in &lines {
            put(
                out,
                format_args!(
                    "{number:4}  {place:places$}  {:names$}  {shown:operands$}  {}\n",
                    opcode.name, opcode.synopsis
                ),
            );
        }
    }

    fn explain_statements(&self, script: &Script, out: &mut String) {
        for id in script.statement_ids.clone() {
            let statement = &self.statements[id as usize];
            let wants = match (statement.gathering, statement.need) {
                (None, Need::Count) => String::new(),
                (None, Need::Rows) => ", its cells wanted".to_owned(),
                (Some(Gathering { gather, is_last }), _) => {
                    let row = if is_last { "last" } else { "only" };
                    format!(", its {row} row into {}", show(gather, self))
                }
            };
            put(
                out,
                format_args!(
                    "statement #{id} at {}:{}, parameters {}{wants}\n",
                    statement.line, statement.column, statement.parameter_count
                ),
            );
            for line in statement.text.lines() {
                put(out, format_args!("      {}\n", line.trim_end()));
            }
        }
    }
}

fn put(out: &mut String, arguments: std::fmt::Arguments<'_>) {
    out.write_fmt(arguments)
        .expect("writing to memory is infallible");
}
