//! Takes the text of a decimal number; returns it exactly, with all its fraction digits.

use std::fmt::{self, Write as _};

/// An exact decimal number of up to 38 digits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Decimal {
    /// The number without its point, as bytes, so that a value needs no alignment to 16 bytes.
    digits: [u8; 16],
    /// Digits after the point.
    scale: u8,
}

/// The largest scale, and the maximum number of digits.
const MOST_DIGITS: u8 = 38;

impl Decimal {
    /// `None` if there are more than 38 digits after the point.
    #[must_use]
    pub fn new(digits: i128, scale: u8) -> Option<Self> {
        (scale <= MOST_DIGITS).then_some(Self {
            digits: digits.to_ne_bytes(),
            scale,
        })
    }

    /// Parses numbers such as `-12.50`; `None` if the text is not one, or has too many digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (is_negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        let has_point_behind_digits = unsigned.len() > whole.len() && fraction.is_empty();
        if whole.is_empty() || has_point_behind_digits || !is_digits(whole) || !is_digits(fraction)
        {
            return None;
        }
        let scale = u8::try_from(fraction.len()).ok()?;
        let mut digits: i128 = 0;
        for digit in whole.bytes().chain(fraction.bytes()) {
            digits = digits
                .checked_mul(10)?
                .checked_add(i128::from(digit - b'0'))?;
        }
        Self::new(if is_negative { -digits } else { digits }, scale)
    }

    /// The number without its point.
    #[must_use]
    pub fn digits(self) -> i128 {
        i128::from_ne_bytes(self.digits)
    }

    /// How many of the digits are after the point.
    #[must_use]
    pub fn scale(self) -> u8 {
        self.scale
    }

    /// Its value as an integer, if it is one.
    #[must_use]
    pub fn whole(self) -> Option<i64> {
        let unit = 10_i128.checked_pow(self.scale.into())?;
        let digits = self.digits();
        (digits % unit == 0).then(|| i64::try_from(digits / unit).ok())?
    }

    /// The nearest number in binary floating point.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "as SQL converts")]
    pub fn double(self) -> f64 {
        // Through the text, so that 0.1 is exactly 0.1, without the error of a division.
        let mut text = Vec::new();
        self.write_text(&mut text);
        let parsed = std::str::from_utf8(&text)
            .ok()
            .and_then(|text| text.parse().ok());
        parsed.unwrap_or(self.digits() as f64)
    }

    /// Appends its digits, with the point and zeros that the scale requires. Does not allocate otherwise.
    pub fn write_text(self, out: &mut Vec<u8>) {
        let (digits, scale) = (self.digits(), usize::from(self.scale));
        // 128 bits have at most 39 digits, plus a point and a zero before it.
        let mut place = [b'0'; 41];
        let (mut at, mut rest, mut written) = (place.len(), digits.unsigned_abs(), 0);
        while rest > 0 || written <= scale {
            if written == scale && scale > 0 {
                at -= 1;
                place[at] = b'.';
            }
            at -= 1;
            place[at] = b'0' + u8::try_from(rest % 10).expect("a remainder of 10");
            rest /= 10;
            written += 1;
        }
        if digits < 0 {
            out.push(b'-');
        }
        out.extend_from_slice(&place[at..]);
    }
}

/// The exact decimal of a double's printed form; an error if it needs more than 38 digits.
impl TryFrom<f64> for Decimal {
    type Error = ();

    fn try_from(number: f64) -> Result<Self, ()> {
        let mut text = Short {
            bytes: [0; 48],
            length: 0,
        };
        write!(text, "{number}").map_err(|_| ())?;
        let text = std::str::from_utf8(&text.bytes[..text.length]).map_err(|_| ())?;
        Self::parse(text).ok_or(())
    }
}

/// A text in a buffer of fixed size.
struct Short {
    bytes: [u8; 48],
    length: usize,
}

impl fmt::Write for Short {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.length + text.len();
        let place = self.bytes.get_mut(self.length..end).ok_or(fmt::Error)?;
        place.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}

impl fmt::Debug for Decimal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Vec::new();
        self.write_text(&mut text);
        out.write_str(&String::from_utf8_lossy(&text))
    }
}

#[cfg(test)]
mod tests {
    use super::Decimal;

    #[test]
    fn a_decimal_keeps_all_its_digits() {
        for text in [
            "0",
            "-0.05",
            "1.50",
            "12345678901234567890.123456789012345678",
            "0.000",
        ] {
            let parsed = Decimal::parse(text).expect(text);
            assert_eq!(format!("{parsed:?}"), text);
        }
        for wrong in [
            "",
            "-",
            ".5",
            "5.",
            "1e3",
            "1.2.3",
            "+1",
            "0x1",
            &"9".repeat(40),
        ] {
            assert_eq!(Decimal::parse(wrong), None, "{wrong}");
        }
        let decimal = |text| Decimal::parse(text).expect("a decimal");
        assert_eq!(decimal("-7.00").whole(), Some(-7));
        assert_eq!(decimal("7.01").whole(), None);
        assert!((decimal("0.1").double() - 0.1).abs() < f64::EPSILON);
        assert_eq!(Decimal::try_from(-2.345), Ok(decimal("-2.345")));
        assert_eq!(Decimal::try_from(1e300), Err(()));
    }
}
