//! What measuring cost the machine on which the clients ran.

use schemars::JsonSchema;
use serde::Serialize;

/// What the client's process cost the machine during the measurement, as the kernel counts it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ClientCost {
    pub user_ns: u64,
    pub system_ns: u64,
    /// Both, for each transaction that was begun and has ended; 0 where none has.
    pub per_transaction_ns: f64,
    /// Of the whole life of the process.
    pub resident_peak_bytes: u64,
    /// The most that was seen in the measurement; ten looks a second.
    pub resident_bytes: u64,
    /// How much more that is than before the first client connected.
    pub resident_grown_bytes: u64,
    pub voluntary_switches: u64,
    pub involuntary_switches: u64,
    /// How long the clients' threads together were ready to run and had no processor.
    pub waited_for_processor_ns: u64,
    /// What all processors of the machine worked in the measurement, for whatever program; none where the
    /// kernel does not say.
    pub machine_busy_ns: Option<u64>,
}

impl ClientCost {
    /// What has been added since `before`; the memory is that of now.
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

    #[expect(
        clippy::cast_precision_loss,
        reason = "a mean needs no more than 53 bits"
    )]
    pub(crate) fn share_out(&mut self, transactions: u64) {
        if transactions > 0 {
            self.per_transaction_ns = (self.user_ns + self.system_ns) as f64 / transactions as f64;
        }
    }
}
