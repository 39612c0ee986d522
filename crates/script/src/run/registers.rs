//! Holds the state of one client (stack, variables, bound values) and moves values between
//! its parts. After a client's longest transaction nothing here allocates any more,
//! except for texts that are computed or change.

use crate::expression::number::{Fault, number, whole};
use crate::program::opcode::{NumbersId, Slot, StatementId, Target};
use crate::program::{Choice, Own, Program, Statement, Variable};
use assay_values::{Piece, Random, Value};

/// The state of one client, in this order: first what every statement needs, so that it takes few lines of the
/// processor's caches; with many clients none is still there when its next answer arrives.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Registers {
    /// The instruction to be executed next.
    pub next: u32,
    /// The selected choice of the next statement.
    pub chosen: u32,
    /// Loop repetitions since the last statement or pause.
    turns: u32,
    /// The work since the last stop, in instructions; counted where a loop repeats and where texts are copied.
    work: u32,
    variables: Vec<Option<Value>>,
    pub stack: Vec<Value>,
    pub random: Random,
    loops: Vec<Loop>,
    /// The variable that counts transactions.
    number: Option<Slot>,
    /// The text of the current statement, if values are substituted into it.
    pub text: String,
    /// The variables before the client's first transaction.
    initial: Vec<Option<Value>>,
    /// The number of the first transaction.
    first_number: u64,
    client: u32,
    /// The shared numbers that this transaction took, in their order, each with its counter.
    taken: Vec<(NumbersId, u64)>,
    /// How many of them this attempt has had.
    had: usize,
    /// The state at the beginning of the current transaction: kept only if it may have to be retried.
    start: Start,
}

#[derive(Debug)]
struct Start {
    is_kept: bool,
    instruction: u32,
    variables: Vec<Option<Value>>,
    random: Random,
}

#[derive(Clone, Copy, Debug)]
struct Loop {
    now: i64,
    last: i64,
}

/// A loop that repeats this often without a stop would hang the client.
pub(crate) const MOST_TURNS: u32 = 10_000_000;

/// A loop without a statement lets the engine act after this much work, about a millisecond: other clients
/// go on, and the end of the run and an interrupt are noticed.
const MOST_WORK: u32 = 200_000;

/// The number of the first transaction.
const BEFORE_THE_FIRST: i64 = -1;

impl Registers {
    pub fn new(program: &Program, seed: u64, client: u32) -> Self {
        let initial = |variable: &Variable| variable.initial.clone();
        let mut variables: Vec<_> = program.variables.iter().map(initial).collect();
        for &(Slot(slot), own) in &program.own {
            variables[slot as usize] = Some(match own {
                Own::ClientId => Value::Int(i64::from(client)),
                Own::RandomSeed => Value::Int(seed.cast_signed()),
                // The same for all clients, and no client's stream: client numbers have 32 bits.
                Own::DefaultSeed => Value::Int(Random::stream(seed, u64::MAX).next().cast_signed()),
                Own::TransactionNumber => Value::Int(BEFORE_THE_FIRST),
                Own::RowsChanged => Value::Null,
            });
        }
        let is_number = |(_, own): &&(Slot, Own)| *own == Own::TransactionNumber;
        let number = program.own.iter().find(is_number).map(|&(slot, _)| slot);
        let random = Random::stream(seed, u64::from(client));
        let start =
            Start { is_kept: false, instruction: 0, variables: Vec::new(), random: random.clone() };
        Self {
            next: 0,
            initial: variables.clone(),
            variables,
            stack: Vec::new(),
            loops: Vec::new(),
            text: String::new(),
            random,
            chosen: 0,
            number,
            first_number: 0,
            client,
            taken: Vec::new(),
            had: 0,
            start,
            turns: 0,
            work: 0,
        }
    }

    /// Begins a transaction whose values depend only on its number.
    pub fn begin_numbered(&mut self, instruction: u32, random: Random, number: u64) {
        self.begin_deferred(instruction, random, number, &[]);
    }

    /// The same, with these values of variables.
    pub fn begin_deferred(
        &mut self,
        instruction: u32,
        random: Random,
        number: u64,
        values: &[(Slot, Value)],
    ) {
        copy(&self.initial, &mut self.variables);
        self.random = random;
        if let Some(Slot(slot)) = self.number {
            let number = number.saturating_add(self.first_number);
            self.variables[slot as usize] = Some(Value::Int(before(number)));
        }
        for (slot, value) in values {
            self.write(*slot, value.clone());
        }
        self.begin(instruction);
    }

    /// The next transaction has this number, and those of a list are numbered from it.
    pub fn count_from(&mut self, first: u64) {
        self.first_number = first;
        if let Some(Slot(slot)) = self.number {
            self.variables[slot as usize] = Some(Value::Int(before(first)));
        }
    }

    pub fn begin(&mut self, instruction: u32) {
        self.taken.clear();
        self.restart(instruction);
        if let Some(Slot(slot)) = self.number
            && let Some(Value::Int(number)) = &mut self.variables[slot as usize]
        {
            *number = number.saturating_add(1);
        }
        if self.start.is_kept {
            self.start.instruction = instruction;
            copy(&self.variables, &mut self.start.variables);
            self.start.random.clone_from(&self.random);
        }
    }

