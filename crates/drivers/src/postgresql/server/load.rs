//! Takes the messages of a `COPY … FROM STDIN`; answers them, and counts its rows.

use crate::null::{Meaning, Statement};
use crate::postgresql::message::{Fields, Message};
use crate::postgresql::server::copy::Copy;
use crate::postgresql::server::messages::unexpected;
use crate::postgresql::server::reply::Status;
use crate::postgresql::server::{PostgresqlServer, Step, messages as tag, reply};
use crate::{ErrorClass, SystemError};

impl PostgresqlServer {
    pub(crate) fn begins_copy(
        &self,
        statement: &Statement,
        is_simple: bool,
        out: &mut Vec<u8>,
    ) -> Option<Copy> {
        let Meaning::Load {
            table, is_binary, ..
        } = &statement.meaning
        else {
            return None;
        };
        if self.status == Status::Failed {
            return None;
        }
        reply::copy_in(*is_binary, out);
        Some(Copy::new(table, *is_binary, is_simple))
    }

    /// Reads a message while rows of a load are expected.
    pub(crate) fn copying(
        &mut self,
        message: Message<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Step, SystemError> {
        let Some(copy) = &mut self.copy else {
            return Ok(Step::Go);
        };
        let is_simple = copy.is_simple();
        match message.tag {
            tag::COPY_DATA => copy.take(message.body),
            tag::FLUSH | tag::SYNC => {}
            tag::COPY_DONE => {
                self.loaded = (self.copy.take()).map(Copy::finish).unwrap_or_default();
                reply::complete("COPY ", Some(self.loaded.1), out);
                if is_simple && self.queue.is_empty() {
                    reply::ready(self.status, out);
                }
                return Ok(Step::Loaded);
            }
            tag::COPY_FAIL => {
                let reason = Fields(message.body).text()?;
                let message = format!(
                    "COPY from stdin failed: {}",
                    String::from_utf8_lossy(reason)
                );
                self.copy = None;
                self.end_with(
                    &SystemError::new(ErrorClass::Timeout, "57014", message),
                    is_simple,
                    out,
                );
            }
            tag::TERMINATE => return Ok(Step::Over),
            _ => return Err(unexpected(message)),
        }
        Ok(Step::Go)
    }
}
