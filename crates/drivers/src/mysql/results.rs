//! Takes the messages that answer one statement; counts, hashes or keeps the rows, until the last
//! result has ended.
//!
//! One request may return several results (procedures, several statements in one text). Rows and
//! changed rows of all results add up; the column names are those of the first.

use crate::mysql::constants::{MORE_RESULTS, head};
use crate::mysql::greeting::Agreement;
use crate::mysql::packet::{FULL, ServerOk, transaction_of};
use crate::mysql::refusal;
use crate::mysql::refusal::Moment;
use crate::mysql::rows::{Column, binary_row, text_row};
use crate::scan::Scan;
use crate::{Answer, Result, SystemError, TransactionStatus};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Text,
    Binary,
}

/// Which message comes next.
#[derive(Clone, Copy, Debug)]
enum Stage {
    Head,
    Definition { left: usize },
    DefinitionsEnd,
    Row,
}

pub(crate) enum Step {
    /// The answer has more messages.
    More,
    /// The server requests a file from the client, and waits.
    WantsFile,
    /// The answer is complete.
    End,
}

/// What [`Results::skim`] did with a message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Skim {
    Passed,
    End,
    /// It was not handled: [`Results::packet`] must.
    Left,
}

pub(crate) struct Results {
    stage: Stage,
    format: Format,
    is_first: bool,
}

impl Results {
    pub(crate) fn new(format: Format) -> Self {
        Self {
            stage: Stage::Head,
            format,
            is_first: true,
        }
    }

    /// Takes a message of a common answer whose rows are only counted, and reads only what that needs.
    /// `columns` is the number of columns whose definitions the server has already sent.
    #[inline]
    pub(crate) fn skim(
        &mut self,
        payload: &[u8],
        agreement: Agreement,
        columns: usize,
        answer: &mut Answer,
    ) -> Skim {
        match (self.stage, payload) {
            (Stage::Row, [head::ERROR, ..]) => return Skim::Left,
            (Stage::Row, [head::END, ..]) if agreement.deprecates_eof() => {
                return skim_end(payload, answer);
            }
            (Stage::Row, [head::END, ..]) => return Skim::Left,
            (Stage::Row, _) => answer.pass_row(),
            (Stage::Head, [head::OK, ..]) => return skim_end(payload, answer),
            (Stage::Head, [count, 0])
                if agreement.caches_metadata() && usize::from(*count) == columns =>
            {
                self.stage = Stage::Row;
            }
            // The definitions are sent with every answer; counting rows does not need them.
            (Stage::Head, [count @ 1..=250]) if !agreement.caches_metadata() => {
                self.stage = Stage::Definition {
                    left: usize::from(*count),
                };
            }
            (Stage::Definition { left }, [first, ..])
                if !agreement.caches_metadata() && *first != head::ERROR =>
            {
                self.after_definition(left - 1, agreement);
            }
            _ => return Skim::Left,
        }
        Skim::Passed
    }

    /// `columns` are the cached definitions of this statement; they are replaced if the server sends
    /// others. `text` is a buffer for the text of numbers.
    pub(crate) fn packet(
        &mut self,
        payload: &[u8],
        agreement: Agreement,
        columns: &mut Vec<Column>,
        text: &mut Vec<u8>,
        answer: &mut Answer,
    ) -> Result<Step> {
        if let Stage::Row = self.stage {
            return self.row(payload, agreement, columns, text, answer);
        }
        if payload.first() == Some(&head::ERROR) {
            return failed(payload, answer);
        }
        match self.stage {
            Stage::Head => return self.head(payload, agreement, columns, answer),
            Stage::Definition { left } => {
                self.definition(payload, columns, answer)
                    .ok_or_else(|| SystemError::malformed("a column definition", payload))?;
                self.after_definition(left - 1, agreement);
            }
            Stage::DefinitionsEnd | Stage::Row => self.stage = Stage::Row,
        }
        Ok(Step::More)
    }

    fn head(
        &mut self,
        payload: &[u8],
        agreement: Agreement,
        columns: &mut Vec<Column>,
        answer: &mut Answer,
    ) -> Result<Step> {
        match payload.first() {
            Some(&head::OK) => return self.ended(payload, answer),
            Some(&head::LOCAL_FILE) => return Ok(Step::WantsFile),
            _ => {}
        }
        let malformed = || SystemError::malformed("the number of columns", payload);
        let mut scan = Scan(payload);
        let count = scan.length().and_then(|count| usize::try_from(count).ok());
        let count = count
            .filter(|count| (1..=0xFFFF).contains(count))
            .ok_or_else(malformed)?;
        let definitions_follow = !agreement.caches_metadata() || scan.u8() != Some(0);
        if definitions_follow {
            columns.clear();
            self.stage = Stage::Definition { left: count };
        } else if columns.len() == count {
            if self.is_first && answer.wants_columns() {
                columns
                    .iter()
                    .for_each(|column| answer.typed_column(&column.name, column.cell_type()));
            }
            self.stage = Stage::Row;
        } else {
            return Err(malformed());
        }
        Ok(Step::More)
    }

