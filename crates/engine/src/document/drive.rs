//! The drive document: what clients do, how many there are, and when they stop.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use assay_script::{Lexer, Reached, TextStyle};
use assay_values::Value;
use assay_values::json::of_json;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::EngineError;
use crate::document::deployment::DeploymentDocument;
use crate::document::group::{ClientsDocument, GroupDocument};
use crate::document::pace::ReconnectDocument;
use crate::document::reading::{flattened, null_is_default, optional_seconds, parse, seconds};

/// What the engine is to run: scripts, clients, pace and end.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DriveDocument {
    /// Absent if scripts are only explained.
    pub deployment: Option<DeploymentDocument>,
    /// The scripts, each one transaction type.
    pub scripts: Vec<ScriptDocument>,
    /// Variables of all scripts, with their values at the start.
    #[serde(default, deserialize_with = "variables")]
    pub variables: BTreeMap<String, Value>,
    /// For each `:{name}` of the scripts, the identifiers to choose from.
    #[serde(default, deserialize_with = "null_is_default")]
    pub identifiers: BTreeMap<String, Vec<String>>,
    /// By isolation level: the statements with which `\\begin` starts a transaction at that level.
    #[serde(default, deserialize_with = "null_is_default")]
    pub begins: BTreeMap<String, Vec<String>>,
    /// Statements that the system does not support, in upper case, and what to use instead.
    #[serde(default, deserialize_with = "null_is_default")]
    pub unknown_statements: BTreeMap<String, String>,
    /// The language of the statements: `sql`, `cql` or `json`.
    #[serde(default, deserialize_with = "lexer")]
    pub lexer: Lexer,
    /// How SQL writes its literals, names and comments.
    #[serde(default)]
    pub text_style: TextStyle,
    /// Whether scripts may begin transactions.
    #[serde(default = "yes")]
    pub has_transactions: bool,
    /// Whether scripts may run programs of this machine.
    #[serde(default, deserialize_with = "null_is_default")]
    pub allow_shell: bool,
    /// Clients that do different work at the same time; absent: `work` is that of one group of all scripts.
    pub groups: Option<Vec<GroupDocument>>,
    /// With `groups`, only `stop.duration_s`; without them, `order` and `clients` are required.
    #[serde(flatten, deserialize_with = "flattened")]
    pub work: ClientsDocument,
    /// OS threads, at most one for each client; 0: one for each processor. A blocking driver always has a
    /// thread for each client.
    #[serde(default, deserialize_with = "null_is_default")]
    pub threads: u32,
    /// How statements and their values are sent.
    #[serde(default, deserialize_with = "null_is_default")]
    pub protocol: Protocol,
    /// Whether values may only be bound: with `simple`, scripts with values are then rejected.
    #[serde(default, deserialize_with = "null_is_default")]
    pub requires_bound_values: bool,
    /// In a closed loop clients start evenly spread over it, in an open loop the rate grows from zero to the
    /// offered rate; the warm-up follows it.
    #[serde(default, deserialize_with = "seconds")]
    pub ramp_up_s: Duration,
    /// Transactions that begin during it are not measured.
    #[serde(default, deserialize_with = "seconds")]
    pub warm_up_s: Duration,
    /// How long to wait for running transactions at the end of the measurement; then they are cancelled, and
    /// their outcome is `unknown`.
    #[serde(default = "ten_seconds", deserialize_with = "seconds")]
    pub drain_s: Duration,
    /// Whether clients reconnect after a loss, and for how long they try.
    #[serde(default, deserialize_with = "null_is_default")]
    pub reconnect: ReconnectDocument,
    /// A new session for each transaction, opened inside its latency.
    #[serde(default, deserialize_with = "null_is_default")]
    pub connect_each_transaction: bool,
    /// Whether the service times of each statement are recorded.
    #[serde(default, deserialize_with = "null_is_default")]
    pub per_statement: bool,
    /// The seed of all random values of the run.
    pub seed: u64,
    /// The number of the first transaction: above those of earlier drives on the same data.
    #[serde(default, deserialize_with = "null_is_default")]
    pub first_transaction: u64,
    /// Where the numbers that clients share go on: where earlier drives on the same data ended.
    #[serde(default, deserialize_with = "null_is_default")]
    pub shared_numbers: Vec<SharedNumbersDocument>,
    /// Whether answers are hashed and compared between clients; otherwise only their rows are counted.
    #[serde(default, deserialize_with = "null_is_default")]
    pub digest: bool,
    /// Whether the answers of all transactions are summed, also those to statements with parameters, so that
    /// runs that ask the same questions can be compared.
    #[serde(default, deserialize_with = "null_is_default")]
    pub sum_answers: bool,
    /// Whether the rows of every answer are counted, and those of the first transactions of the first clients hashed, so
    /// that runs of different lengths can be compared.
    #[serde(default, deserialize_with = "null_is_default")]
    pub compare_answers: bool,
    /// Whether a statement that fails outside a transaction may leave a part of its changes, as in tables of a storage
    /// engine without transactions.
    #[serde(default, deserialize_with = "null_is_default")]
    pub leaves_parts: bool,
    /// Where single transactions are written; absent: they are not.
    pub log: Option<LogDocument>,
    /// A statement that takes longer ends its client: `timeout`, with unknown effect.
    #[serde(default, deserialize_with = "optional_seconds")]
    pub statement_timeout_s: Option<Duration>,
    /// A statement that takes longer is cancelled, and its transaction fails: `timeout`. Its client goes on.
    #[serde(default, deserialize_with = "optional_seconds")]
    pub statement_limit_s: Option<Duration>,
}

