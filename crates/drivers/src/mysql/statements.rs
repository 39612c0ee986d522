//! The prepared statements of one session by the engine's ids, and the statement that is prepared for a
//! single execution.

use super::constants::command;
use super::packet::Packets;
use super::statement::Statement;
use assay_values::Value;

/// The id of the statement of a [`crate::Request::Direct`]; the engine does not use it.
pub(super) const DIRECT: u32 = u32::MAX;

#[derive(Default)]
pub(super) struct Statements {
    /// `None` where Prepare failed or was never requested.
    by_id: Vec<Option<Statement>>,
    direct: Option<Statement>,
    /// The parameter values of the direct statement, until the server has prepared it.
    pub values: Vec<Value>,
}

impl Statements {
    #[inline]
    pub fn get(&self, id: u32) -> Option<&Statement> {
        match id {
            DIRECT => self.direct.as_ref(),
            id => self.by_id.get(id as usize)?.as_ref(),
        }
    }

    #[inline]
    pub fn get_mut(&mut self, id: u32) -> Option<&mut Statement> {
        match id {
            DIRECT => self.direct.as_mut(),
            id => self.by_id.get_mut(id as usize)?.as_mut(),
        }
    }

    pub fn put(&mut self, id: u32, statement: Statement) {
        *self.place(id) = Some(statement);
    }

    /// Removes a statement on the server, which does not answer the request. Here it stays until another takes its
    /// place: if that cannot be prepared, the next execution shows that it must be.
    pub fn close(&mut self, id: u32, packets: &mut Packets, out: &mut Vec<u8>) {
        let Some(Statement::Prepared(old)) = self.get(id) else {
            return;
        };
        packets.begin_command();
        let close = [&[command::STMT_CLOSE], &old.server_id().to_le_bytes()[..]].concat();
        packets.append(out, &close);
        if id == DIRECT {
            self.direct = None;
        }
    }

    fn place(&mut self, id: u32) -> &mut Option<Statement> {
        if id == DIRECT {
            return &mut self.direct;
        }
        let index = id as usize;
        if self.by_id.len() <= index {
            self.by_id.resize_with(index + 1, || None);
        }
        &mut self.by_id[index]
    }
}
