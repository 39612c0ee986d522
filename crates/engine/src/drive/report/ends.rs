//! Takes the ends of all clients; returns how the run ended.

use crate::account::{End, State};
use crate::drive::plan::Plan;
use crate::observation::{ClientEnd, ClientState, EndedBy};

pub fn client_end(end: &End, plan: &Plan, began_ns: u64) -> ClientEnd {
    ClientEnd {
        client: end.client,
        group: plan.group_of(end.client).name.clone(),
        elapsed_ns: end.at_ns.saturating_sub(began_ns),
        passes: end.passes,
        transactions: end.transactions,
        state: match end.state {
            State::Done => ClientState::Done,
            // The connection is gone in both cases; the errors show which side closed it.
            State::Lost | State::TimedOut => ClientState::Lost,
            State::Failed => ClientState::Failed,
            State::Refused => ClientState::Refused,
            State::Interrupted => ClientState::Interrupted,
        },
    }
}

pub fn ended_by(ends: &[End], was_interrupted: bool) -> EndedBy {
    let all = |state| ends.iter().all(|end| end.state == state);
    if ends.iter().any(|end| end.state == State::Refused) {
        EndedBy::Refused
    } else if was_interrupted {
        EndedBy::Interrupted
    } else if all(State::Lost) {
        EndedBy::Lost
    } else if ends
        .iter()
        .all(|end| matches!(end.state, State::Lost | State::TimedOut | State::Failed))
    {
        EndedBy::AllClientsFailed
    } else {
        EndedBy::Stop
    }
}
