//! Takes a program, a seed and the answers of the system; gives what one client must do next.

use crate::execute::Stop;
use crate::program::{Need, Program};
use crate::registers::Registers;
use assay_datagen::Value;
use std::sync::Arc;

/// One client: an instruction pointer, its variables and its random stream; resumable at every
/// statement. The engine calls `begin`, then `step` until it gives an end; after a statement it hands
/// the answer to `answered` and steps on.
#[derive(Debug)]
pub struct Machine {
    program: Arc<Program>,
    registers: Registers,
    state: State,
}

#[derive(Debug)]
enum State {
    /// Between transactions.
    Resting,
    Running,
    /// For the answer to this statement.
    Waiting(u32),
    /// The answer has ended the transaction; the next step says so.
    Ended(Ending),
}

/// What the engine must do next for this client.
#[derive(Debug, PartialEq)]
pub enum Step<'a> {
    /// Execute a statement ([`Program::statements`]) and hand its answer to [`Machine::answered`].
    Execute {
        statement: u32,
        parameters: &'a [Value],
    },
    /// Wait, then step on. A pause inside the response time belongs to the transaction.
    Sleep {
        duration_ns: u64,
        inside_response_time: bool,
    },
    /// The transaction is over.
    End(Ending),
}

/// How a transaction ended, as the script sees it. Unless it is done, the engine rolls back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    Done,
    /// The workload asked for it (`\\abort`).
    Aborted,
    /// A statement's error, an expectation that was not met, an expression without a value. `class`
    /// is a word of the list of error classes; `message` begins with path, line and column.
    Failed {
        class: &'static str,
        message: String,
    },
}

/// What came back for the statement under way.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reply<'a> {
    /// Rows that came back.
    pub rows: u64,
    /// Rows that were changed.
    pub affected: u64,
    /// Names of the columns, and the cells of the first row in text form (`None` is NULL); asked for
    /// only where [`Machine::keep`] says [`Need::Rows`].
    pub columns: &'a [String],
    pub first_row: Option<&'a [Option<Box<[u8]>>]>,
    /// Class word and message, where the statement failed.
    pub error: Option<(&'a str, &'a str)>,
}

impl Machine {
    /// A client at rest. Its random stream derives from (`seed`, `client`): never shared, never equal.
    #[must_use]
    pub fn new(program: Arc<Program>, seed: u64, client: u32) -> Self {
        let registers = Registers::new(&program, seed, client);
        Self {
            program,
            registers,
            state: State::Resting,
        }
    }

    /// Puts the client at the beginning of a transaction, whatever it was in. Its variables keep the
    /// values they have, as in pgbench.
    ///
    /// # Panics
    /// If the program has no such script.
    pub fn begin(&mut self, script: u32) {
        let script = &self.program.scripts[script as usize];
        self.registers.begin(script.instructions.start);
        self.state = State::Running;
    }

    /// Runs until the engine must do something.
    ///
    /// # Panics
    /// If no transaction was begun, or the statement under way has not been answered.
    pub fn step(&mut self) -> Step<'_> {
        match std::mem::replace(&mut self.state, State::Resting) {
            State::Running => {}
            State::Ended(ending) => return Step::End(ending),
            state => panic!("a step needs a transaction that runs, this client is {state:?}"),
        }
        match self.registers.run(&self.program, None) {
            Stop::Execute(statement) => {
                self.state = State::Waiting(statement.0);
                Step::Execute {
                    statement: statement.0,
                    parameters: &self.registers.parameters[statement.0 as usize],
                }
            }
            Stop::Sleep { duration_ns } => {
                self.state = State::Running;
                Step::Sleep {
                    duration_ns,
                    inside_response_time: true,
                }
            }
            Stop::End(ending) => Step::End(ending),
            Stop::Settled => unreachable!("Settle is passed by `answered`"),
        }
    }

    /// What the statement under way wants kept of its answer.
    #[must_use]
    pub fn keep(&self) -> Need {
        match self.state {
            State::Waiting(statement) => self.program.statements[statement as usize].need,
            _ => Need::Count,
        }
    }

    /// Takes the answer to the statement under way.
    ///
    /// # Panics
    /// If no statement is under way.
    pub fn answered(&mut self, reply: Reply<'_>) {
        assert!(
            matches!(self.state, State::Waiting(_)),
            "an answer needs a statement under way"
        );
        self.state = match self.registers.answer(&self.program, &reply) {
            Stop::Settled => State::Running,
            Stop::End(ending) => State::Ended(ending),
            Stop::Execute(_) | Stop::Sleep { .. } => {
                unreachable!("Settle stands before the next statement or pause")
            }
        };
    }
}
