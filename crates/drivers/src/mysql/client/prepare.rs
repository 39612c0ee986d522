//! Takes a statement's text; has the server prepare it, and stores the server's description of it.

use crate::mysql::client::statement::{DIRECT, Preparation, Statement};
use crate::mysql::client::{MysqlWire, Phase};
use crate::mysql::shared::constants::{command, head};
use crate::mysql::shared::refusal;
use crate::mysql::shared::refusal::Moment;
use crate::mysql::shared::results::Results;
use crate::{Answer, Progress, SystemError, TransactionStatus};
use assay_values::Piece;

/// "This command is not supported in the prepared statement protocol yet".
const CANNOT_BE_PREPARED: &str = "1295";

impl MysqlWire {
    pub(crate) fn prepare(&mut self, id: u32, pieces: &[Piece], out: &mut Vec<u8>) {
        let text = Piece::join(pieces, |_, text| text.push('?'));
        self.statements.close(id, &mut self.packets, out);
        self.packets.begin_command();
        self.packets.write(out, |out| {
            out.push(command::STMT_PREPARE);
            out.extend_from_slice(text.as_bytes());
        });
        self.phase = Phase::PrepareSent {
            id,
            text,
            has_values: pieces.contains(&Piece::Value),
        };
    }

    /// Takes one message of the answer to Prepare.
    pub(crate) fn prepare_packet(
        &mut self,
        payload: &[u8],
        out: &mut Vec<u8>,
        answer: &mut Answer,
    ) -> Result<Option<Progress>, SystemError> {
        let (id, preparation) = match std::mem::replace(&mut self.phase, Phase::Over) {
            Phase::PrepareSent {
                id,
                text,
                has_values,
            } if payload.first() == Some(&head::ERROR) => {
                let error = refusal::read(payload, Moment::Statement);
                if error.class.ends_the_session() {
                    return Err(error);
                }
                if error.code == CANNOT_BE_PREPARED && !has_values {
                    self.statements.put(id, Statement::Text(text));
                    return Ok(self.prepared(id, out, answer));
                }
                answer.error = Some(error);
                answer.transaction = TransactionStatus::Unknown;
                return Ok(Some(Progress::Ready));
            }
            Phase::PrepareSent { id, .. } => {
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
        self.statements.put(id, Statement::Prepared(prepared));
        Ok(self.prepared(id, out, answer))
    }

    /// The server has prepared a statement; a direct statement is executed next.
    fn prepared(&mut self, id: u32, out: &mut Vec<u8>, answer: &mut Answer) -> Option<Progress> {
        if id != DIRECT {
            return Some(Progress::Ready);
        }
        let values = std::mem::take(&mut self.statements.values);
        let statement = self.statements.get_mut(id).expect("it was just prepared");
        match statement.write(&values, &mut self.packets, out) {
            Ok(format) => {
                let results = Results::new(format);
                self.phase = Phase::Results {
                    results,
                    id: Some(id),
                };
                None
            }
            Err(error) => {
                self.statements.close(id, &mut self.packets, out);
                answer.error = Some(error);
                Some(Progress::Ready)
            }
        }
    }
}
