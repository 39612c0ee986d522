//! What a client does when its session is open, is lost, cannot be opened, or is abandoned at the end of the run.

use assay_drivers::{ErrorClass, SystemError};

use crate::account::{EndState, ThreadRecorder};
use crate::drive::client::session_transaction::SessionTransaction;
use crate::drive::client::state::{ClientState, REFUSED_PAUSE_NS};
use crate::drive::client::transitions::Phase;
use crate::drive::client::{AfterLoss, Client};

impl Client<'_> {
    /// A session is open; `pipelines` says whether it takes several requests at once.
    pub fn connected(&mut self, pipelines: bool, recorder: &mut ThreadRecorder) {
        let begins = self.state.transaction().is_some();
        self.state.connected(pipelines, recorder);
        self.state.think_time.reset_back_off();
        if begins {
            self.begin_script();
        }
    }

    /// The session could not be opened.
    pub fn not_connected(
        &mut self,
        now_ns: u64,
        error: &SystemError,
        recorder: &mut ThreadRecorder,
    ) -> AfterLoss {
        let state = &mut self.state;
        match state.phase {
            Phase::Reconnecting {
                since_ns, state, ..
            } => {
                recorder.counts.errors.count(error, None, now_ns);
                self.try_later(now_ns, since_ns, state, true, recorder)
            }
            // With a session for each transaction, the transaction fails; the next one connects again.
            _ => {
                let transaction_type = state.transaction_type();
                recorder
                    .counts
                    .errors
                    .count(error, transaction_type, now_ns);
                state.end_with_session(now_ns, recorder);
                state.start_reconnecting(now_ns);
                state.phase.was_refused();
                AfterLoss::Pause {
                    until_ns: now_ns.saturating_add(REFUSED_PAUSE_NS),
                }
            }
        }
    }

    /// The connection was lost or closed.
    pub fn lost(
        &mut self,
        now_ns: u64,
        error: &SystemError,
        recorder: &mut ThreadRecorder,
    ) -> AfterLoss {
        let state = &mut self.state;
        let end_state = state_after(error);
        let transaction_type = state.transaction_type();
        let of_session = state.of_session(error);
        recorder
            .counts
            .errors
            .count(&of_session, transaction_type, now_ns);
        state.end_with_session(now_ns, recorder);
        if state.plan.connects_each {
            return AfterLoss::GoOn;
        }
        if state.plan.reconnect_ns.is_some() {
            state.start_reconnecting(now_ns);
            return self.try_later(now_ns, now_ns, end_state, false, recorder);
        }
        state.end(now_ns, end_state, recorder);
        AfterLoss::Ended
    }

    /// The client ends for a reason that is not the system's.
    pub fn event_loop_failed(
        &mut self,
        now_ns: u64,
        error: &SystemError,
        recorder: &mut ThreadRecorder,
    ) {
        if matches!(self.state.phase, Phase::Ended) {
            return;
        }
        recorder.counts.errors.count(error, None, now_ns);
        self.state.end_with_session(now_ns, recorder);
        self.state.end(now_ns, EndState::Lost, recorder);
    }

    /// The run no longer waits for this client.
    pub fn abandoned(&mut self, now_ns: u64, recorder: &mut ThreadRecorder) {
        self.abandoned_in(None, now_ns, recorder);
    }

    /// The same, in a call that was cancelled, and in what it ended: a wait for a lock is named.
    pub fn abandoned_in(&mut self, said: Option<&str>, now_ns: u64, recorder: &mut ThreadRecorder) {
        let state = &mut self.state;
        if matches!(state.phase, Phase::Ended) {
            return;
        }
        if matches!(state.phase, Phase::Idle) && !state.is_interrupted() {
            // It was ready for what others would have queued, and has nothing that could be abandoned.
            state.end(now_ns, EndState::Done, recorder);
            return;
        }
        let end_state = if state.is_interrupted() {
            EndState::Interrupted
        } else {
            let limit_s = std::time::Duration::from_nanos(state.plan.drain_ns).as_secs_f64();
            let mut message = format!(
                "not ended {limit_s} s after the end of the measurement (--drain), and cancelled"
            );
            if let Some(said) = said.filter(|said| said.contains("lock")) {
                message = format!("{said}; {message}");
            }
            let error = SystemError::new(ErrorClass::Timeout, "", message);
            let error = state.of_abandoned(error);
            let transaction_type = state.transaction_type();
            recorder
                .counts
                .errors
                .count(&error, transaction_type, now_ns);
            EndState::TimedOut
        };
        state.abandon(now_ns, recorder);
        state.end(now_ns, end_state, recorder);
    }

    /// Waits before it reconnects, or ends when the reconnect time is over.
    fn try_later(
        &mut self,
        now_ns: u64,
        since_ns: u64,
        end_state: EndState,
        was_refused: bool,
        recorder: &mut ThreadRecorder,
    ) -> AfterLoss {
        let state = &mut self.state;
        let reconnect_ns = state.plan.reconnect_ns.unwrap_or(0);
        let until_ns = now_ns.saturating_add(state.think_time.back_off_ns());
        if until_ns > since_ns.saturating_add(reconnect_ns) {
            state.end(now_ns, end_state, recorder);
            return AfterLoss::Ended;
        }
        state.phase.reconnects(since_ns, end_state, was_refused);
        AfterLoss::Pause { until_ns }
    }
}

impl ClientState<'_> {
    /// A session is open, for the first time or again.
    pub fn connected(&mut self, pipelines: bool, recorder: &mut ThreadRecorder) {
        self.pipelines = pipelines;
        self.session = SessionTransaction::new();
        self.unprepared.clear();
        if self.is_reconnecting {
            self.is_reconnecting = false;
            self.is_unserved = true;
            self.shared.outages().returned(self.group.number);
        }
        match &mut self.phase {
            Phase::InTransaction(transaction) => transaction.goes_on(),
            Phase::Reconnecting { .. } => {
                recorder.counts.reconnects += 1;
                self.phase.is_over();
            }
            _ => {}
        }
    }

    /// The client has no session, and will try to reconnect. A pause goes on meanwhile: the next transaction
    /// begins when it would have begun with the session that was lost.
    pub fn start_reconnecting(&mut self, now_ns: u64) {
        if let Phase::Thinking { until_ns } = self.phase {
            self.pause_ends_ns = Some(until_ns);
        }
        if !self.is_reconnecting {
            self.is_reconnecting = true;
            self.shared.outages().lost(self.group.number, now_ns);
        }
    }
}

fn state_after(error: &SystemError) -> EndState {
    match error.class {
        ErrorClass::Timeout => EndState::TimedOut,
        _ => EndState::Lost,
    }
}
