//! Takes what a client waits for beside the answers of its session: a request to cancel its statement, a command of
//! its script. Each has a thread of its own, which wakes the event loop at its end: no other client waits for it.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Scope;
use std::time::Instant;

use assay_drivers::Cancel;
use assay_script::{ShellCommand, ShellResult};

use crate::drive::event_loop::cancel_statements::{CANCEL_TIMEOUT, request_cancels};
use crate::drive::pace::open_loop::ToWake;
use crate::drive::shared::Shared;
use crate::limits;
use crate::session::WireDeployment;

/// How many requests to cancel are under way at once: each is a connection, and the server may answer none of them.
const MOST_CANCELS: usize = 256;

/// What cancels the current statement of a session.
pub struct CancelRequest {
    pub endpoint: usize,
    /// The index of the endpoint's address that the session is connected to.
    pub address: usize,
    pub cancel: Cancel,
}

/// What has ended.
pub enum Ended {
    /// The request to cancel of this number was sent, or cannot be sent.
    Cancel(u64),
    Run(ShellResult),
}

enum Task {
    Cancel(u64, Instant, CancelRequest),
    Run(ShellCommand),
}

/// The threads that help one event loop.
pub struct HelperThreads<'a> {
    /// Starts the thread of a task, for the client at this place of the event loop.
    start: Box<dyn Fn(usize, Task) + 'a>,
    ended: Arc<Mutex<Vec<(usize, Ended)>>>,
    last_number: u64,
    cancelling: usize,
    to_cancel: VecDeque<(usize, Task)>,
}

impl<'a> HelperThreads<'a> {
    /// Those of the event loop of `thread`, which they wake.
    pub fn new<'shared: 'a>(
        scope: &'a Scope<'a, '_>,
        (shared, deployments): (&'shared Shared, &'shared [WireDeployment]),
        thread: usize,
    ) -> Self {
        let ended = Arc::new(Mutex::new(Vec::new()));
        let all_ended = Arc::clone(&ended);
        let start = move |client: usize, task: Task| {
            let all_ended = Arc::clone(&all_ended);
            let ends = move |ended: Ended| {
                let mut all = all_ended.lock().unwrap_or_else(PoisonError::into_inner);
                all.push((client, ended));
                drop(all);
                shared.wake(ToWake::One(thread));
            };
            let task = Arc::new(task);
            let (given, given_ends) = (Arc::clone(&task), ends.clone());
            let work = move || given_ends(given.perform(shared, deployments));
            if let Err(error) = limits::start(scope, "helper", work) {
                ends(task.not_started(&error));
            }
        };
        Self {
            start: Box::new(start),
            ended,
            last_number: 0,
            cancelling: 0,
            to_cancel: VecDeque::new(),
        }
    }

    /// Runs a command for the client at this place.
    pub fn run(&mut self, client: usize, command: ShellCommand) {
        (self.start)(client, Task::Run(command));
    }

    /// Has a statement of the client at this place cancelled; returns the number of the request.
    pub fn cancel(&mut self, client: usize, request: CancelRequest) -> u64 {
        self.last_number += 1;
        let deadline = Instant::now() + CANCEL_TIMEOUT;
        let task = Task::Cancel(self.last_number, deadline, request);
        self.to_cancel.push_back((client, task));
        self.start_cancels();
        self.last_number
    }

    /// What has ended, each with the place of its client.
    pub fn take_ended(&mut self) -> Vec<(usize, Ended)> {
        let mut all = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let ended = std::mem::take(&mut *all);
        drop(all);
        let is_cancel = |(_, ended): &&(usize, Ended)| matches!(ended, Ended::Cancel(_));
        self.cancelling -= ended.iter().filter(is_cancel).count();
        self.start_cancels();
        ended
    }

    fn start_cancels(&mut self) {
        while self.cancelling < MOST_CANCELS
            && let Some((client, task)) = self.to_cancel.pop_front()
        {
            self.cancelling += 1;
            (self.start)(client, task);
        }
    }
}

impl Task {
    fn perform(&self, shared: &Shared, deployments: &[WireDeployment]) -> Ended {
        match self {
            Self::Run(command) => Ended::Run(command.run(&shared.plan.program.children)),
            Self::Cancel(number, deadline, request) => {
                let cancels = [(request.address, request.cancel.clone())];
                request_cancels(&deployments[request.endpoint], &cancels, *deadline);
                Ended::Cancel(*number)
            }
        }
    }

    fn not_started(&self, error: &io::Error) -> Ended {
        match self {
            Self::Run(command) => Ended::Run(command.not_started(error)),
            // The statement is not cancelled: its session is lost in the end.
            Self::Cancel(number, ..) => Ended::Cancel(*number),
        }
    }
}
