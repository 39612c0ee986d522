//! Takes the text of one parameter; returns its value, or a sentence that says what was expected.

use crate::error::DiskError;

fn number(text: &str) -> Option<f64> {
    let is_plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    text.parse()
        .ok()
        .filter(|value: &f64| is_plain && value.is_finite())
}

fn split(text: &str) -> (&str, &str) {
    let at = text
        .find(|letter: char| !letter.is_ascii_digit() && letter != '.')
        .unwrap_or(text.len());
    text.split_at(at)
}

fn expected(name: &str, what: &str, found: &str) -> DiskError {
    DiskError::argument(format!("{name}: expected {what}, found {found:?}"))
}

/// A number with `factor` of its unit, as a whole number.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be within range"
)]
fn scaled(value: f64, factor: f64) -> Option<u64> {
    let product = (value * factor).round();
    (product < 9e18).then_some(product as u64)
}

/// `4ms`, `85us`, `1.5s`, `500ns`, in nanoseconds.
pub fn duration_ns(name: &str, text: &str) -> Result<u64, DiskError> {
    let (digits, unit) = split(text);
    let factor = match unit {
        "ns" => 1.0,
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "" if digits == "0" => 1.0,
        _ => 0.0,
    };
    number(digits)
        .filter(|_| factor > 0.0)
        .and_then(|value| scaled(value, factor))
        .ok_or_else(|| expected(name, "a time with its unit, as 4ms, 85us or 1.5s", text))
}

/// `4096`, `64k`, `16M`, `2G`, in bytes; the units are powers of 1024, as those of mount(8) and losetup(8).
pub fn size_bytes(name: &str, text: &str) -> Result<u64, DiskError> {
    let (digits, unit) = split(text);
    let factor = match unit {
        "" => 1.0,
        "k" | "K" => 1024.0,
        "M" => 1_048_576.0,
        "G" => 1_073_741_824.0,
        "T" => 1_099_511_627_776.0,
        _ => 0.0,
    };
    number(digits)
        .filter(|_| factor > 0.0)
        .and_then(|value| scaled(value, factor))
        .ok_or_else(|| expected(name, "a size in bytes, as 65536, 64k, 16M or 2G", text))
}

/// `120MB/s`, in bytes per second; the units are powers of 1000, as those of data sheets.
pub fn rate_bytes_per_s(name: &str, text: &str) -> Result<u64, DiskError> {
    let (digits, unit) = split(text);
    let factor = match unit {
        "kB/s" => 1e3,
        "MB/s" => 1e6,
        "GB/s" => 1e9,
        _ => 0.0,
    };
    number(digits)
        .filter(|_| factor > 0.0)
        .and_then(|value| scaled(value, factor))
        .filter(|rate| *rate > 0)
        .ok_or_else(|| expected(name, "a rate above 0, as 120MB/s or 1.5GB/s", text))
}

/// A whole number within bounds.
pub fn whole(name: &str, text: &str, least: u64, most: u64) -> Result<u64, DiskError> {
    text.parse()
        .ok()
        .filter(|value| (least..=most).contains(value))
        .ok_or_else(|| {
            expected(
                name,
                &format!("a whole number from {least} to {most}"),
                text,
            )
        })
}

/// `on` or `off`.
pub fn switch(name: &str, text: &str) -> Result<bool, DiskError> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(expected(name, "on or off", text)),
    }
}
