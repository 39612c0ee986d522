//! Takes a statement's text; gives it to the server to prepare, and keeps what the server says of it.

use super::constants::{command, head};
use super::refusal::{self, Moment};
use super::statement::{Preparation, Statement};
use super::{MysqlWire, Phase};
use crate::{Answer, Progress, SystemError};

/// "This command is not supported in the prepared statement protocol yet".
const CANNOT_BE_PREPARED: &str = "1295";

impl MysqlWire {
    pub(super) fn prepare(&mut self, id: u32, text: &str, out: &mut Vec<u8>) {
        let index = id as usize;
        if self.statements.len() <= index {
            self.statements.resize_with(index + 1, || None);
        }
        if let Some(Statement::Prepared(old)) = self.statements[index].take() {
            self.packets.begin_command(); // it has no answer
            let close = [&[command::STMT_CLOSE], &old.server_id().to_le_bytes()[..]].concat();
            self.packets.append(out, &close);
        }
        self.packets.begin_command();
        self.packets.write(out, |out| {
            out.push(command::STMT_PREPARE);
            out.extend_from_slice(text.as_bytes());
        });
        self.phase = Phase::PrepareAsked {
            id,
            text: text.to_owned(),
        };
    }

    /// Takes one message of the answer to Prepare.
    pub(super) fn prepare_packet(
        &mut self,
        payload: &[u8],
        answer: &mut Answer,
    ) -> Result<Option<Progress>, SystemError> {
        let (id, preparation) = match std::mem::replace(&mut self.phase, Phase::Over) {
            Phase::PrepareAsked { id, text } if payload.first() == Some(&head::ERROR) => {
                let error = refusal::read(payload, Moment::Statement);
                if error.class.ends_the_session() {
                    return Err(error);
                }
                if error.code == CANNOT_BE_PREPARED && !text.contains('?') {
                    self.statements[id as usize] = Some(Statement::Text(text));
                } else {
                    answer.error = Some(error);
                }
                return Ok(Some(Progress::Ready));
            }
            Phase::PrepareAsked { id, .. } => {
                let preparation = Preparation::read(payload, self.server.agreement)
                    .ok_or_else(|| refusal::malformed("a prepared statement", payload))?;
                (id, preparation)
            }
            Phase::Preparing {
                id,
                mut preparation,
            } => {
                preparation.packet(payload)?;
                (id, preparation)
            }
            _ => return Err(refusal::unasked(payload)),
        };
        if !preparation.is_complete() {
            self.phase = Phase::Preparing { id, preparation };
            return Ok(None);
        }
        let prepared = preparation.finish();
        self.statements[id as usize] = Some(Statement::Prepared(prepared));
        Ok(Some(Progress::Ready))
    }
}
