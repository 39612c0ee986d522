//! Takes Parse and Bind messages; keeps what their execution needs.

use std::sync::Arc;

use crate::SystemError;
use crate::null::Statement;
use crate::postgresql::message::Fields;

/// A prepared statement.
pub(crate) struct Prepared {
    pub(crate) statement: Statement,
    /// Object ids of the parameter types.
    pub(crate) types: Box<[u32]>,
}

/// `bigint`: the type of parameters whose type the client does not declare, and of each column.
pub(crate) const INT8: u32 = 20;

impl Prepared {
    /// `types` are those that the client declares; 0: the server chooses.
    pub(crate) fn new(statement: Statement, parameters: u16, mut types: Vec<u32>) -> Self {
        types.resize(usize::from(parameters).max(types.len()), 0);
        for oid in types.iter_mut().filter(|oid| **oid == 0) {
            *oid = INT8;
        }
        Self {
            statement,
            types: types.into(),
        }
    }
}

/// A statement whose parameters are bound. Their values are ignored.
pub(crate) struct Portal {
    pub(crate) prepared: Arc<Prepared>,
    formats: Formats,
}

/// The format that the client requests for each column.
enum Formats {
    All { is_binary: bool },
    Each(Box<[bool]>),
}

impl Portal {
    /// `fields` are those of Bind after the names.
    ///
    /// # Errors
    /// Where the message ends inside a field.
    #[inline]
    pub(crate) fn bind(
        prepared: Arc<Prepared>,
        mut fields: Fields<'_>,
    ) -> Result<Self, SystemError> {
        let parameter_formats = fields.count()?;
        fields.bytes(2 * parameter_formats)?;
        for _ in 0..fields.count()? {
            // −1 is NULL, which has no bytes.
            if let Ok(length) = usize::try_from(fields.int32()?) {
                fields.bytes(length)?;
            }
        }
        let formats = match fields.count()? {
            0 => Formats::All { is_binary: false },
            1 => Formats::All {
                is_binary: fields.int16()? == 1,
            },
            many => Formats::Each(
                (0..many)
                    .map(|_| fields.int16().map(|format| format == 1))
                    .collect::<Result<_, _>>()?,
            ),
        };
        Ok(Self { prepared, formats })
    }

    #[inline]
    pub(crate) fn is_binary(&self, column: usize) -> bool {
        match &self.formats {
            Formats::All { is_binary } => *is_binary,
            Formats::Each(formats) => formats.get(column).copied().unwrap_or(false),
        }
    }
}
