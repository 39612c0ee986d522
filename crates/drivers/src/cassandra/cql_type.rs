//! Takes the description of a type as the protocol sends it; gives the type.

use crate::cassandra::notation::{type_id, write_string};
use crate::scan::Scan;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum CqlType {
    Ascii,
    Bigint,
    Blob,
    Boolean,
    Counter,
    Decimal,
    Double,
    Float,
    Int,
    Timestamp,
    Uuid,
    Varchar,
    Varint,
    Timeuuid,
    Inet,
    Date,
    Time,
    Smallint,
    Tinyint,
    Duration,
    List(Box<Self>),
    Map(Box<Self>, Box<Self>),
    Set(Box<Self>),
    /// A type of the user's own: its name, and its fields.
    Udt(Box<str>, Vec<(Box<str>, Self)>),
    Tuple(Vec<Self>),
    /// So many numbers of 32 bits, one behind the other.
    FloatVector(usize),
    /// A class of the server's.
    Custom(Box<str>),
}

/// Types within types: the servers allow fewer.
const MAX_DEPTH: u32 = 32;

impl CqlType {
    pub(crate) fn read(scan: &mut Scan<'_>) -> Option<Self> {
        Self::within(scan, MAX_DEPTH)
    }

    fn within(scan: &mut Scan<'_>, depth: u32) -> Option<Self> {
        let depth = depth.checked_sub(1)?;
        let boxed = |scan: &mut Scan<'_>| Self::within(scan, depth).map(Box::new);
        Some(match scan.u16_be()? {
            type_id::CUSTOM => custom(scan.string()?),
            0x01 => Self::Ascii,
            type_id::BIGINT => Self::Bigint,
            0x03 => Self::Blob,
            0x04 => Self::Boolean,
            0x05 => Self::Counter,
            0x06 => Self::Decimal,
            0x07 => Self::Double,
            0x08 => Self::Float,
            0x09 => Self::Int,
            0x0B => Self::Timestamp,
            0x0C => Self::Uuid,
            type_id::VARCHAR => Self::Varchar,
            0x0E => Self::Varint,
            0x0F => Self::Timeuuid,
            0x10 => Self::Inet,
            0x11 => Self::Date,
            0x12 => Self::Time,
            0x13 => Self::Smallint,
            0x14 => Self::Tinyint,
            0x15 => Self::Duration,
            0x20 => Self::List(boxed(scan)?),
            0x21 => Self::Map(boxed(scan)?, boxed(scan)?),
            0x22 => Self::Set(boxed(scan)?),
            0x30 => {
                scan.string()?; // keyspace
                let name = scan.string()?.into();
                let count = scan.u16_be()?;
                let field = |_| Some((scan.string()?.into(), Self::within(scan, depth)?));
                Self::Udt(name, (0..count).map(field).collect::<Option<_>>()?)
            }
            0x31 => {
                let count = scan.u16_be()?;
                let part = |_| Self::within(scan, depth);
                Self::Tuple((0..count).map(part).collect::<Option<_>>()?)
            }
            _ => return None,
        })
    }

    /// The name used in messages.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::List(part) => format!("list<{}>", part.name()),
            Self::Set(part) => format!("set<{}>", part.name()),
            Self::Map(key, value) => format!("map<{}, {}>", key.name(), value.name()),
            Self::Tuple(parts) => {
                let parts: Vec<String> = parts.iter().map(Self::name).collect();
                format!("tuple<{}>", parts.join(", "))
            }
            Self::Udt(name, _) | Self::Custom(name) => name.to_string(),
            Self::FloatVector(length) => format!("vector<float, {length}>"),
            simple => format!("{simple:?}").to_lowercase(),
        }
    }
}

/// A vector of floats is known by its class, all others are bytes.
fn custom(class: &str) -> CqlType {
    let length = class
        .strip_prefix("org.apache.cassandra.db.marshal.VectorType(")
        .and_then(|rest| rest.strip_suffix(')'))
        .and_then(|rest| rest.split_once(','))
        .filter(|(part, _)| part.trim().ends_with(".FloatType"))
        .and_then(|(_, length)| length.trim().parse().ok());
    match length {
        Some(length) => CqlType::FloatVector(length),
        None => CqlType::Custom(class.into()),
    }
}

/// A column as metadata names it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Column {
    pub(crate) name: Box<str>,
    pub(crate) kind: CqlType,
}

impl Column {
    /// The columns behind the flags of metadata: all of one table, or each with its own.
    pub(crate) fn read_all(
        scan: &mut Scan<'_>,
        count: usize,
        is_of_one_table: bool,
        columns: &mut Vec<Self>,
    ) -> Option<()> {
        columns.clear();
        if is_of_one_table {
            scan.string()?;
            scan.string()?;
        }
        for _ in 0..count {
            if !is_of_one_table {
                scan.string()?;
                scan.string()?;
            }
            let name = scan.string()?.into();
            let kind = CqlType::read(scan)?;
            columns.push(Self { name, kind });
        }
        Some(())
    }

    /// A column of a simple type, as a server writes it.
    pub(crate) fn write(name: &str, id: u16, out: &mut Vec<u8>) {
        write_string(name, out);
        out.extend_from_slice(&id.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_within_types_are_read_up_to_a_depth() {
        let bytes = [0, 0x21, 0, 0x0D, 0, 0x20, 0, 0x31, 0, 2, 0, 9, 0, 0x15];
        let mut scan = Scan(&bytes);
        let kind = CqlType::read(&mut scan).expect("it is well formed");
        assert_eq!(kind.name(), "map<varchar, list<tuple<int, duration>>>");
        assert!(scan.0.is_empty());
        let deep = [0, 0x20].repeat(1_000_000);
        assert_eq!(CqlType::read(&mut Scan(&deep)), None);
    }

    #[test]
    fn a_vector_of_floats_is_known_by_its_class() {
        let vector = "org.apache.cassandra.db.marshal.VectorType(org.apache.cassandra.db.marshal.FloatType, 3)";
        assert_eq!(custom(vector), CqlType::FloatVector(3));
        assert_eq!(custom("x.Y"), CqlType::Custom("x.Y".into()));
    }
}