/// One transaction type.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptDocument {
    /// The name of the transaction type.
    pub name: String,
    /// The path of its file, for messages.
    pub path: String,
    /// The text of the script.
    pub text: String,
    /// Its share of a mix, relative to the others'.
    #[serde(default = "one")]
    pub weight: u32,
    /// The text is one statement of a plain file and is sent unchanged.
    #[serde(default)]
    pub is_plain: bool,
}

/// How statements and their values are sent.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// Every statement is sent as text, with its values inserted.
    #[default]
    Simple,
    /// Every statement is parsed, bound and executed each time.
    Extended,
    /// Statements that read or change rows, and those with values, are prepared once for each client; the
    /// others are sent as text.
    Prepared,
}

impl DriveDocument {
    /// # Errors
    /// If the text is not a valid drive document; the error names the key.
    pub fn parse(text: &str) -> Result<Self, EngineError> {
        let document: Self = parse("the drive document", text)?;
        document.check()?;
        Ok(document)
    }

    /// The groups of clients; one without a name if the document has no `groups`.
    pub fn groups(&self) -> Cow<'_, [GroupDocument]> {
        match &self.groups {
            Some(groups) => Cow::Borrowed(groups),
            None => Cow::Owned(vec![GroupDocument::only(self)]),
        }
    }

    /// The clients of all groups in this process.
    pub fn all_clients(&self) -> u32 {
        self.groups().iter().map(|group| group.work.count()).sum()
    }

    /// The script with that name.
    pub(super) fn script(&self, name: &str) -> Option<&ScriptDocument> {
        self.scripts.iter().find(|script| script.name == name)
    }
}

fn lexer<'de, D: Deserializer<'de>>(reader: D) -> Result<Lexer, D::Error> {
    let Some(name) = Option::<String>::deserialize(reader)? else {
        return Ok(Lexer::default());
    };
    Lexer::named(&name).ok_or_else(|| {
        let names: Vec<&str> = Lexer::ALL.iter().map(|(name, _)| *name).collect();
        serde::de::Error::custom(format!(
            "expected one of {}, found {name}",
            names.join(", ")
        ))
    })
}

fn yes() -> bool {
    true
}

fn one() -> u32 {
    1
}

fn ten_seconds() -> Duration {
    Duration::from_secs(10)
}

fn variables<'de, D: Deserializer<'de>>(reader: D) -> Result<BTreeMap<String, Value>, D::Error> {
    let plain = Option::<BTreeMap<String, serde_json::Value>>::deserialize(reader)?;
    let values = plain.unwrap_or_default().into_iter();
    Ok(values.map(|(name, json)| (name, of_json(&json))).collect())
}

// The file that single transactions are written to.

/// Which transactions are written to which file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogDocument {
    /// A file with the headings of the columns; rows are added at its end.
    pub path: PathBuf,
    /// The run's number, the first column.
    pub run: u64,
    /// The share of the transactions that are written: more than 0, at most 1.
    pub sample: f64,
}

// How far the numbers have come that all clients share (`\next`): where a run on the same data goes on.

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
    pub fn reached(&self) -> Reached {
        Reached {
            name: self.name.clone(),
            taken: self.taken,
            acknowledged: self.acknowledged,
        }
    }
}
