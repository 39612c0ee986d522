//! Holds what `\defer` queues: which script, and with which values it begins.

use crate::operand::Slot;
use assay_values::Value;

/// One `\defer` of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Deferral {
    /// The script that is queued, an index into `Program::scripts`.
    pub script: u32,
    /// The variables whose values it takes along.
    pub variables: Vec<Slot>,
}

/// A script that was queued.
#[derive(Clone, Debug, PartialEq)]
pub struct Deferred {
    /// Index into `Program::scripts`.
    pub script: u32,
    pub(crate) values: Vec<(Slot, Value)>,
}
