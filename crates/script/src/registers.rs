//! Takes nothing but single values; holds what one client has of its own, and moves values between
//! its parts. Once a client has been through its longest transaction nothing here allocates any more,
//! except where texts are computed with or change.

use crate::number::{Fault, number};
use crate::operand::{Slot, StatementId, Target};
use crate::program::{Program, Variable};
use assay_datagen::{Random, Value};

/// What one client has of its own.
#[derive(Debug)]
pub(crate) struct Registers {
    /// The instruction to be executed next.
    pub next: u32,
    variables: Vec<Option<Value>>,
    pub stack: Vec<Value>,
    loops: Vec<Loop>,
    /// The values last bound, for each statement: a text that stays the same is copied once.
    pub parameters: Vec<Vec<Value>>,
    pub random: Random,
    /// Repetitions since the engine last had something to do.
    pub turns: u32,
}

#[derive(Clone, Copy, Debug)]
struct Loop {
    now: i64,
    last: i64,
}

/// A loop that turns so often without giving the engine anything to do would hang the client.
const MOST_TURNS: u32 = 10_000_000;

impl Registers {
    pub fn new(program: &Program, seed: u64, client: u32) -> Self {
        let initial = |variable: &Variable| variable.initial.clone();
        let mut variables: Vec<_> = program.variables.iter().map(initial).collect();
        let own = [
            (program.client_id, i64::from(client)),
            (program.random_seed, seed.cast_signed()),
        ];
        for (slot, value) in own {
            if let Some(Slot(slot)) = slot {
                variables[slot as usize] = Some(Value::Int(value));
            }
        }
        Self {
            next: 0,
            variables,
            stack: Vec::new(),
            loops: Vec::new(),
            parameters: vec![Vec::new(); program.statements.len()],
            random: Random::stream(seed, u64::from(client)),
            turns: 0,
        }
    }

    pub fn begin(&mut self, instruction: u32) {
        self.next = instruction;
        self.stack.clear();
        self.loops.clear();
        self.turns = 0;
    }

    pub fn pop(&mut self) -> Value {
        self.stack
            .pop()
            .expect("the compiler puts every value there before it is taken")
    }

    pub fn jump(&mut self, target: Target) {
        self.next = target.0;
    }

    pub fn read(&self, program: &Program, slot: Slot) -> Result<&Value, Fault> {
        self.variables[slot.0 as usize].as_ref().ok_or_else(|| {
            let name = &program.variable(slot).name;
            Fault::of(format!(
                "the variable :{name} has no value: nothing has set it so far"
            ))
        })
    }

    pub fn write(&mut self, slot: Slot, value: Value) {
        self.variables[slot.0 as usize] = Some(value);
    }

    pub fn bind(&mut self, program: &Program, statement: StatementId) -> Result<(), Fault> {
        let index = statement.0 as usize;
        let slots = &program.statements[index].parameters;
        let mut bound = std::mem::take(&mut self.parameters[index]);
        bound.resize(slots.len(), Value::Null);
        for (place, &slot) in bound.iter_mut().zip(slots) {
            match (&*place, self.read(program, slot)?) {
                (Value::Text(old), Value::Text(new)) if old == new => {}
                (_, value) => *place = value.clone(),
            }
        }
        self.parameters[index] = bound;
        Ok(())
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

    pub fn loop_next(&mut self, variable: Slot, target: Target) -> Result<(), Fault> {
        let turn = self
            .loops
            .last_mut()
            .expect("a loop was entered before it is repeated");
        if turn.now == turn.last {
            self.loops.pop();
            return Ok(());
        }
        turn.now += 1;
        let now = turn.now;
        self.turns += 1;
        if self.turns > MOST_TURNS {
            return Err(Fault::of(format!(
                "{MOST_TURNS} repetitions without a statement"
            )));
        }
        self.write(variable, Value::Int(now));
        self.jump(target);
        Ok(())
    }
}
