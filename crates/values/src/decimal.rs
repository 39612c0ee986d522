//! Takes the text of a decimal number; returns it exactly, with all its fraction digits.

use std::cmp::Ordering;
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

/// The powers of ten that a double holds exactly.
const UNITS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

impl Decimal {
    /// `None` if there are more than 38 digits after the point.
    pub fn new(digits: i128, scale: u8) -> Option<Self> {
        (scale <= MOST_DIGITS).then_some(Self {
            digits: digits.to_ne_bytes(),
            scale,
        })
    }

    /// Parses numbers such as `-12.50`; `None` if the text is not one, or has too many digits.
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
    pub fn digits(self) -> i128 {
        i128::from_ne_bytes(self.digits)
    }

    /// How many of the digits are after the point.
    pub fn scale(self) -> u8 {
        self.scale
    }

    /// Its value as an integer, if it is one.
    pub fn whole(self) -> Option<i64> {
        let unit = 10_i128.checked_pow(self.scale.into())?;
        let digits = self.digits();
        (digits % unit == 0).then(|| i64::try_from(digits / unit).ok())?
    }

    /// The same number without its last zeros after the point.
    fn shortest(self) -> (i128, u8) {
        let (mut digits, mut scale) = (self.digits(), self.scale);
        while scale > 0 && digits % 10 == 0 {
            (digits, scale) = (digits / 10, scale - 1);
        }
        (digits, scale)
    }

    /// Its digits with `scale` digits after the point, at least as many as it has.
    fn at_scale(digits: i128, scale: u8, wanted: u8) -> Option<i128> {
        digits.checked_mul(10_i128.checked_pow(u32::from(wanted - scale))?)
    }

    /// The digits of both with the same number of digits after the point.
    fn aligned(self, other: Self) -> Option<(i128, i128, u8)> {
        let scale = self.scale.max(other.scale);
        let left = Self::at_scale(self.digits(), self.scale, scale);
        let right = Self::at_scale(other.digits(), other.scale, scale);
        if let Some((left, right)) = left.zip(right) {
            return Some((left, right, scale));
        }
        let ((left, left_scale), (right, right_scale)) = (self.shortest(), other.shortest());
        let scale = left_scale.max(right_scale);
        let left = Self::at_scale(left, left_scale, scale)?;
        Some((left, Self::at_scale(right, right_scale, scale)?, scale))
    }

