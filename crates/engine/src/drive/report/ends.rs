//! Takes the ends of all clients; returns how the run ended.

use crate::account::{End, EndState};
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
            EndState::Done => ClientState::Done,
            // The connection is gone in both cases; the errors show which side closed it.
            EndState::Lost | EndState::TimedOut => ClientState::Lost,
            EndState::Failed => ClientState::Failed,
            EndState::Refused => ClientState::Refused,
            EndState::Interrupted => ClientState::Interrupted,
        },
    }
}

pub fn ended_by(ends: &[End], was_interrupted: bool) -> EndedBy {
    let all = |state| ends.iter().all(|end| end.state == state);
    if ends.iter().any(|end| end.state == EndState::Refused) {
        EndedBy::Refused
    } else if was_interrupted {
        EndedBy::Interrupted
    } else if all(EndState::Lost) {
        EndedBy::Lost
    } else if ends.iter().all(|end| {
        matches!(
            end.state,
            EndState::Lost | EndState::TimedOut | EndState::Failed
        )
    }) {
        EndedBy::AllClientsFailed
    } else {
        EndedBy::Stop
    }
}
