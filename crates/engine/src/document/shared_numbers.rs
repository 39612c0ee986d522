//! How far the numbers have come that all clients share (`\next`): where a run on the same data goes on.

use assay_script::Reached;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The numbers of one name.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SharedNumbersDocument {
    /// The variable of `\next`.
    pub name: String,
    /// Above every number that was taken.
    pub taken: u64,
    /// All numbers below it are of transactions that ended `ok`.
    pub acknowledged: u64,
}

impl From<Reached> for SharedNumbersDocument {
    fn from(reached: Reached) -> Self {
        let Reached {
            name,
            taken,
            acknowledged,
        } = reached;
        Self {
            name,
            taken,
            acknowledged,
        }
    }
}

impl SharedNumbersDocument {
    /// The same for the program.
    #[must_use]
    pub fn reached(&self) -> Reached {
        Reached {
            name: self.name.clone(),
            taken: self.taken,
            acknowledged: self.acknowledged,
        }
    }
}
