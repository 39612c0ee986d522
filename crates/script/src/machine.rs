//! Takes a program, a seed and the answers of the system; gives what one client must do next.

use crate::operand::StatementId;
use crate::program::{Need, Program};
use crate::registers::Registers;
use crate::reply::{Ending, Reply};
use crate::stop::Stop;
use assay_values::{Random, Value};
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
    /// For the engine to have put a statement into the pipeline.
    Queueing,
    /// For the answers that come out of the pipeline.
    Syncing,
    /// The answer has ended the transaction; the next step says so.
    Ended(Ending),
}

/// What the engine must do next for this client.
#[derive(Debug, PartialEq)]
pub enum Step<'a> {
    /// Execute a statement ([`Program::statements`]) and hand its answer to [`Machine::answered`]; or,
    /// where it is pipelined, put it into the pipeline and say [`Machine::queued`].
    Execute {
        /// Its number in [`Program::statements`](crate::Program::statements).
        statement: u32,
        /// The values that are bound to it.
        parameters: &'a [Value],
        /// The whole text, where none is: its values are pasted in, or it has none.
        text: &'a str,
        /// Whether it is queued with others, so that no answer is awaited yet.
        is_pipelined: bool,
    },
    /// Send what is in the pipeline, await the answers, hand them in order to
    /// [`Machine::answered_pipelined`], then step on. At an end of the transaction before that the
    /// pipeline has not been sent: forget it.
    Sync,
    /// Wait, then step on. A pause inside the latency belongs to the transaction.
    Sleep {
        /// How long, in nanoseconds.
        duration_ns: u64,
        /// Whether the pause counts in the transaction's latency (`\sleep`), or is the user's (`\think`).
        is_part_of_latency: bool,
    },
    /// The transaction is over.
    End(Ending),
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

    /// The same, where transactions are numbered and any client may have this one: its random stream is
    /// `random`, its variables are as before the first transaction, and `:transaction_number` is `number`.
    /// So its values follow the number, and not the client or what that has done before.
    ///
    /// # Panics
    /// If the program has no such script.
    pub fn begin_numbered(&mut self, script: u32, random: Random, number: u64) {
        let script = &self.program.scripts[script as usize];
        self.registers
            .begin_numbered(script.instructions.start, random, number);
        self.state = State::Running;
    }

    /// Whether the beginnings of the transactions to come are kept, so that they can be begun again.
    pub fn keep_start(&mut self, is_kept: bool) {
        self.registers.keep_start(is_kept);
    }

    /// Puts the client back to the beginning of the transaction that was last begun, with the variables
    /// and the random stream it had there: what follows is the same transaction once more.
    /// [`Machine::keep_start`] must have been said before it began.
    pub fn rewind(&mut self) {
        self.registers.rewind();
        self.state = State::Running;
    }

    /// Runs until the engine must do something.
    ///
    /// # Panics
    /// If no transaction was begun, or the statement under way has not been answered.
    pub fn step(&mut self) -> Step<'_> {
        match std::mem::replace(&mut self.state, State::Resting) {
            State::Running | State::Syncing => {}
            State::Ended(ending) => return Step::End(ending),
            state => panic!("a step needs a transaction that runs, this client is {state:?}"),
        }
        match self.registers.run(&self.program, None) {
            Stop::Execute(statement) => {
                self.state = State::Waiting(statement.0);
                self.execute(statement, false)
            }
            Stop::Queue(statement) => {
                self.state = State::Queueing;
                self.execute(statement, true)
            }
            Stop::Sync => {
                self.state = State::Syncing;
                Step::Sync
            }
            Stop::Sleep {
                duration_ns,
                is_part_of_latency,
            } => {
                self.state = State::Running;
                Step::Sleep {
                    duration_ns,
                    is_part_of_latency,
                }
            }
            Stop::Done => Step::End(Ending::Done),
            Stop::Aborted => Step::End(Ending::Aborted),
            Stop::Failed(failure) => Step::End(failure.ending()),
            Stop::Settled => unreachable!("Settle is passed by `answered`"),
        }
    }

    fn execute(&self, statement: StatementId, is_pipelined: bool) -> Step<'_> {
        let sent = &self.program.statements[statement.0 as usize];
        Step::Execute {
            statement: statement.0,
            parameters: &self.registers.parameters[sent.binding as usize],
            text: match self.program.pastes && sent.parameter_count > 0 {
                true => &self.registers.text,
                false => &sent.text,
            },
            is_pipelined,
        }
    }

    /// The statement is in the pipeline.
    ///
    /// # Panics
    /// If none is to be put there.
    pub fn queued(&mut self) {
        assert!(
            matches!(self.state, State::Queueing),
            "no statement is to be put into the pipeline"
        );
        self.state = State::Running;
    }

    /// Takes the answer to a statement of the pipeline that was sent. After the first error the others
    /// are of no account: the transaction has failed.
    ///
    /// # Panics
    /// If no pipeline was sent.
    pub fn answered_pipelined(&mut self, statement: u32, reply: Reply<'_>) {
        match self.state {
            State::Syncing => {}
            State::Ended(_) => return,
            _ => panic!("an answer out of a pipeline needs one that was sent"),
        }
        let dealt_with = self
            .registers
            .answer_of_pipeline(&self.program, statement, &reply);
        if let Err(failure) = dealt_with {
            self.state = State::Ended(failure.ending());
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
            Stop::Failed(failure) => State::Ended(failure.ending()),
            _ => unreachable!("Settle stands before whatever else ends or stops"),
        };
    }
}
