//! Takes requests and bytes; implements [`Wire`] for a PostgreSQL session.

use std::ops::ControlFlow;

use assay_values::Row;
use bytes::BytesMut;
use postgres_protocol::message::frontend;

use crate::postgresql::client::direct::BatchedSend;
use crate::postgresql::client::exchange::{Exchange, Sent};
use crate::postgresql::client::statement::Statement;
use crate::postgresql::client::{Phase, PostgresqlWire, copy_binary, direct, startup, statement};
use crate::postgresql::message::{cold, query, refused};
use crate::{Answer, BulkForm, Cancel, ErrorClass, Progress, Request, Sender, SystemError, Wire};

const MIXED: &str = "a pipeline cannot mix text statements with bound statements";
const TOO_EARLY: &str = "a request was made before the session was ready";

impl Wire for PostgresqlWire {
    fn sender_of(first: &[u8]) -> Option<Sender> {
        startup::sender_of(first)
    }

    fn connected(&mut self, out: &mut Vec<u8>) {
        if self.options.wants_tls {
            self.phase = Phase::TlsRequested;
            let mut buffer = BytesMut::new();
            frontend::ssl_request(&mut buffer);
            out.extend_from_slice(&buffer);
        } else {
            self.start(out);
        }
    }

    fn secured(&mut self, out: &mut Vec<u8>) {
        self.start(out);
    }

    #[inline]
    fn request(&mut self, request: &Request<'_>, out: &mut Vec<u8>) -> Result<(), SystemError> {
        match self.phase {
            Phase::Idle => {}
            Phase::Queueing(_) => self.kept.undeclare(), // the pipeline is not sent
            _ => return Err(refused(TOO_EARLY)),
        }
        let sent = match *request {
            Request::Execute { id, parameters } => {
                let statement = self.prepared(id)?;
                let sent = Sent::Execute {
                    id,
                    tag: statement.tag,
                    has_columns: !statement.columns.is_empty(),
                };
                if !statement.execute(self.kept.names, parameters, out)? {
                    self.declare(id, parameters, Statement::execute, out)?;
                }
                sent
            }
            Request::Text(text) => {
                query(text, out)?;
                Sent::Text
            }
            Request::Begin | Request::Commit | Request::Rollback => {
                query(request.sql().unwrap_or_default(), out)?;
                Sent::Text
            }
            Request::Prepare { id, pieces } => self.prepare(id, pieces, out)?,
            Request::Direct { pieces, parameters } => {
                direct::write(pieces, parameters, out)?;
                out.extend_from_slice(statement::SYNC);
                Sent::Direct
            }
            Request::Bulk {
                text,
                form: BulkForm::Native,
                types,
            } => {
                match copy_binary::statement(text, types) {
                    Some(text) => {
                        query(&text, out)?;
                        self.kept.bulk_types = types.into();
                    }
                    None => {
                        query(text, out)?;
                        self.kept.bulk_types = Box::default();
                        self.kept.bulk_text_types = types.into();
                    }
                }
                Sent::Bulk
            }
            Request::Bulk {
                form: BulkForm::MultiRow,
                ..
            } => {
                return Err(refused(
                    "expected a bulk load in the native form (COPY … FROM STDIN), found multi-row",
                ));
            }
        };
        self.phase = Phase::Busy(Exchange::new(sent));
        Ok(())
    }

    fn pipelines(&self) -> bool {
        true
    }

    #[inline]
    fn queue(&mut self, request: &Request<'_>, out: &mut Vec<u8>) -> Result<(), SystemError> {
        let queued = match self.phase {
            Phase::Idle => 0,
            Phase::Queueing(queued) => queued,
            _ => return Err(refused(TOO_EARLY)),
        };
        let is_text = matches!(request, Request::Text(_));
        if queued > 0 && is_text != self.kept.batched_send.is_open() {
            return Err(refused(MIXED));
        }
        if queued == 0 {
            self.kept.batched_send = BatchedSend::default();
        }
        let id = match *request {
            Request::Execute { id, parameters } => {
                if !self.prepared(id)?.queue(self.kept.names, parameters, out)? {
                    self.declare(id, parameters, Statement::queue, out)?;
                }
                Some(id)
            }
            Request::Direct { pieces, parameters } => {
                direct::write(pieces, parameters, out)?;
                None
            }
            Request::Text(text) => {
                self.kept.batched_send.add(text, out)?;
                None
            }
            Request::Begin | Request::Commit | Request::Rollback => {
                direct::write_text(request.sql().unwrap_or_default(), 0, &[], out)?;
                None
            }
            Request::Prepare { .. } | Request::Bulk { .. } => {
                return Err(refused("only executions can be part of a pipeline"));
            }
        };
        self.kept.pipeline.truncate(queued);
        self.kept.pipeline.push(id);
        self.phase = Phase::Queueing(queued + 1);
        Ok(())
    }

    #[inline]
    fn sync(&mut self, out: &mut Vec<u8>) {
        let owed = match self.phase {
            Phase::Queueing(queued) => queued,
            _ => 0,
        };
        self.kept.pipeline.truncate(owed);
        // A text needs no Sync.
        if owed == 0 || !self.kept.batched_send.is_open() {
            out.extend_from_slice(statement::SYNC);
        }
        self.phase = Phase::Busy(Exchange::new(Sent::Pipeline { owed }));
    }

    #[inline]
    fn receive(
        &mut self,
        input: &[u8],
        out: &mut Vec<u8>,
        answer: &mut Answer,
    ) -> Result<(usize, Progress), SystemError> {
        let mut skimmed = 0;
        if let Phase::Busy(exchange) = &mut self.phase {
            let (used, is_complete) = exchange.skim(input, answer);
            if is_complete {
                self.phase = Phase::Idle;
                return Ok((used, Progress::Ready));
            }
            skimmed = used;
        }
        let progress = self
            .advance(&input[skimmed..], out, answer)
            .map(|(used, progress)| (skimmed + used, progress));
        if progress.is_err() {
            (self.copy, self.phase) = (None, Phase::Over);
        }
        progress
    }

    #[inline]
    fn bulk_row(&mut self, row: &Row, out: &mut Vec<u8>) -> ControlFlow<()> {
        // Without an open load the server has already refused it, and ignores further rows.
        if let Some(copy) = &mut self.copy
            && let Err(error) = copy.row(row, out)
        {
            self.give_up(error, out);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn bulk_end(&mut self, abort: Option<&str>, out: &mut Vec<u8>) {
        match (abort, self.copy.take()) {
            (Some(reason), Some(_)) => {
                self.give_up(SystemError::new(ErrorClass::Other, "", reason), out);
            }
            (None, Some(copy)) => copy.end(out),
            (_, None) => {}
        }
    }

    fn terminate(&mut self, out: &mut Vec<u8>) {
        // Behind a pooler the server's session goes on, with the statements that it has.
        for (id, statement) in (0..).zip(&self.kept.statements) {
            if statement.is_some() {
                // A name is short enough for a message, and holds no zero byte.
                let name = self.kept.names.of(id);
                let _ = cold(out, |buffer| frontend::close(b'S', &name, buffer));
            }
        }
        out.extend_from_slice(b"X\0\0\0\x04");
    }

    fn server_version(&self) -> &str {
        &self.server.version
    }

    fn session_id(&self) -> u64 {
        self.server.process_id
    }

    fn cancel(&self) -> Option<Cancel> {
        self.server.cancel_request().map(Cancel::Message)
    }
}
