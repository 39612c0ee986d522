//! Takes texts and numbers; returns dates, times, timestamps, decimals, bytes, lists and documents.

use crate::expression::function::Arguments;
use crate::expression::number::{Fault, number, plain, shown};
use assay_values::calendar::{
    DAY_S, Moment, moment_of, parse_date, parse_time, parse_timestamp, seconds_of,
};
use assay_values::{Decimal, Random, Value, from_hex};

type Made = Result<Value, Fault>;

fn expected(what: &str, found: &Value) -> Fault {
    Fault::of(format!("expected {what}, found {}", shown(found)))
}

/// The date of a text, a number of days, or a timestamp.
pub(super) fn date(x: Arguments<'_>, _: &mut Random) -> Made {
    let days = match &x[0] {
        Value::Text(text) if text.contains('-') && parse_date(text.as_bytes()).is_some() => {
            parse_date(text.as_bytes())
        }
        Value::Timestamp(us) => i32::try_from(us.div_euclid(86_400_000_000)).ok(),
        other => Some(day(other)?),
    };
    days.map(Value::Date).ok_or_else(|| expected("a date", &x[0]))
}

/// The timestamp of a text, a number of seconds, or a date.
pub(super) fn timestamp(x: Arguments<'_>, _: &mut Random) -> Made {
    let us = match &x[0] {
        Value::Text(text) if text.contains('-') && parse_timestamp(text.as_bytes()).is_some() => {
            parse_timestamp(text.as_bytes())
        }
        Value::Timestamp(us) => Some(*us),
        Value::Date(days) => Some(i64::from(*days) * 86_400_000_000),
        other => Some(second(other)? * 1_000_000),
    };
    us.map(Value::Timestamp).ok_or_else(|| expected("a moment", &x[0]))
}

#[expect(clippy::cast_possible_truncation, reason = "the bounds are checked before")]
pub(super) fn time(x: Arguments<'_>, _: &mut Random) -> Made {
    let us = match &x[0] {
        Value::Text(text) => parse_time(text.as_bytes()),
        Value::Timestamp(us) => Some(us.rem_euclid(86_400_000_000)),
        other => {
            let seconds = number(other)?.double();
            (0.0..86_400.0).contains(&seconds).then_some((seconds * 1e6).round() as i64)
        }
    };
    us.map(Value::Time).ok_or_else(|| expected("a time of day or seconds since midnight", &x[0]))
}

/// The decimal of a number or its text, exactly; or rounded to `scale` decimals, halves away from zero.
pub(super) fn decimal(x: Arguments<'_>, _: &mut Random) -> Made {
    let given = match &x[0] {
        Value::Decimal(decimal) => Some(*decimal),
        Value::Int(number) => Decimal::new((*number).into(), 0),
        Value::Double(number) => Decimal::try_from(*number).ok(),
        other => Decimal::parse(plain(other).trim()),
    };
    let given = given.ok_or_else(|| expected("a decimal number of up to 38 digits", &x[0]))?;
    let rounded = match x.len() {
        1 => Some(given),
        _ => u8::try_from(number(&x[1])?.int()?).ok().and_then(|scale| rescaled(given, scale)),
    };
    let too_many = || Fault::of("expected at most 38 digits, 38 of them after the point");
    rounded.map(Value::Decimal).ok_or_else(too_many)
}

fn rescaled(decimal: Decimal, scale: u8) -> Option<Decimal> {
    let (digits, has) = (decimal.digits(), decimal.scale());
    if scale >= has {
        let factor = 10_i128.checked_pow(u32::from(scale - has))?;
        return Decimal::new(digits.checked_mul(factor)?, scale);
    }
    let unit = 10_i128.checked_pow(u32::from(has - scale))?;
    let half = if digits < 0 { -unit / 2 } else { unit / 2 };
    Decimal::new((digits + half) / unit, scale)
}

/// The bytes of hexadecimal digits, with or without `\x` before them.
pub(super) fn bytes(x: Arguments<'_>, _: &mut Random) -> Made {
    if let Value::Bytes(_) = &x[0] {
        return Ok(x[0].clone());
    }
    let text = plain(&x[0]);
    let digits = text.strip_prefix("\\x").unwrap_or(&text);
    let bytes = from_hex(format!("\\x{digits}").as_bytes());
    let bytes = bytes.ok_or_else(|| expected("pairs of hexadecimal digits", &x[0]))?;
    Ok(Value::Bytes(bytes.into()))
}

pub(super) fn list(x: Arguments<'_>, _: &mut Random) -> Made {
    Ok(Value::List(x.iter().cloned().collect()))
}

/// The document of its JSON text, or of alternating keys and values.
pub(super) fn document(x: Arguments<'_>, _: &mut Random) -> Made {
    if x.len() == 1 {
        let text = plain(&x[0]);
        let read = serde_json::from_str::<serde::de::IgnoredAny>(&text);
        read.map_err(|error| Fault::of(format!("expected JSON, found {}: {error}", shown(&x[0]))))?;
        return Ok(Value::Document(text.into()));
    }
    if !x.len().is_multiple_of(2) {
        return Err(Fault::of("document expects alternating keys and values"));
    }
    let mut json = vec![b'{'];
    for pair in 0..x.len() / 2 {
        if pair > 0 {
            json.push(b',');
        }
        assay_values::write_json_string(&plain(&x[2 * pair]), &mut json);
        json.push(b':');
        x[2 * pair + 1].write_json(&mut json);
    }
    json.push(b'}');
    Ok(Value::Document(String::from_utf8_lossy(&json).into()))
}

/// The supported range as seconds since 1970: 0001-01-01 to 9999-12-31.
const SPELLABLE: std::ops::RangeInclusive<f64> = -62_135_596_800.0..=253_402_300_799.0;

/// The moment `value` units of `unit_s` seconds after 1970; a fraction of a second is dropped.
#[expect(clippy::cast_possible_truncation, reason = "the bounds are checked before")]
fn moment(value: &Value, unit_s: i64) -> Result<Moment, Fault> {
    #[expect(clippy::cast_precision_loss, reason = "a day has few seconds")]
    let seconds = (number(value)?.double() * unit_s as f64).floor();
    if SPELLABLE.contains(&seconds) {
        Ok(moment_of(seconds as i64))
    } else {
        Err(Fault::of(format!(
            "expected a date or time of the years 1 to 9999, found {}",
            shown(value)
        )))
    }
}

/// Days since 1970, within the supported range.
pub(super) fn day(value: &Value) -> Result<i32, Fault> {
    let at = moment(value, DAY_S)?;
    Ok(i32::try_from(seconds_of(at.year, at.month, at.day) / DAY_S).expect("4 digits of years"))
}

/// Seconds since 1970, within the supported range.
pub(super) fn second(value: &Value) -> Result<i64, Fault> {
    let at = moment(value, 1)?;
    let midnight = seconds_of(at.year, at.month, at.day);
    Ok(midnight + at.hour * 3600 + at.minute * 60 + at.second)
}
