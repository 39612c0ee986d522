//! Takes the rows of a load; sends each as an execution of the load's statement, many of them at a time on one
//! connection, and counts those that the server has stored.

use std::ops::ControlFlow;

use assay_values::Row;

use crate::cassandra::client::bind::Bound;
use crate::cassandra::client::in_flight::MAX_STREAMS;
use crate::cassandra::client::rows::Prepared;
use crate::cassandra::client::settings::Settings;
use crate::cassandra::client::{bind, settings};
use crate::cassandra::frame_writer::FrameWriter;
use crate::cassandra::notation::{opcode, query_flag, write_short_bytes};
use crate::cassandra::refusal;
use crate::cassandra::refusal::Moment;
use crate::{Answer, Result, SystemError};

/// Rows that are sent before the first of them is answered. More gain nothing (measured), and let each wait
/// longer on the server, which gives up after two seconds.
const WINDOW: usize = 512;

pub(crate) struct Load {
    prepared: Prepared,
    /// Which streams wait for an answer.
    is_busy: Vec<bool>,
    free: Vec<i16>,
    unanswered: usize,
    pub(crate) is_full: bool,
    stored: u64,
    error: Option<SystemError>,
    is_over: bool,
    parameters: Vec<u8>,
}

impl Load {
    pub(crate) fn new(prepared: Prepared) -> Self {
        Self {
            prepared,
            is_busy: Vec::new(),
            free: Vec::new(),
            unanswered: 0,
            is_full: false,
            stored: 0,
            error: None,
            is_over: false,
            parameters: Vec::new(),
        }
    }

    #[inline]
    pub(crate) fn row(
        &mut self,
        row: &Row,
        settings: &Settings,
        frame_writer: &mut FrameWriter,
        out: &mut Vec<u8>,
    ) -> ControlFlow<()> {
        if self.error.is_some() {
            return ControlFlow::Continue(());
        }
        match self.send(row, settings, frame_writer, out) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.error = Some(error);
                self.end(None, frame_writer, out);
                ControlFlow::Break(())
            }
        }
    }

    fn send(
        &mut self,
        row: &Row,
        settings: &Settings,
        frame_writer: &mut FrameWriter,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let is_v5 = frame_writer.is_v5();
        let (prepared, written) = (&self.prepared, &mut self.parameters);
        written.clear();
        let flags_at =
            settings::write_parameters(settings, is_v5, query_flag::VALUES, written, |out| {
                bind::write_all(&prepared.parameters, row.cells().map(Bound::from), out)
            })?;
        let stream = self.stream()?;
        let (prepared, written) = (&self.prepared, &self.parameters);
        frame_writer.try_send(opcode::EXECUTE, stream, out, |out| {
            write_short_bytes(&prepared.id, out);
            if is_v5 {
                write_short_bytes(&prepared.rows_id, out);
            }
            settings::send_parameters(written, flags_at, None, settings, out);
            Ok(())
        })?;
        self.sent(stream);
        Ok(())
    }

    /// A stream that no answer is owed on.
    fn stream(&mut self) -> Result<i16> {
        if let Some(stream) = self.free.pop() {
            return Ok(stream);
        }
        let next = i16::try_from(self.is_busy.len());
        match next {
            Ok(next) if self.is_busy.len() < MAX_STREAMS - 1 => {
                self.is_busy.push(false);
                Ok(next)
            }
            _ => Err(SystemError::refused(
                "more rows were sent than the protocol can number",
            )),
        }
    }

    fn sent(&mut self, stream: i16) {
        if let Some(place) = usize::try_from(stream)
            .ok()
            .and_then(|at| self.is_busy.get_mut(at))
        {
            *place = true;
        }
        self.unanswered += 1;
        self.is_full |= self.unanswered >= WINDOW;
    }

    /// No more rows come.
    pub(crate) fn end(
        &mut self,
        abort: Option<&str>,
        frame_writer: &mut FrameWriter,
        out: &mut Vec<u8>,
    ) {
        if let Some(reason) = abort
            && self.error.is_none()
        {
            let message = format!("the load was given up: {reason}");
            self.error = Some(SystemError::refused(message));
        }
        self.is_over = true;
        // The engine waits for bytes while an answer is due.
        if self.unanswered == 0
            && let Ok(stream) = self.stream()
        {
            frame_writer.send(opcode::OPTIONS, stream, out, |_| {});
            self.sent(stream);
        }
    }

    /// Takes one message; says whether the load is over, and then the answer is filled.
    pub(crate) fn message(
        &mut self,
        stream: i16,
        code: u8,
        body: &[u8],
        answer: &mut Answer,
    ) -> Result<bool> {
        let place = usize::try_from(stream).ok();
        match place.and_then(|at| self.is_busy.get_mut(at)) {
            Some(is_busy) if *is_busy => *is_busy = false,
            _ => {
                return Err(SystemError::protocol(
                    "the answer to a row",
                    format!("an answer on stream {stream}, on which nothing was asked"),
                ));
            }
        }
        self.free.push(stream);
        self.unanswered -= 1;
        if self.unanswered <= WINDOW / 2 {
            self.is_full = false;
        }
        match code {
            opcode::RESULT => self.stored += 1,
            opcode::SUPPORTED => {}
            opcode::ERROR => {
                self.error
                    .get_or_insert(refusal::read(body, Moment::Request).of_statement()?);
            }
            other => {
                return Err(SystemError::protocol(
                    "the answer to a row",
                    format!("a message with opcode {other:#04x}"),
                ));
            }
        }
        let is_complete = self.unanswered == 0 && (self.is_over || self.error.is_some());
        if is_complete {
            answer.affected = self.stored;
            answer.error = self.error.take();
        }
        Ok(is_complete)
    }
}
