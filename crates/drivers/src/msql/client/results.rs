//! Takes the packets that answer one statement; counts, hashes or keeps the rows, and names the columns.
//!
//! The columns are described behind the rows. Of a description the second value is the column's name.

use crate::msql::client::reply::Reply;
use crate::msql::shared::fields::Fields;
use crate::msql::shared::refusal;
use crate::msql::shared::refusal::Moment;
use crate::{Answer, SystemError};

/// Values of a description: the column's table, name, type, length, and two properties.
const DESCRIPTION_VALUES: usize = 6;

/// Which packet comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Results {
    Head,
    Row { fields: usize },
    Description { left: usize },
}

impl Results {
    /// Takes one packet; returns whether the answer is complete.
    #[inline]
    pub(crate) fn packet(&mut self, text: &[u8], answer: &mut Answer) -> Result<bool, SystemError> {
        let reply = Reply::read(text);
        if let Reply::Error(message) = reply {
            let error = refusal::read(message, Moment::Statement);
            if error.class.ends_the_session() {
                return Err(error);
            }
            answer.error = Some(error);
            return Ok(true);
        }
        match (*self, reply) {
            (Self::Head, Reply::Done) => Ok(true),
            (Self::Head, Reply::Rows(fields)) => {
                *self = Self::Row { fields };
                Ok(false)
            }
            (Self::Head, _) => Err(refusal::malformed("the reply to a statement", text)),
            (Self::Row { fields }, Reply::End) => {
                answer.forget_columns();
                *self = Self::Description { left: fields };
                Ok(false)
            }
            (Self::Row { fields }, _) => {
                row(text, fields, answer)?;
                Ok(false)
            }
            (Self::Description { left: 0 }, Reply::End) => Ok(true),
            (Self::Description { left }, _) if left > 0 => {
                describe(text, answer)?;
                *self = Self::Description { left: left - 1 };
                Ok(false)
            }
            (Self::Description { .. }, _) => Err(refusal::malformed(
                "the end of the column descriptions",
                text,
            )),
        }
    }
}

#[inline]
fn row(text: &[u8], fields: usize, answer: &mut Answer) -> Result<(), SystemError> {
    if !answer.wants_cells() {
        answer.pass_row();
        return Ok(());
    }
    let malformed = || refusal::malformed(&format!("a row of {fields} values"), text);
    let mut values = Fields(text);
    answer.begin_row();
    for _ in 0..fields {
        answer.cell(values.value().ok_or_else(malformed)?);
    }
    if !values.is_empty() {
        return Err(malformed());
    }
    answer.end_row();
    Ok(())
}

fn describe(text: &[u8], answer: &mut Answer) -> Result<(), SystemError> {
    let mut values = Fields(text);
    let mut described = [None; DESCRIPTION_VALUES];
    for value in &mut described {
        *value = (values.value())
            .ok_or_else(|| refusal::malformed("the description of a column", text))?;
    }
    let name = described[1].unwrap_or_default();
    answer.column(&String::from_utf8_lossy(name));
    Ok(())
}