    fn definition(
        &self,
        payload: &[u8],
        columns: &mut Vec<Column>,
        answer: &mut Answer,
    ) -> Option<()> {
        if self.format == Format::Binary {
            let column = Column::read_named(payload)?;
            if self.is_first && answer.wants_columns() {
                answer.typed_column(&column.name, column.cell_type());
            }
            columns.push(column);
        } else {
            let (name, column) = Column::read(payload)?;
            if self.is_first && answer.wants_columns() {
                answer.typed_column(&String::from_utf8_lossy(name), column.cell_type());
            }
            columns.push(column);
        }
        Some(())
    }

    fn after_definition(&mut self, left: usize, agreement: Agreement) {
        self.stage = match left {
            0 if agreement.deprecates_eof() => Stage::Row,
            0 => Stage::DefinitionsEnd,
            left => Stage::Definition { left },
        };
    }

    fn row(
        &mut self,
        payload: &[u8],
        agreement: Agreement,
        columns: &[Column],
        text: &mut Vec<u8>,
        answer: &mut Answer,
    ) -> Result<Step> {
        match payload.first() {
            Some(&head::ERROR) => return failed(payload, answer),
            // A row whose first cell has 16 MiB or more begins with the same byte.
            Some(&head::END) if payload.len() < FULL => {
                return if agreement.deprecates_eof() {
                    self.ended(payload, answer)
                } else {
                    self.old_end(payload, answer)
                };
            }
            _ => {}
        }
        if !answer.wants_cells() {
            answer.pass_row();
            return Ok(Step::More);
        }
        let read = match self.format {
            Format::Text => text_row(payload, columns.len(), answer),
            Format::Binary => binary_row(payload, columns, text, answer),
        };
        read.map(|()| Step::More)
            .ok_or_else(|| SystemError::malformed("a row", payload))
    }

    fn ended(&mut self, payload: &[u8], answer: &mut Answer) -> Result<Step> {
        let ok = ServerOk::read(payload)
            .ok_or_else(|| SystemError::malformed("the end of a result", payload))?;
        answer.affected = answer.affected.saturating_add(ok.affected);
        answer.has_warnings |= ok.warnings > 0;
        // Of several statements in one text: what has no rows may have changed some, and nothing is open after it.
        answer.has_committed |= ok.status & MORE_RESULTS != 0
            && payload.first() == Some(&head::OK)
            && transaction_of(ok.status) == TransactionStatus::None;
        Ok(self.next_or_end(ok.status, answer))
    }

    /// The EOF packet of servers without `DEPRECATE_EOF`: warnings, then status.
    fn old_end(&mut self, payload: &[u8], answer: &mut Answer) -> Result<Step> {
        let mut scan = Scan(&payload[1..]);
        let (Some(_warnings), Some(status)) = (scan.u16_le(), scan.u16_le()) else {
            return Err(SystemError::malformed("the end of the rows", payload));
        };
        Ok(self.next_or_end(status, answer))
    }

    fn next_or_end(&mut self, status: u16, answer: &mut Answer) -> Step {
        if status & MORE_RESULTS == 0 {
            answer.transaction = transaction_of(status);
            return Step::End;
        }
        self.stage = Stage::Head;
        self.is_first = false;
        Step::More
    }
}

/// The OK packet at the end of the last result.
#[inline]
fn skim_end(payload: &[u8], answer: &mut Answer) -> Skim {
    let mut scan = Scan(payload);
    let mut read = || {
        scan.u8()?;
        let affected = scan.length()?;
        scan.length()?; // last inserted id
        Some((affected, scan.u16_le()?, scan.u16_le()?))
    };
    match read() {
        Some((affected, status, 0)) if status & MORE_RESULTS == 0 => {
            answer.affected = answer.affected.saturating_add(affected);
            answer.transaction = transaction_of(status);
            Skim::End
        }
        _ => Skim::Left,
    }
}

/// Puts the statement's error into the answer; returns one that ends the session. The packet has no
/// status: some errors roll the transaction back, most do not.
fn failed(payload: &[u8], answer: &mut Answer) -> Result<Step> {
    let error = refusal::read(payload, Moment::Statement).of_statement()?;
    answer.is_unprepared = refusal::is_unprepared(&error.code);
    if !answer.is_unprepared {
        answer.transaction = TransactionStatus::Unknown;
    }
    answer.error = Some(error);
    Ok(Step::End)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failing(number: u16) -> Answer {
        let mut answer = Answer::default();
        answer.transaction = TransactionStatus::Open;
        let packet = [&[head::ERROR], &number.to_le_bytes()[..], b"#HY000no"].concat();
        assert!(failed(&packet, &mut answer).is_ok());
        answer
    }

    /// The error packet has no status; these errors end no transaction.
    #[test]
    fn a_statement_that_must_be_prepared_again_leaves_its_transaction_open() {
        for number in [1615, 1243] {
            let answer = failing(number);
            assert!(answer.is_unprepared, "{number}");
            assert_eq!(answer.transaction, TransactionStatus::Open);
        }
        let answer = failing(1213);
        assert!(!answer.is_unprepared);
        assert_eq!(answer.transaction, TransactionStatus::Unknown);
    }
}
