//! A statement that the driver sends for its own use; its answer does not reach the engine.

use super::column::Column;
use super::greeting::Agreement;
use super::packet::Packets;
use super::results::{Format, Results, Step};
use crate::{Answer, Keep, SystemError};

pub(super) struct OwnStatement {
    results: Results,
    columns: Vec<Column>,
    answer: Answer,
}

impl OwnStatement {
    pub(super) fn send(text: &str, keep: Keep, packets: &mut Packets, out: &mut Vec<u8>) -> Self {
        packets.query(text, out);
        Self {
            results: Results::new(Format::Text),
            columns: Vec::new(),
            answer: Answer::new(keep),
        }
    }

    /// Takes one message; returns the answer once it is complete.
    pub(super) fn packet(
        &mut self,
        payload: &[u8],
        agreement: Agreement,
        packets: &mut Packets,
        out: &mut Vec<u8>,
    ) -> Result<Option<&mut Answer>, SystemError> {
        let Self {
            results,
            columns,
            answer,
        } = self;
        match results.packet(payload, agreement, columns, &mut Vec::new(), answer)? {
            Step::End => return Ok(Some(answer)),
            Step::WantsFile => packets.append(out, &[]), // an empty file: none is ever sent
            Step::More => {}
        }
        Ok(None)
    }
}
