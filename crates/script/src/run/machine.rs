//! Takes a program, a seed and the system's answers; returns one client's next step.

use crate::program::opcode::{Deferred, StatementId};
use crate::program::shell::{ShellCommand, ShellResult};
use crate::program::{Need, Program};
use crate::reply::{Ending, Reply};
use crate::run::execute::Stop;
use crate::run::registers::Registers;
use assay_values::{Random, Value};
use std::sync::Arc;

/// One client: an instruction pointer, its variables and its random stream; it stops and resumes at every
/// statement. The engine calls `begin`, then `step` until it returns an end; after a statement it passes
/// the answer to `answered` and calls `step` again.
#[derive(Debug)]
pub struct Machine {
    program: Arc<Program>,
    state: State,
    registers: Registers,
    /// The script has executed `\abort`, and makes the pauses at its end.
    is_aborted: bool,
    /// The bound values, where the caller of [`Machine::step`] has no place for them.
    values: Vec<Value>,
}

#[derive(Debug)]
enum State {
    /// Between transactions.
    Resting,
    Running,
    /// Waiting for the answer to this statement.
    Waiting(u32),
    /// Waiting for the engine to put a statement into the pipeline.
    Queueing,
    /// Waiting for the answers of the pipeline.
    Syncing,
    /// Waiting for the end of a command.
    InCommand,
    /// The answer has ended the transaction; the next step reports it. Boxed, because it is rare and large.
    Ended(Box<Ending>),
}

/// What the engine must do next for this client.
#[derive(Debug, PartialEq)]
pub enum Step<'a> {
    /// Execute a statement ([`Program::statements`]) and pass its answer to [`Machine::answered`]; or,
    /// if it is pipelined, put it into the pipeline and call [`Machine::queued`].
    Execute {
        /// Its number in [`Program::statements`](crate::Program::statements).
        statement: u32,
        /// The values bound to its parameters.
        parameters: &'a [Value],
        /// The complete text, if no values are bound: they are substituted into the text, or there are none.
        text: &'a str,
        /// Whether it is queued in a pipeline, so that its answer is not awaited yet.
        is_pipelined: bool,
    },
    /// Send the pipeline, await the answers, pass them in order to
    /// [`Machine::answered_pipelined`], then call `step` again. If the transaction ends before that, the
    /// pipeline was not sent: discard it.
    Sync,
    /// Wait, then call `step` again. After much work without a statement the duration is 0: other clients go on,
    /// and the engine sees whether the run still waits for this one.
    Sleep {
        /// How long, in nanoseconds.
        duration_ns: u64,
        /// Whether the pause is part of the transaction's latency (`\sleep`) or not (`\think`, `\keying`).
        is_part_of_latency: bool,
    },
    /// Queue this script for the clients that run deferred ones, then call `step` again.
    Defer(Deferred),
    /// Run this command, pass its result to [`Machine::ran`], then call `step` again.
    Run(ShellCommand),
    /// The script has executed `\abort`, and pauses follow: roll back what is open, discard a pipeline that was not
    /// sent, then call `step` again.
    RollBack,
    /// The transaction is over.
    End(Ending),
}

impl Machine {
    /// A client between transactions. Its random stream derives from (`seed`, `client`), so each client has its
    /// own.
    pub fn new(program: Arc<Program>, seed: u64, client: u32) -> Self {
        let registers = Registers::new(&program, seed, client);
        Self {
            program,
            state: State::Resting,
            registers,
            is_aborted: false,
            values: Vec::new(),
        }
    }

    /// Moves the client to the beginning of a transaction, whatever its state. Its variables keep their
    /// values, as in pgbench.
    ///
    /// # Panics
    /// If the program has no such script.
    pub fn begin(&mut self, script: u32) {
        let script = &self.program.scripts[script as usize];
        self.registers.begin(script.instructions.start);
        self.started();
    }

    /// The same for numbered transactions, which any client may run: the random stream is
    /// `random`, the variables are as before the first transaction, and `:transaction_number` is `number`.
    /// So the values depend on the number, not on the client or its earlier transactions.
    ///
    /// # Panics
    /// If the program has no such script.
    pub fn begin_numbered(&mut self, script: u32, random: Random, number: u64) {
        let script = &self.program.scripts[script as usize];
        self.registers
            .begin_numbered(script.instructions.start, random, number);
        self.started();
    }

