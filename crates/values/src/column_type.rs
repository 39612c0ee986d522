//! Takes the neutral name of a column's type; returns the type for row sources and drivers.

use std::fmt;
use std::str::FromStr;

/// The type of a column in neutral terms, as workloads declare it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// 16 bits.
    SmallInt,
    /// 32 bits.
    Int,
    /// 64 bits.
    BigInt,
    /// An exact number with decimal digits.
    Decimal {
        /// Digits in all.
        precision: u32,
        /// Digits after the point.
        scale: u32,
    },
    /// IEEE 754, 32 bits.
    Float,
    /// IEEE 754, 64 bits.
    Double,
    /// With a length; padded with spaces by systems that follow the standard.
    Char(u32),
    /// A text of at most so many characters.
    Varchar(u32),
    /// A text of any length.
    Text,
    /// A date.
    Date,
    /// Without a time zone.
    Timestamp,
    /// A truth value.
    Bool,
    /// Bytes of any value and number.
    Bytes,
    /// JSON text.
    Json,
    /// A list of values of one type, or NULLs; its text is a JSON array.
    Array(ElementType),
}

/// The type of the elements of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementType {
    /// 16 bits.
    SmallInt,
    /// 32 bits.
    Int,
    /// 64 bits.
    BigInt,
    /// IEEE 754, 64 bits.
    Double,
    /// A text of any length.
    Text,
    /// A truth value.
    Bool,
}

impl ElementType {
    /// The type of a column of such values.
    pub fn column_type(self) -> ColumnType {
        match self {
            Self::SmallInt => ColumnType::SmallInt,
            Self::Int => ColumnType::Int,
            Self::BigInt => ColumnType::BigInt,
            Self::Double => ColumnType::Double,
            Self::Text => ColumnType::Text,
            Self::Bool => ColumnType::Bool,
        }
    }

    fn of(column_type: ColumnType) -> Option<Self> {
        match column_type {
            ColumnType::SmallInt => Some(Self::SmallInt),
            ColumnType::Int => Some(Self::Int),
            ColumnType::BigInt => Some(Self::BigInt),
            ColumnType::Double => Some(Self::Double),
            ColumnType::Text => Some(Self::Text),
            ColumnType::Bool => Some(Self::Bool),
            _ => None,
        }
    }
}

/// An unknown type name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownType(String);

impl fmt::Display for UnknownType {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "expected one of smallint, int, bigint, decimal(p,s), float, double, char(n), varchar(n), text, date, \
             timestamp, bool, bytes, json; or an array: smallint[], int[], bigint[], double[], text[], bool[]; found \
             {:?}",
            self.0
        )
    }
}

impl std::error::Error for UnknownType {}

impl fmt::Display for ColumnType {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SmallInt => out.write_str("smallint"),
            Self::Int => out.write_str("int"),
            Self::BigInt => out.write_str("bigint"),
            Self::Decimal { precision, scale } => write!(out, "decimal({precision},{scale})"),
            Self::Float => out.write_str("float"),
            Self::Double => out.write_str("double"),
            Self::Char(length) => write!(out, "char({length})"),
            Self::Varchar(length) => write!(out, "varchar({length})"),
            Self::Text => out.write_str("text"),
            Self::Date => out.write_str("date"),
            Self::Timestamp => out.write_str("timestamp"),
            Self::Bool => out.write_str("bool"),
            Self::Bytes => out.write_str("bytes"),
            Self::Json => out.write_str("json"),
            Self::Array(of) => write!(out, "{}[]", of.column_type()),
        }
    }
}

impl FromStr for ColumnType {
    type Err = UnknownType;

    fn from_str(text: &str) -> Result<Self, UnknownType> {
        let unknown = || UnknownType(text.to_owned());
        if let Some(element) = text.trim().strip_suffix("[]") {
            let element = element.parse().map_err(|_| unknown())?;
            return ElementType::of(element)
                .map(Self::Array)
                .ok_or_else(unknown);
        }
        let (word, sizes) = match text.trim().split_once('(') {
            Some((word, rest)) => (word, rest.strip_suffix(')').ok_or_else(unknown)?),
            None => (text.trim(), ""),
        };
        let sizes: Vec<u32> = sizes
            .split(',')
            .filter(|size| !size.is_empty())
            .map(|size| size.trim().parse().map_err(|_| unknown()))
            .collect::<Result<_, _>>()?;
        match (word.trim(), sizes.as_slice()) {
            ("smallint", []) => Ok(Self::SmallInt),
            ("int", []) => Ok(Self::Int),
            ("bigint", []) => Ok(Self::BigInt),
            ("decimal", &[precision, scale]) if scale <= precision => {
                Ok(Self::Decimal { precision, scale })
            }
            ("float", []) => Ok(Self::Float),
            ("double", []) => Ok(Self::Double),
            ("char", &[length]) => Ok(Self::Char(length)),
            ("varchar", &[length]) => Ok(Self::Varchar(length)),
            ("text", []) => Ok(Self::Text),
            ("date", []) => Ok(Self::Date),
            ("timestamp", []) => Ok(Self::Timestamp),
            ("bool", []) => Ok(Self::Bool),
            ("bytes", []) => Ok(Self::Bytes),
            ("json", []) => Ok(Self::Json),
            _ => Err(unknown()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ColumnType, ElementType};

    #[test]
    fn a_type_is_parsed_as_workloads_spell_it() {
        let decimal = ColumnType::Decimal {
            precision: 9,
            scale: 2,
        };
        assert_eq!("decimal(9, 2)".parse(), Ok(decimal));
        assert_eq!("char(16)".parse(), Ok(ColumnType::Char(16)));
        assert_eq!(decimal.to_string(), "decimal(9,2)");
        let array = ColumnType::Array(ElementType::Text);
        assert_eq!("text[]".parse(), Ok(array));
        assert_eq!(array.to_string(), "text[]");
        #[rustfmt::skip]
        let cases = [
            "", "int(4)", "decimal", "decimal(2,9)", "char()", "char(x)", "integer", "char(1",
            "int[][]", "json[]", "[]",
        ];
        for wrong in cases {
            assert!(wrong.parse::<ColumnType>().is_err(), "{wrong:?}");
        }
    }
}
