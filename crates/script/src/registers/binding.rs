//! Takes a statement; binds the values of its variables, or substitutes them into its text, and selects its
//! choice of identifiers.

use super::{Registers, assign, unset};
use crate::number::{Fault, number};
use crate::operand::StatementId;
use crate::program::{Choice, Program, Statement};
use assay_values::{Piece, Value};

impl Registers {
    /// Copies the values of the statement's variables to their places in `values` (an unchanged text is not copied
    /// again), or substitutes them into its text.
    #[inline]
    pub fn bind(
        &mut self,
        program: &Program,
        statement: StatementId,
        values: &mut Vec<Value>,
    ) -> Result<(), Fault> {
        let statement = &program.statements[statement.0 as usize];
        if program.pastes {
            return self.paste(program, statement);
        }
        let places = statement.bound();
        if values.len() < places.end {
            values.resize(places.end, Value::Null);
        }
        let bound = &mut values[places];
        for (place, parameter) in bound.iter_mut().zip(&statement.parameters) {
            match (&mut *place, &self.variables[parameter.slot.0 as usize]) {
                (Value::Int(place), Some(Value::Int(number))) => *place = *number,
                (place, Some(value)) => assign(place, value),
                (_, None) => return Err(unset(program, parameter.slot)),
            }
        }
        Ok(())
    }

    /// Builds the statement's text with its values.
    fn paste(&mut self, program: &Program, statement: &Statement) -> Result<(), Fault> {
        self.text.clear();
        let mut parameters = statement.parameters.iter();
        for piece in &statement.pieces {
            match piece {
                Piece::Text(text) => {
                    self.text.push_str(text);
                    continue;
                }
                Piece::Identifier(name) => {
                    program.lexer.identifier(name, &mut self.text);
                    continue;
                }
                Piece::Value => {}
            }
            let parameter = parameters.next().expect("each value has its variable");
            match &self.variables[parameter.slot.0 as usize] {
                Some(Value::Null) if parameter.is_of_answers => {}
                Some(value) => program.lexer.paste(value, &mut self.text),
                None if parameter.may_be_text => {
                    self.text.push(':');
                    self.text.push_str(&program.variable(parameter.slot).name);
                }
                None => return Err(unset(program, parameter.slot)),
            }
        }
        Ok(())
    }

    /// Selects a statement, as an offset from the first choice.
    pub fn choose(&mut self, program: &Program, choice: &Choice) -> Result<(), Fault> {
        self.chosen = 0;
        for &(slot, count) in &choice.by {
            let chosen = number(self.read(program, slot)?)?.int()?;
            let digit = u32::try_from(chosen).ok().filter(|&digit| digit < count);
            let Some(digit) = digit else {
                let name = &program.variable(slot).name;
                return Err(Fault::of(format!(
                    ":{{{name}}} has {count} choices, expected :{name} to be 0 to {}, found {chosen}",
                    count - 1
                )));
            };
            self.chosen = self.chosen * count + digit;
        }
        Ok(())
    }

    /// The selected statement: the first choice plus the selected offset.
    pub fn take_chosen(&mut self, first: StatementId) -> StatementId {
        StatementId(first.0 + std::mem::take(&mut self.chosen))
    }
}
