//! Takes the value of an expression; returns it as a number of rows.

use assay_values::Value;

/// Converts to a number of rows, or returns an error. Integral doubles are accepted: `1000 * :scale` may be
/// one.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the bounds are tested before"
)]
pub(crate) fn row_count(value: &Value) -> Result<u64, String> {
    let found = match value {
        Value::Int(number) => match u64::try_from(*number) {
            Ok(number) => return Ok(number),
            Err(_) => number.to_string(),
        },
        Value::Double(number) if number.fract() == 0.0 && (0.0..9.0e18).contains(number) => {
            return Ok(*number as u64);
        }
        Value::Double(number) => number.to_string(),
        Value::Null => "NULL".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        other => format!("{:?}", other.to_text()),
    };
    Err(format!(
        "expected a whole number of 0 or more, found {found}"
    ))
}