    /// The same for a script that was queued: it begins with the values that it was given.
    ///
    /// # Panics
    /// If it is of another program.
    pub fn begin_deferred(&mut self, deferred: &Deferred, random: Random, number: u64) {
        let script = &self.program.scripts[deferred.script as usize];
        let instruction = script.instructions.start;
        self.registers
            .begin_deferred(instruction, random, number, &deferred.values);
        self.started();
    }

    /// The number of the first transaction (`:transaction_number`); without this, 0.
    pub fn count_from(&mut self, first: u64) {
        self.registers.count_from(first);
    }

    /// Whether to save the state at the beginning of each following transaction, for [`Machine::rewind`].
    pub fn keep_start(&mut self, is_kept: bool) {
        self.registers.keep_start(is_kept);
    }

    /// Returns the client to the beginning of its last transaction, with the variables
    /// and the random stream it had there: the same transaction runs again.
    /// [`Machine::keep_start`] must have been called before the transaction began.
    pub fn rewind(&mut self) {
        self.registers.rewind();
        self.started();
    }

    fn started(&mut self) {
        self.state = State::Running;
        self.is_aborted = false;
    }

    /// Runs until the engine must act.
    ///
    /// # Panics
    /// If no transaction was begun, or the current statement has not been answered.
    pub fn step(&mut self) -> Step<'_> {
        let mut values = std::mem::take(&mut self.values);
        let stopped = match self.step_with(&mut values) {
            Step::Execute {
                statement,
                is_pipelined,
                ..
            } => Ok((StatementId(statement), is_pipelined)),
            Step::Sync => Err(Step::Sync),
            Step::RollBack => Err(Step::RollBack),
            Step::Defer(deferred) => Err(Step::Defer(deferred)),
            Step::Run(command) => Err(Step::Run(command)),
            Step::Sleep {
                duration_ns,
                is_part_of_latency,
            } => Err(Step::Sleep {
                duration_ns,
                is_part_of_latency,
            }),
            Step::End(ending) => Err(Step::End(ending)),
        };
        self.values = values;
        match stopped {
            Ok((statement, is_pipelined)) => self.execute(statement, is_pipelined, &self.values),
            Err(step) => step,
        }
    }

    /// The same; binds the values in a list that several clients share, one after the other: so it stays in the
    /// processor's caches, however many clients take turns.
    ///
    /// # Panics
    /// As [`Machine::step`].
    pub fn step_with<'s>(&'s mut self, values: &'s mut Vec<Value>) -> Step<'s> {
        if !matches!(self.state, State::Running | State::Syncing) {
            return self.step_after_answer();
        }
        let ending = match self.registers.run(&self.program, None, values) {
            Stop::Execute(statement) => {
                self.state = State::Waiting(statement.0);
                return self.execute(statement, false, values);
            }
            Stop::Queue(statement) => {
                self.state = State::Queueing;
                return self.execute(statement, true, values);
            }
            Stop::Sync => {
                self.state = State::Syncing;
                return Step::Sync;
            }
            Stop::Sleep {
                duration_ns,
                is_part_of_latency,
            } => {
                self.state = State::Running;
                return Step::Sleep {
                    duration_ns,
                    is_part_of_latency,
                };
            }
            Stop::Defer(deferred) => {
                self.state = State::Running;
                return Step::Defer(deferred);
            }
            Stop::Run(command) => {
                self.state = State::InCommand;
                return Step::Run(command);
            }
            Stop::Done if self.is_aborted => Ending::Aborted,
            Stop::Done => Ending::Done,
            Stop::Aborted if self.registers.is_at_end(&self.program) => Ending::Aborted,
            Stop::Aborted => {
                self.is_aborted = true;
                self.state = State::Running;
                return Step::RollBack;
            }
            Stop::Failed(failure) => failure.ending(),
            Stop::Settled => unreachable!("`answered` passes Settle"),
        };
        self.state = State::Resting;
        Step::End(ending)
    }

    /// An answer that ended the transaction was taken before this step.
    #[cold]
    fn step_after_answer(&mut self) -> Step<'static> {
        match std::mem::replace(&mut self.state, State::Resting) {
            State::Ended(ending) => Step::End(*ending),
            state => panic!("a step needs a transaction that runs, this client is {state:?}"),
        }
    }

    #[inline]
    fn execute<'s>(
        &'s self,
        statement: StatementId,
        is_pipelined: bool,
        values: &'s [Value],
    ) -> Step<'s> {
        let sent = &self.program.statements[statement.0 as usize];
        Step::Execute {
            statement: statement.0,
            parameters: match self.program.pastes {
                true => &[],
                false => &values[sent.bound()],
            },
            text: match self.program.pastes && sent.parameter_count > 0 {
                true => &self.registers.text,
                false => &sent.text,
            },
            is_pipelined,
        }
    }

    /// The values of the statement that the last [`Machine::step_with`] gave, once more: its answer has not been passed
    /// to the script.
    ///
    /// # Panics
    /// If another step was taken since.
    pub fn bound_again<'s>(&mut self, statement: u32, values: &'s mut Vec<Value>) -> &'s [Value] {
        assert!(
            matches!(self.state, State::Waiting(_) | State::Queueing),
            "a statement is executed again before it is answered"
        );
        let bound = (self.registers).bind(&self.program, StatementId(statement), values);
        assert!(bound.is_ok(), "its values were bound before");
        &values[self.program.statements[statement as usize].bound()]
    }

    /// Reports that the engine has put the statement into the pipeline.
    ///
    /// # Panics
    /// If no statement is to be put into the pipeline.
    pub fn queued(&mut self) {
        assert!(
            matches!(self.state, State::Queueing),
            "no statement is to be put into the pipeline"
        );
        self.state = State::Running;
    }

    /// Takes the answer to a statement of the sent pipeline. Answers after the first error
    /// are ignored: the transaction has failed.
    ///
    /// # Panics
    /// If no pipeline was sent.
    pub fn answered_pipelined(&mut self, statement: u32, reply: Reply<'_>) {
        match self.state {
            State::Syncing => {}
            State::Ended(_) => return,
            _ => panic!("an answer of a pipeline needs a pipeline that was sent"),
        }
        let dealt_with = self
            .registers
            .answer_of_pipeline(&self.program, statement, &reply);
        if let Err(failure) = dealt_with {
            self.state = State::Ended(Box::new(failure.ending()));
        }
    }

    /// Takes the result of the command.
    ///
    /// # Panics
    /// If no command was to be run.
    pub fn ran(&mut self, result: ShellResult) {
        assert!(
            matches!(self.state, State::InCommand),
            "the end of a command needs one that runs"
        );
        self.state = match self.registers.ran(&self.program, result) {
            Ok(()) => State::Running,
            Err(failure) => State::Ended(Box::new(failure.ending())),
        };
    }

    /// Which parts of its answer the current statement needs.
    pub fn keep(&self) -> Need {
        match self.state {
            State::Waiting(statement) => self.program.statements[statement as usize].need,
            _ => Need::Count,
        }
    }

    /// The current statement was answered without an error. Returns false, and does nothing, where the script looks at
    /// the answer: then [`Machine::answered`] takes it.
    #[inline]
    pub fn settled(&mut self) -> bool {
        let is_settled =
            matches!(self.state, State::Waiting(_)) && self.registers.settle(&self.program);
        if is_settled {
            self.state = State::Running;
        }
        is_settled
    }

    /// Takes the answer to the current statement.
    ///
    /// # Panics
    /// If no statement is being executed.
    pub fn answered(&mut self, reply: Reply<'_>) {
        assert!(
            matches!(self.state, State::Waiting(_)),
            "an answer needs a statement that is being executed"
        );
        self.state = match self.registers.answer(&self.program, &reply) {
            Stop::Settled => State::Running,
            Stop::Failed(failure) => State::Ended(Box::new(failure.ending())),
            _ => unreachable!("Settle comes before any other instruction that stops"),
        };
    }
}