    /// The exact sum; `None` if it has more than 38 digits.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        let (left, right, scale) = self.aligned(other)?;
        Self::new(left.checked_add(right)?, scale)
    }

    /// The exact difference; `None` if it has more than 38 digits.
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        let (left, right, scale) = self.aligned(other)?;
        Self::new(left.checked_sub(right)?, scale)
    }

    /// The exact product; `None` if it has more than 38 digits.
    pub fn checked_mul(self, other: Self) -> Option<Self> {
        let product = self.digits().checked_mul(other.digits());
        if let Some(found) = product.and_then(|digits| Self::new(digits, self.scale + other.scale))
        {
            return Some(found);
        }
        let ((left, left_scale), (right, right_scale)) = (self.shortest(), other.shortest());
        Self::new(left.checked_mul(right)?, left_scale + right_scale)
    }

    /// Compares the numbers: 1.5 equals 1.50.
    pub fn order(self, other: Self) -> Ordering {
        let parts = |decimal: Self| {
            let unit = 10_i128.pow(decimal.scale.into());
            let digits = decimal.digits();
            // The part after the point, with all 38 digits that it could have.
            let places = 10_i128.pow((MOST_DIGITS - decimal.scale).into());
            (digits.div_euclid(unit), digits.rem_euclid(unit) * places)
        };
        if self.scale == other.scale {
            return self.digits().cmp(&other.digits());
        }
        parts(self).cmp(&parts(other))
    }

    /// The nearest integer, halves to even; `None` if it does not fit into 64 bits.
    pub fn rounded(self) -> Option<i64> {
        let unit = 10_i128.pow(self.scale.into());
        let (whole, rest) = (
            self.digits().div_euclid(unit),
            self.digits().rem_euclid(unit),
        );
        let is_up = match rest.cmp(&(unit - rest)) {
            Ordering::Less => false,
            Ordering::Equal => whole % 2 != 0,
            Ordering::Greater => true,
        };
        i64::try_from(whole + i128::from(is_up)).ok()
    }

    /// The same number without its sign.
    pub fn checked_abs(self) -> Option<Self> {
        Self::new(self.digits().checked_abs()?, self.scale)
    }

    /// The nearest number in binary floating point.
    #[expect(clippy::cast_precision_loss, reason = "as SQL converts")]
    pub fn double(self) -> f64 {
        // Both are exact: what is nearest to their quotient is nearest to the decimal.
        if self.digits().unsigned_abs() <= 1 << 53
            && let Some(unit) = UNITS.get(usize::from(self.scale))
        {
            return self.digits() as f64 / unit;
        }
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
        for text in ["0", "-0.05", "1.50", "12345678901234567890.123456789012345678", "0.000"] {
            let parsed = Decimal::parse(text).expect(text);
            assert_eq!(format!("{parsed:?}"), text);
        }
        for wrong in ["", "-", ".5", "5.", "1e3", "1.2.3", "+1", "0x1", &"9".repeat(40)] {
            assert_eq!(Decimal::parse(wrong), None, "{wrong}");
        }
        let decimal = |text| Decimal::parse(text).expect("a decimal");
        assert_eq!(decimal("-7.00").whole(), Some(-7));
        assert_eq!(decimal("7.01").whole(), None);
        assert!((decimal("0.1").double() - 0.1).abs() < f64::EPSILON);
        assert_eq!(Decimal::try_from(-2.345), Ok(decimal("-2.345")));
        assert_eq!(Decimal::try_from(1e300), Err(()));
    }

    #[test]
    fn sums_differences_and_products_are_exact_or_none() {
        let decimal = |text| Decimal::parse(text).expect("a decimal");
        let sum = |left, right| decimal(left).checked_add(decimal(right));
        let product = |left, right| decimal(left).checked_mul(decimal(right));
        assert_eq!(sum("0.30", "-0.1"), Some(decimal("0.20")));
        assert_eq!(
            decimal("0.3").checked_sub(decimal("0.10")),
            Some(decimal("0.20"))
        );
        assert_eq!(product("-1.10", "0.3"), Some(decimal("-0.330")));
        let large = "9".repeat(38);
        assert_eq!(
            sum(&large, "0.0").map(|sum| sum == decimal(&large)),
            Some(true)
        );
        assert_eq!(sum(&large, "0.1"), None);
        assert_eq!(product(&large, "2.0"), None);
        let small = format!("0.{}1", "0".repeat(36));
        assert_eq!(product(&small, "1.00"), Some(decimal(&small)));
        assert_eq!(product(&small, "0.1"), Decimal::new(1, 38));
        assert_eq!(product(&small, "0.01"), None);
    }

    #[test]
    fn order_is_that_of_the_numbers() {
        let large = format!("1{}", "0".repeat(37));
        let sorted = [
            format!("-{large}"),
            format!("-0.{}1", "0".repeat(36)),
            "0.000".to_owned(),
            format!("0.{}1", "0".repeat(36)),
            "0.1".to_owned(),
            "123456789012345678".to_owned(),
            "123456789012345678.01".to_owned(),
            "123456789012345679.00".to_owned(),
            large,
        ];
        let decimals = sorted.map(|text| Decimal::parse(&text).expect("a decimal"));
        for (left, a) in decimals.iter().enumerate() {
            for (right, b) in decimals.iter().enumerate() {
                assert_eq!(a.order(*b), left.cmp(&right), "{a:?} and {b:?}");
            }
        }
        let order = |a, b| {
            Decimal::parse(a)
                .zip(Decimal::parse(b))
                .map(|(a, b)| a.order(b))
        };
        assert_eq!(order("1.5", "1.50"), Some(std::cmp::Ordering::Equal));
        assert_eq!(order("-1.5", "-1.49"), Some(std::cmp::Ordering::Less));
        for (text, rounded) in [("2.5", 2), ("3.50", 4), ("-2.5", -2), ("-2.51", -3), ("7", 7)] {
            let found = Decimal::parse(text).and_then(Decimal::rounded);
            assert_eq!(found, Some(rounded), "{text}");
        }
    }
}
