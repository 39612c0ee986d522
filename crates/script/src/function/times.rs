//! Takes days or seconds since 1970; returns dates and timestamps, as values and as SQL text. No time zones.

use super::{Arguments, typed};
use crate::number::Fault;
use assay_values::{Random, Value};
use std::time::{SystemTime, UNIX_EPOCH};

pub(super) fn now(_: Arguments<'_>, _: &mut Random) -> Result<Value, Fault> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let seconds = since.map(|since| since.as_secs()).unwrap_or_default();
    Ok(Value::Int(i64::try_from(seconds).unwrap_or(i64::MAX)))
}

pub(super) fn date(x: Arguments<'_>, random: &mut Random, out: &mut Vec<u8>) -> Result<(), Fault> {
    typed::date(x, random)?.write_text(out);
    Ok(())
}

pub(super) fn timestamp(
    x: Arguments<'_>,
    random: &mut Random,
    out: &mut Vec<u8>,
) -> Result<(), Fault> {
    typed::timestamp(x, random)?.write_text(out);
    Ok(())
}
