//! Takes the packets that a server sends; fills the answer, and reports when it is complete.

use crate::mysql::client::statement::{DIRECT, Statement};
use crate::mysql::client::{MysqlWire, Phase};
use crate::mysql::shared::packet::Packets;
use crate::mysql::shared::refusal;
use crate::mysql::shared::results::{Skim, Step};
use crate::{Answer, Progress, SystemError};

impl MysqlWire {
    /// Takes one message; returns what the caller must do, if anything.
    fn packet(
        &mut self,
        payload: &[u8],
        out: &mut Vec<u8>,
        answer: &mut Answer,
    ) -> Result<Option<Progress>, SystemError> {
        let agreement = self.server.agreement;
        let packets = &mut self.packets;
        let progress = match &mut self.phase {
            Phase::Results { results, id } => {
                let statement = id.and_then(|id| self.statements.get_mut(id));
                let columns = match statement {
                    Some(Statement::Prepared(prepared)) => &mut prepared.columns,
                    _ => &mut self.columns,
                };
                match results.packet(payload, agreement, columns, &mut self.text, answer)? {
                    Step::More => None,
                    Step::End => Some(Progress::Ready),
                    Step::WantsFile => {
                        // An empty file; the server's answer to it follows.
                        packets.append(out, &[]);
                        answer.error = Some(refusal::no_file());
                        None
                    }
                }
            }
            Phase::FileLoad(load) => load.packet(payload, agreement, packets, out, answer)?,
            Phase::InsertLoad(load) => load.packet(payload, packets, answer)?,
            Phase::PrepareSent { .. } | Phase::Preparing { .. } => {
                self.prepare_packet(payload, out, answer)?
            }
            Phase::Opening(opening) => {
                opening.packet(payload, &self.options, &mut self.server, packets, out)?
            }
            Phase::Idle | Phase::Over => return Err(refusal::unasked(payload)),
        };
        if progress == Some(Progress::Ready) {
            self.answered(out);
        }
        Ok(progress)
    }

    /// Skips the messages of a common answer whose rows are only counted: returns their length in bytes,
    /// and whether the answer is complete. All other messages are left to [`MysqlWire::packet`].
    #[inline]
    pub(crate) fn skim(
        &mut self,
        input: &[u8],
        out: &mut Vec<u8>,
        answer: &mut Answer,
    ) -> (usize, bool) {
        let Phase::Results { results, id } = &mut self.phase else {
            return (0, false);
        };
        if answer.wants_cells() {
            return (0, false);
        }
        let columns = match id.and_then(|id| self.statements.get(id)) {
            Some(Statement::Prepared(prepared)) => prepared.columns.len(),
            _ => usize::MAX,
        };
        let mut used = 0;
        while let Some(payload) = self.packets.peek(&input[used..]) {
            let skim = results.skim(payload, self.server.agreement, columns, answer);
            if skim == Skim::Left {
                break;
            }
            self.packets.passed();
            used += Packets::HEADER + payload.len();
            if skim == Skim::End {
                self.answered(out);
                return (used, true);
            }
        }
        (used, false)
    }

    /// The current request is answered; a statement prepared only for it is closed.
    #[inline]
    fn answered(&mut self, out: &mut Vec<u8>) {
        if let Phase::Results {
            id: Some(DIRECT), ..
        } = self.phase
        {
            self.statements.close(DIRECT, &mut self.packets, out);
        }
        self.phase = Phase::Idle;
    }

    /// What the caller may do when no further message is complete.
    fn progress(&self) -> Progress {
        match &self.phase {
            Phase::Idle => Progress::Ready,
            Phase::FileLoad(load) if load.takes_rows() => Progress::BulkReady,
            Phase::InsertLoad(load) if load.takes_rows() => Progress::BulkReady,
            _ => Progress::NeedMore,
        }
    }

    pub(crate) fn receive_messages(
        &mut self,
        input: &[u8],
        out: &mut Vec<u8>,
        answer: &mut Answer,
    ) -> Result<(usize, Progress), SystemError> {
        let mut used = 0;
        loop {
            let (size, payload) = self.packets.read(&input[used..])?;
            used += size;
            let Some(payload) = payload else {
                return Ok((used, self.progress()));
            };
            match self.packet(&payload, out, answer)? {
                None => {}
                // Bytes received unencrypted must not be taken for TLS data.
                Some(Progress::StartTls) if used < input.len() => {
                    return Err(SystemError::protocol(
                        "TLS to begin",
                        "unencrypted bytes before it",
                    ));
                }
                Some(progress) => return Ok((used, progress)),
            }
        }
    }
}
