//! The resources that the client process used.

use schemars::JsonSchema;
use serde::Serialize;

/// The resources that the client process used during the measurement, as counted by the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ClientCost {
    /// CPU time of this process in user mode.
    pub user_ns: u64,
    /// CPU time of this process in the kernel.
    pub system_ns: u64,
    /// Both, for each transaction that was started and has ended; 0 if none has.
    pub per_transaction_ns: f64,
    /// Over the whole life of the process.
    pub resident_peak_bytes: u64,
    /// The highest value in the measurement, sampled ten times a second.
    pub resident_bytes: u64,
    /// The increase since before the first client connected.
    pub resident_grown_bytes: u64,
    /// How often a thread gave up its processor to wait.
    pub voluntary_switches: u64,
    /// How often the kernel took the processor from a thread.
    pub involuntary_switches: u64,
    /// How long the clients' threads together were ready to run and had no processor.
    pub waited_for_processor_ns: u64,
    /// The busy time of all processors in the measurement, for any program; null if the kernel does not
    /// report it.
    pub machine_busy_ns: Option<u64>,
}

impl ClientCost {
    /// The increase since `before`; memory is the current value.
    pub(crate) fn since(&self, before: &Self) -> Self {
        Self {
            user_ns: self.user_ns - before.user_ns,
            system_ns: self.system_ns - before.system_ns,
            voluntary_switches: self.voluntary_switches - before.voluntary_switches,
            involuntary_switches: self.involuntary_switches - before.involuntary_switches,
            waited_for_processor_ns: self
                .waited_for_processor_ns
                .saturating_sub(before.waited_for_processor_ns),
            machine_busy_ns: self
                .machine_busy_ns
                .zip(before.machine_busy_ns)
                .map(|(now_ns, before_ns)| now_ns.saturating_sub(before_ns)),
            ..*self
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a mean needs no more than 53 bits")]
    pub(crate) fn share_out(&mut self, transactions: u64) {
        if transactions > 0 {
            self.per_transaction_ns = (self.user_ns + self.system_ns) as f64 / transactions as f64;
        }
    }
}

// What the log of single transactions has, and what writing it cost.

/// The log of single transactions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LogReport {
    /// The share of the transactions that were to be written.
    pub sample: f64,
    /// Transactions that were written.
    pub rows: u64,
    /// Their size in the file.
    pub bytes: u64,
    /// CPU time of the thread that wrote them, part of the client's.
    pub cpu_ns: u64,
}
