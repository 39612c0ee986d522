//! Takes the options of the deployment document for this driver; gives how requests are sent.
//!
//! | option | values | default | meaning |
//! |---|---|---|---|
//! | `consistency` | `any`, `one`, `two`, `three`, `quorum`, `all`, `local_quorum`, `each_quorum`, `local_one` | `quorum` | how many replicas must answer each request |
//! | `serial_consistency` | `serial`, `local_serial` | `serial` | the same for conditional updates |
//! | `page_size` | rows, from 1 | `5000` | rows of one answer; the next are fetched until there are no more |
//! | `compression` | `none`, `lz4` | `none` | of both directions |
//! | `protocol` | `4`, `5` | the newest that the server speaks | version of the protocol |

use std::collections::BTreeMap;

use crate::cassandra::notation::{Version, query_flag as flag, write_bytes};
use crate::{Result, WrongOption};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) consistency: u16,
    /// None: the server's default, which is `serial`.
    pub(crate) serial_consistency: Option<u16>,
    pub(crate) page_size: i32,
    pub(crate) is_lz4: bool,
    pub(crate) version: Option<Version>,
}

const CONSISTENCIES: &[(&str, u16)] = &[
    ("any", 0x0),
    ("one", 0x1),
    ("two", 0x2),
    ("three", 0x3),
    ("quorum", 0x4),
    ("all", 0x5),
    ("local_quorum", 0x6),
    ("each_quorum", 0x7),
    ("local_one", 0xA),
];
const SERIAL_CONSISTENCIES: &[(&str, u16)] = &[("serial", 0x8), ("local_serial", 0x9)];
const COMPRESSIONS: &[(&str, bool)] = &[("none", false), ("lz4", true)];
const VERSIONS: &[(&str, Version)] = &[("4", Version::V4), ("5", Version::V5)];
const NAMES: &str = "consistency, serial_consistency, page_size, compression, protocol";

impl Default for Settings {
    fn default() -> Self {
        Self {
            consistency: 0x4,
            serial_consistency: None,
            page_size: 5000,
            is_lz4: false,
            version: None,
        }
    }
}

impl Settings {
    /// # Errors
    /// Where an option is unknown, or has another value than those it can have.
    pub(crate) fn of(options: &BTreeMap<String, String>) -> Result<Self, WrongOption> {
        let mut settings = Self::default();
        for (name, value) in options {
            match name.as_str() {
                "consistency" => {
                    settings.consistency = WrongOption::one_of(name, value, CONSISTENCIES)?;
                }
                "serial_consistency" => {
                    let level = WrongOption::one_of(name, value, SERIAL_CONSISTENCIES)?;
                    settings.serial_consistency = Some(level);
                }
                "page_size" => {
                    let rows = value.parse().ok().filter(|&rows: &i32| rows > 0);
                    settings.page_size = rows.ok_or_else(|| {
                        WrongOption::value(name, value, "a number of rows, from 1")
                    })?;
                }
                "compression" => settings.is_lz4 = WrongOption::one_of(name, value, COMPRESSIONS)?,
                "protocol" => settings.version = Some(WrongOption::one_of(name, value, VERSIONS)?),
                _ => return Err(WrongOption::unknown(name, NAMES)),
            }
        }
        Ok(settings)
    }
}

/// Where the flags stand in what was written: [`with_page`] sets one.
pub(crate) type FlagsAt = usize;

/// # Errors
/// Those of `values`.
#[inline]
pub(crate) fn write_parameters(
    settings: &Settings,
    is_v5: bool,
    more_flags: u8,
    out: &mut Vec<u8>,
    values: impl FnOnce(&mut Vec<u8>) -> Result<()>,
) -> Result<FlagsAt> {
    out.extend_from_slice(&settings.consistency.to_be_bytes());
    // The serial consistency stands behind the paging state, which comes last where there is none.
    let flags = more_flags | flag::PAGE_SIZE;
    if is_v5 {
        out.extend_from_slice(&[0; 3]);
    }
    let flags_at = out.len();
    out.push(flags);
    values(out)?;
    out.extend_from_slice(&settings.page_size.to_be_bytes());
    Ok(flags_at)
}

/// Appends the same parameters again, `written` by [`write_parameters`], for the page behind a paging state if there is
/// one. `flags_at` counts from the beginning of `written`.
#[inline]
pub(crate) fn send_parameters(
    written: &[u8],
    flags_at: FlagsAt,
    paging_state: Option<&[u8]>,
    settings: &Settings,
    out: &mut Vec<u8>,
) {
    let start = out.len();
    out.extend_from_slice(written);
    if let Some(state) = paging_state {
        out[start + flags_at] |= flag::PAGING_STATE;
        write_bytes(state, out);
    }
    if let Some(level) = settings.serial_consistency {
        out[start + flags_at] |= flag::SERIAL_CONSISTENCY;
        out.extend_from_slice(&level.to_be_bytes());
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
        assert_eq!(
            of("consistency", "local_one").map(|found| found.consistency),
            Ok(0xA)
        );
        for (name, value, words) in [
            ("consistency", "most", "one of any, one,"),
            ("page_size", "0", "a number of rows"),
            ("colour", "red", "unknown option \"colour\""),
        ] {
            let message = of(name, value).expect_err("it is wrong").to_string();
            assert!(message.contains(words), "{message}");
        }
    }
}