    /// Whether to save the state at the beginning of each following transaction.
    pub fn keep_start(&mut self, is_kept: bool) {
        self.start.is_kept = is_kept;
    }

    /// Returns to the saved beginning.
    pub fn rewind(&mut self) {
        self.restart(self.start.instruction);
        copy(&self.start.variables, &mut self.variables);
        self.random.clone_from(&self.start.random);
    }

    fn restart(&mut self, instruction: u32) {
        self.next = instruction;
        self.stack.clear();
        self.loops.clear();
        self.chosen = 0;
        self.had = 0;
        self.acted();
    }

    /// The engine acts: a statement is executed, or a pause begins.
    pub fn acted(&mut self) {
        (self.turns, self.work) = (0, 0);
    }

    /// Counts work that takes as long as this many instructions.
    pub fn worked(&mut self, instructions: u32) {
        self.work = self.work.saturating_add(instructions);
    }

    pub fn pop(&mut self) -> Value {
        self.stack.pop().expect("the compiler pushes every value before it is popped")
    }

    /// Pops `count` integers. They own no memory, so dropping them needs no call for each.
    #[inline]
    pub fn drop_whole(&mut self, count: usize) {
        for _ in 0..count {
            std::mem::forget(self.stack.pop());
        }
    }

    /// Stores an integer in a variable.
    #[inline]
    pub fn write_whole(&mut self, slot: Slot, number: i64) {
        match &mut self.variables[slot.0 as usize] {
            Some(Value::Int(place)) => *place = number,
            place => *place = Some(Value::Int(number)),
        }
    }

    /// Replaces the `count` topmost values by one value.
    #[inline]
    pub fn replace(&mut self, count: usize, value: Value) {
        self.stack.truncate(self.stack.len() - count);
        self.stack.push(value);
    }

    /// The next shared number; in an attempt after the first one that which the first one had.
    pub fn take_number(&mut self, program: &Program, numbers: NumbersId) -> Value {
        let number = match self.taken.get(self.had) {
            Some(&(of, number)) if of == numbers => number,
            _ => {
                let taken = &program.shared_numbers;
                let number = taken.take(numbers.0 as usize, self.client);
                self.taken.truncate(self.had);
                self.taken.push((numbers, number));
                number
            }
        };
        self.had += 1;
        whole(number)
    }

    pub fn jump(&mut self, target: Target) {
        self.next = target.0;
    }

    pub fn read(&self, program: &Program, slot: Slot) -> Result<&Value, Fault> {
        let value = self.variables[slot.0 as usize].as_ref();
        value.ok_or_else(|| unset(program, slot))
    }

    /// The value of a variable if it is an integer.
    #[inline]
    pub fn whole(&self, slot: Slot) -> Option<i64> {
        match self.variables[slot.0 as usize] {
            Some(Value::Int(number)) => Some(number),
            _ => None,
        }
    }

    #[inline]
    pub fn write(&mut self, slot: Slot, value: Value) {
        self.variables[slot.0 as usize] = Some(value);
    }

    pub fn loop_enter(&mut self, variable: Slot, target: Target) -> Result<(), Fault> {
        let last = number(&self.pop())?.int()?;
        let now = number(&self.pop())?.int()?;
        if now > last {
            self.jump(target);
        } else {
            self.loops.push(Loop { now, last });
            self.write(variable, Value::Int(now));
        }
        Ok(())
    }

    /// Returns whether the engine must act before the loop continues.
    pub fn loop_next(&mut self, variable: Slot, target: Target) -> Result<bool, Fault> {
        let turn = self.loops.last_mut().expect("a loop was entered before it is repeated");
        if turn.now == turn.last {
            self.loops.pop();
            return Ok(false);
        }
        turn.now += 1;
        let now = turn.now;
        self.turns += 1;
        if self.turns > MOST_TURNS {
            return Err(Fault::of(format!("{MOST_TURNS} repetitions without a statement")));
        }
        self.write_whole(variable, now);
        self.worked(self.next.saturating_sub(target.0));
        self.jump(target);
        let is_long = self.work > MOST_WORK;
        if is_long {
            self.work = 0;
        }
        Ok(is_long)
    }
}

/// What the variable holds before the transaction of this number begins.
fn before(number: u64) -> i64 {
    i64::try_from(number).map_or(i64::MAX, |number| number + BEFORE_THE_FIRST)
}

fn unset(program: &Program, slot: Slot) -> Fault {
    let name = &program.variable(slot).name;
    Fault::of(format!("the variable :{name} has no value: no command has set it so far"))
}

/// An unchanged text is not copied.
#[inline]
fn assign(place: &mut Value, value: &Value) {
    match (&mut *place, value) {
        (Value::Int(place), Value::Int(number)) => *place = *number,
        (Value::Text(old), Value::Text(new)) if old == new => {}
        _ => *place = value.clone(),
    }
}

fn copy(from: &[Option<Value>], to: &mut Vec<Option<Value>>) {
    to.resize(from.len(), None);
    for (place, value) in to.iter_mut().zip(from) {
        match (place, value) {
            (Some(place), Some(value)) => assign(place, value),
            (place, value) => place.clone_from(value),
        }
    }
}

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
