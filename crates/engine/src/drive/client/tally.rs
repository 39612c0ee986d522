//! Takes the transactions of one client as they begin and end; returns their number, the client's passes, and
//! how it spent its time.

use std::sync::Arc;

use crate::account::{LiveCount, ThreadRecorder, Worktime};
use crate::drive::client::transitions::Transaction;
use crate::drive::plan::script_selector::NextScript;
use crate::observation::Outcome;

/// How often the number of transactions is shown to others: not after each, since that is memory which few other
/// things of this client need.
const SHOWN_EVERY_NS: u64 = 100_000_000;

#[derive(Debug)]
pub struct Tally {
    /// Measured transactions.
    pub transactions: u64,
    /// Measured passes, whatever the outcomes of their transactions.
    pub passes: u64,
    pass: Pass,
    worktime: Worktime,
    /// `transactions`, as it was a moment ago.
    shown: Arc<LiveCount>,
    next_shown_ns: u64,
}

/// The current pass.
#[derive(Clone, Copy, Debug, Default)]
struct Pass {
    is_measured: bool,
    is_clean: bool,
    started_ns: u64,
    paused_ns: u64,
}

impl Tally {
    /// For a measurement from `measure_ns` to `stop_ns`, or to the last client's end.
    pub fn new(shown: Arc<LiveCount>, measure_ns: u64, stop_ns: u64) -> Self {
        Self {
            transactions: 0,
            passes: 0,
            pass: Pass::default(),
            worktime: Worktime::new(measure_ns, stop_ns),
            shown,
            next_shown_ns: 0,
        }
    }

    #[inline]
    pub fn begun(&mut self, script: NextScript, is_measured: bool, started_ns: u64) {
        self.worktime.begun(started_ns, is_measured);
        if script.opens_pass {
            self.pass = Pass {
                is_measured,
                is_clean: true,
                started_ns,
                paused_ns: 0,
            };
        }
    }

    /// Counts the transaction as never started.
    pub fn retracted(&mut self, transaction: &Transaction) {
        self.worktime.retracted(transaction.started_ns);
    }

    /// The current transaction has paused, outside the latency.
    pub fn paused(&mut self, paused_ns: u64) {
        self.pass.paused_ns += paused_ns;
    }

    #[inline]
    pub fn ended(
        &mut self,
        transaction: &Transaction,
        outcome: Outcome,
        now_ns: u64,
        client: u32,
        recorder: &mut ThreadRecorder,
    ) {
        let Transaction {
            script,
            is_measured,
            started_ns,
            paused_ns,
            ..
        } = *transaction;
        if is_measured {
            self.transactions += 1;
            if now_ns >= self.next_shown_ns {
                self.shown.set(self.transactions);
                self.next_shown_ns = now_ns + SHOWN_EVERY_NS;
            }
            let times_ns = transaction.times_ns(now_ns);
            recorder.transaction(script.transaction_type, outcome, now_ns, times_ns);
        } else {
            recorder.warmed_up(script.transaction_type, outcome);
        }
        self.worktime
            .ended(now_ns, started_ns, paused_ns, is_measured);
        self.pass.is_clean &= outcome == Outcome::Ok;
        if script.closes_pass && self.pass.is_measured {
            self.passes += 1;
            if self.pass.is_clean {
                let length_ns = now_ns - self.pass.started_ns - self.pass.paused_ns;
                recorder.pass(client, now_ns, length_ns);
            }
        }
    }

    /// The client has ended, between two transactions.
    pub fn finish(&mut self, now_ns: u64) -> Worktime {
        self.worktime.finish(now_ns)
    }
}
