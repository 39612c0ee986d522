//! Takes the options of the deployment document for this driver; gives how requests are sent.
//!
//! | option | values | default | meaning |
//! |---|---|---|---|
//! | `write_concern` | `majority`, or a number of members | the server's | how many members of the replica set must have a write before it is answered |
//! | `journal` | `true`, `false` | the server's | whether they must have it in their journal |
//! | `read_concern` | `local`, `available`, `majority`, `linearizable`, `snapshot` | the server's | which data reads may see |
//! | `batch_size` | documents, from 1 | the server's | documents of one answer; the next are fetched until there are no more |
//! | `auth_mechanism` | `SCRAM-SHA-256`, `SCRAM-SHA-1`, `PLAIN` | the best that the server has for the user | how user and password are sent |
//! | `auth_source` | a database | `admin`; `$external` for `PLAIN` | where the user is declared |

use std::collections::BTreeMap;

use crate::WrongOption;
use crate::mongodb::write;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) write_concern: Option<Members>,
    pub(crate) journal: Option<bool>,
    pub(crate) read_concern: Option<&'static str>,
    pub(crate) batch_size: Option<i32>,
    pub(crate) mechanism: Option<Mechanism>,
    pub(crate) auth_source: Option<String>,
}

/// Who must have a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Members {
    Majority,
    Count(i32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mechanism {
    ScramSha256,
    ScramSha1,
    Plain,
}

impl Mechanism {
    /// From the best to the worst.
    pub(crate) const ALL: [(&'static str, Self); 3] = [
        ("SCRAM-SHA-256", Self::ScramSha256),
        ("SCRAM-SHA-1", Self::ScramSha1),
        ("PLAIN", Self::Plain),
    ];

    pub(crate) fn name(self) -> &'static str {
        let found = Self::ALL.iter().find(|(_, known)| *known == self);
        found.map_or("", |(name, _)| *name)
    }
}

const READ_CONCERNS: [&str; 5] = ["local", "available", "majority", "linearizable", "snapshot"];
const NAMES: &str = "write_concern, journal, read_concern, batch_size, auth_mechanism, auth_source";

impl Settings {
    /// # Errors
    /// Where an option is unknown, or has another value than those it can have.
    pub(crate) fn of(options: &BTreeMap<String, String>) -> Result<Self, WrongOption> {
        let mut settings = Self::default();
        for (name, value) in options {
            let wrong = |expected: &str| WrongOption::value(name, value, expected);
            match name.as_str() {
                "write_concern" => {
                    let count = || value.parse().ok().filter(|&count: &i32| count > 0);
                    settings.write_concern =
                        match value.as_str() {
                            "majority" => Some(Members::Majority),
                            _ => Some(Members::Count(count().ok_or_else(|| {
                                wrong("majority, or a number of members, from 1")
                            })?)),
                        };
                }
                "journal" => {
                    let truth = value.parse().map_err(|_| wrong("true or false"))?;
                    settings.journal = Some(truth);
                }
                "read_concern" => {
                    let known = READ_CONCERNS.map(|level| (level, level));
                    settings.read_concern = Some(WrongOption::one_of(name, value, &known)?);
                }
                "batch_size" => {
                    let rows = value.parse().ok().filter(|&rows: &i32| rows > 0);
                    let rows = rows.ok_or_else(|| wrong("a number of documents, from 1"))?;
                    settings.batch_size = Some(rows);
                }
                "auth_mechanism" => {
                    let mechanism = WrongOption::one_of(name, value, &Mechanism::ALL)?;
                    settings.mechanism = Some(mechanism);
                }
                "auth_source" => settings.auth_source = Some(value.clone()),
                _ => return Err(WrongOption::unknown(name, NAMES)),
            }
        }
        Ok(settings)
    }

    /// The field `writeConcern`, if one was asked for.
    pub(crate) fn write_concern(&self) -> Vec<u8> {
        let mut out = Vec::new();
        if self.write_concern.is_none() && self.journal.is_none() {
            return out;
        }
        write::document_element("writeConcern", &mut out, |out| {
            match self.write_concern {
                Some(Members::Majority) => write::string_element("w", "majority", out),
                Some(Members::Count(count)) => write::int32_element("w", count, out),
                None => {}
            }
            if let Some(truth) = self.journal {
                write::bool_element("j", truth, out);
            }
        });
        out
    }

    /// The field `readConcern`, if one was asked for.
    pub(crate) fn read_concern(&self) -> Vec<u8> {
        let mut out = Vec::new();
        if let Some(level) = self.read_concern {
            write::document_element("readConcern", &mut out, |out| {
                write::string_element("level", level, out);
            });
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, value: &str) -> Result<Settings, WrongOption> {
        Settings::of(&BTreeMap::from([(name.to_owned(), value.to_owned())]))
    }

    #[test]
    fn a_wrong_option_is_refused_with_what_it_can_be() {
        let found = of("write_concern", "3").map(|found| found.write_concern);
        assert_eq!(found, Ok(Some(Members::Count(3))));
        let found = of("auth_mechanism", "SCRAM-SHA-1").map(|found| found.mechanism);
        assert_eq!(found, Ok(Some(Mechanism::ScramSha1)));
        for (name, value, words) in [
            ("write_concern", "0", "majority, or a number"),
            ("journal", "yes", "true or false"),
            ("read_concern", "dirty", "one of local, available,"),
            ("batch_size", "-1", "a number of documents"),
            ("auth_mechanism", "GSSAPI", "one of SCRAM-SHA-256,"),
            ("colour", "red", "unknown option \"colour\""),
        ] {
            let message = of(name, value).expect_err("it is wrong").to_string();
            assert!(message.contains(words), "{message}");
        }
    }
}
