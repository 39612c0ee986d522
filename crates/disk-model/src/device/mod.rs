//! Takes requests with their data and the real time; answers each when the modelled disk would.
//!
//! The real work of a request (a read of the image, a copy of the data) is done when it arrives; the model
//! then says when it ends, counted from its arrival, and the rest of that time is waited. What is written is
//! in memory until the model has it on its medium: only then it is written to the image, which so holds
//! exactly what a power cut leaves.

mod pacer;
mod state;

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use serde::Serialize;

pub use state::{Answer, Errno};
use state::{Ended, Pending, Settled, State};

use crate::account::{Recorder, Row};
use crate::calibration::PathCosts;
use crate::clock::monotonic_ns;
use crate::counters::{Counters, Counts};
use crate::error::DiskError;
use crate::faults::{Fault, Rule};
use crate::image::Image;
use crate::model::{Operation, Parameters};
use crate::volatile::{Keep, Lost, PowerCut, Torn, survivors};

/// A write that a power cut could lose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VolatileWrite {
    /// Its number, counted from the start.
    pub write: u64,
    /// First byte.
    pub offset: u64,
    /// Bytes that no later write has replaced.
    pub bytes: u64,
}

/// A modelled disk in real time.
pub struct Device {
    parameters: Parameters,
    image: Image,
    state: Mutex<State>,
    /// Something earlier than the pacer waits for, or the end.
    sooner: Condvar,
    /// A batch of data is in the image.
    persisted: Condvar,
    counters: Counters,
    recorder: Recorder,
}

impl Device {
    /// A disk at rest over an image.
    ///
    /// # Errors
    ///
    /// Parameters that contradict the size of the image.
    pub fn new(
        parameters: Parameters,
        image: Image,
        recorder: Recorder,
        path_costs: PathCosts,
    ) -> Result<Arc<Self>, DiskError> {
        let disk = parameters.build(image.size_bytes)?;
        Ok(Arc::new(Self {
            parameters,
            image,
            state: Mutex::new(State::new(disk, path_costs)),
            sooner: Condvar::new(),
            persisted: Condvar::new(),
            counters: Counters::default(),
            recorder,
        }))
    }

    /// Its fixed size.
    pub fn size_bytes(&self) -> u64 {
        self.image.size_bytes
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A thread that panicked is a bug; the state is still the best there is for ending in good order.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads; beyond the end there are no bytes.
    pub fn read(&self, offset: u64, length: u32, answer: Answer) {
        let arrival_ns = monotonic_ns();
        let left = self.size_bytes().saturating_sub(offset);
        let length = u32::try_from(left.min(u64::from(length))).unwrap_or(length);
        let mut pending = Pending {
            operation: Operation::Read,
            offset,
            length,
            arrival_ns,
            counted_ns: arrival_ns,
            under_way: 0,
            data: vec![0; length as usize],
            answer,
        };
        if length == 0 {
            return (pending.answer)(Ok(&[]));
        }
        let mut state = self.lock();
        let Some(answer) = self.refuse(&mut state, pending) else {
            return;
        };
        pending = answer;
        let range = offset..offset + u64::from(length);
        let power_cuts = state.power_cuts;
        let newer = state.volatile.within(&range);
        drop(state);
        let read = self.image.read(offset, &mut pending.data);
        for piece in newer {
            let at = usize::try_from(piece.offset - offset).unwrap_or(0);
            pending.data[at..at + piece.bytes().len()].copy_from_slice(piece.bytes());
        }
        let mut state = self.lock();
        if read.is_err() || state.power_cuts != power_cuts {
            drop(state);
            return self.fail(pending, Errno::IO);
        }
        let settled = state.submit(pending, monotonic_ns());
        self.submitted(state, settled);
    }

    /// Writes, wholly or not at all.
    pub fn write(&self, offset: u64, data: &[u8], answer: Answer) {
        let arrival_ns = monotonic_ns();
        let length = u32::try_from(data.len()).unwrap_or(u32::MAX);
        let pending = Pending {
            operation: Operation::Write,
            offset,
            length,
            arrival_ns,
            counted_ns: arrival_ns,
            under_way: 0,
            data: Vec::new(),
            answer,
        };
        if u64::from(length) > self.size_bytes().saturating_sub(offset) {
            return self.fail(pending, Errno::FULL);
        }
        if length == 0 {
            return (pending.answer)(Ok(&[]));
        }
        let data = Arc::from(data);
        let mut state = self.lock();
        let Some(pending) = self.refuse(&mut state, pending) else {
            return;
        };
        let write = state.next_write;
        state.next_write += 1;
        state.volatile.insert(offset, data, write);
        let settled = state.submit(pending, monotonic_ns());
        self.submitted(state, settled);
    }

    /// Makes all writes that have ended durable.
    pub fn flush(&self, answer: Answer) {
        let arrival_ns = monotonic_ns();
        let pending = Pending {
            operation: Operation::Flush,
            offset: 0,
            length: 0,
            arrival_ns,
            counted_ns: arrival_ns,
            under_way: 0,
            data: Vec::new(),
            answer,
        };
        let mut state = self.lock();
        let Some(pending) = self.refuse(&mut state, pending) else {
            return;
        };
        let settled = state.submit(pending, monotonic_ns());
        self.submitted(state, settled);
    }

    /// Makes bytes zero, at once and durably: a discard costs the modelled disk no time.
    ///
    /// # Errors
    ///
    /// No power, or the image cannot be written.
    pub fn zero(&self, offset: u64, length: u64) -> Result<(), Errno> {
        let end = offset.saturating_add(length).min(self.size_bytes());
        if offset >= end {
            return Ok(());
        }
        let mut state = self.wait_until_persisted(self.lock(), u64::MAX);
        if !state.is_powered {
            return Err(Errno::IO);
        }
        state.discard(&(offset..end));
        self.counters.discarded();
        let zeroed = self.image.zero(offset, end - offset);
        zeroed.map_err(|_| Errno::IO)
    }

    /// Gives the request back, or answers it with the error that power or faults have for it.
    fn refuse(&self, state: &mut State, pending: Pending) -> Option<Pending> {
        let errno = if state.is_powered {
            let length = u64::from(pending.length);
            match state
                .faults
                .check(pending.operation, pending.offset, length)
            {
                None => return Some(pending),
                Some(Fault::Error) => Errno::IO,
                Some(Fault::Full) => Errno::FULL,
            }
        } else {
            Errno::IO
        };
        self.fail(pending, errno);
        None
    }

    fn fail(&self, pending: Pending, errno: Errno) {
        let now_ns = monotonic_ns();
        self.answer(pending, now_ns, now_ns, Some(errno));
    }

    /// Answers, then accounts for it: the account is no part of what the client waits for.
    fn answer(&self, pending: Pending, start_ns: u64, end_ns: u64, errno: Option<Errno>) {
        (pending.answer)(errno.map_or(Ok(&pending.data), Err));
        let row = Row {
            operation: pending.operation,
            offset: pending.offset,
            length: pending.length,
            arrival_ns: pending.arrival_ns,
            start_ns,
            modelled_end_ns: end_ns,
            end_ns: monotonic_ns(),
            errno: errno.map_or(0, |errno| u16::try_from(errno.0).unwrap_or(u16::MAX)),
        };
        self.counters
            .ended(&row, pending.counted_ns, pending.under_way);
        self.recorder.record(row);
    }

    /// After a request was handed to the model: wakes the pacer if it sleeps too long, and does what is due.
    fn submitted(&self, state: MutexGuard<'_, State>, settled: Settled) {
        let next_ns = state.disk.next_event_ns();
        let is_sooner = next_ns.is_some_and(|next_ns| next_ns < state.pacer_wakes_ns);
        self.counters
            .now(state.pending.len(), state.disk.volatile_bytes());
        drop(state);
        if is_sooner {
            self.sooner.notify_one();
        }
        if !settled.is_empty() {
            self.finish(settled);
        }
    }

    /// Writes what is durable to the image, then answers.
    fn finish(&self, settled: Settled) {
        let mut failure = None;
        if !settled.durable.is_empty() {
            if settled.after_batch > 0 {
                // Another thread has older data of the same bytes on its way to the image.
                drop(self.wait_until_persisted(self.lock(), settled.after_batch));
            }
            for piece in &settled.durable {
                if let Err(error) = self.image.write(piece.offset, piece.bytes()) {
                    failure = Some(error);
                }
            }
            let mut state = self.lock();
            state.volatile.forget(&settled.durable);
            state.persisting.remove(&settled.batch);
            drop(state);
            self.persisted.notify_all();
        }
        if let Some(error) = &failure {
            eprintln!("error: the image of the modelled disk cannot be written: {error}");
        }
        for Ended {
            pending,
            start_ns,
            end_ns,
        } in settled.ended
        {
            let is_read = pending.operation == Operation::Read;
            if pending.operation == Operation::Flush {
                // Data of earlier batches may still be on its way to the image in another thread.
                drop(self.wait_until_persisted(self.lock(), settled.batch));
            }
            let errno = (failure.is_some() && !is_read).then_some(Errno::IO);
            self.answer(pending, start_ns, end_ns, errno);
        }
    }

    fn wait_until_persisted<'a>(
        &self,
        mut state: MutexGuard<'a, State>,
        before_batch: u64,
    ) -> MutexGuard<'a, State> {
        while state
            .persisting
            .first_key_value()
            .is_some_and(|(batch, _)| *batch < before_batch)
        {
            state = self
                .persisted
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        state
    }

    /// Cuts the power: pending requests fail, as do all others until `power_on`; of what is not durable only
    /// what `cut` keeps is left.
    ///
    /// # Errors
    ///
    /// The power is off already, or the image cannot be written.
    pub fn power_cut(&self, cut: &PowerCut) -> Result<Lost, DiskError> {
        let mut state = self.wait_until_persisted(self.lock(), u64::MAX);
        if !state.is_powered {
            return Err(DiskError::hinted(
                "the power is off already",
                "switch it on with power-on",
            ));
        }
        let disk = self.parameters.build(self.size_bytes())?;
        state.is_powered = false;
        state.power_cuts += 1;
        let pending = state.reset(disk);
        let writes = state.volatile.take_writes();
        self.counters.now(0, 0);
        let (stay, lost) = survivors(writes, cut, self.parameters.sector_bytes);
        // Under the lock: the power cannot come back before the image is what the cut left.
        let written = stay
            .iter()
            .try_for_each(|piece| self.image.write(piece.offset, piece.bytes()));
        drop(state);
        for request in pending {
            self.fail(request, Errno::IO);
        }
        written.map_err(DiskError::machine(
            "cannot write the image of",
            "the modelled disk",
        ))?;
        Ok(lost)
    }

    /// Switches the power on again.
    ///
    /// # Errors
    ///
    /// It is on.
    pub fn power_on(&self) -> Result<(), DiskError> {
        let mut state = self.lock();
        if state.is_powered {
            return Err(DiskError::argument("the power is on already"));
        }
        state.is_powered = true;
        Ok(())
    }

    /// Whether requests are served at all.
    pub fn is_powered(&self) -> bool {
        self.lock().is_powered
    }

    /// Whether a write has found no room since `set_full`.
    pub fn has_been_full(&self) -> bool {
        self.lock().faults.has_been_full
    }

    /// Replaces the rules by which requests fail.
    ///
    /// # Errors
    ///
    /// A rule that is impossible; then the rules stay as they were.
    pub fn set_errors(&self, rules: Vec<Rule>) -> Result<(), DiskError> {
        self.lock().faults.set_rules(rules)
    }

    /// Whether requests take their modelled time from now on. Without it, a file system is made or taken off
    /// in the time of this machine; afterwards the disk is one at rest.
    ///
    /// # Errors
    ///
    /// None: a disk that was built once can be built again.
    pub fn set_paced(&self, is_paced: bool) -> Result<(), DiskError> {
        let mut state = self.lock();
        if state.is_paced == is_paced {
            return Ok(());
        }
        if is_paced {
            // Nothing is under way in a disk without delays, but its clock is ahead of this machine's.
            state.disk = self.parameters.build(self.size_bytes())?;
        }
        state.is_paced = is_paced;
        let settled = state.advance(monotonic_ns());
        drop(state);
        if !settled.is_empty() {
            self.finish(settled);
        }
        Ok(())
    }

    /// Replaces what the way to this process and back costs.
    pub fn set_path_costs(&self, path_costs: PathCosts) {
        self.lock().path_costs = path_costs;
    }

    /// After so many more written bytes the disk is full; none lifts that.
    pub fn set_full(&self, after_bytes: Option<u64>) {
        self.lock().faults.set_full(after_bytes);
    }

    /// Sums since the start.
    pub fn counters(&self) -> Counts {
        self.counters.read(self.recorder.lost())
    }

    /// Returns when the account has every request that was answered before.
    pub fn wait_until_accounted(&self) {
        self.recorder.wait_until_written();
    }

    /// What a power cut could lose now.
    pub fn volatile_writes(&self) -> Vec<VolatileWrite> {
        let writes = self.lock().volatile.writes();
        let found = writes.into_iter().map(|(write, pieces)| VolatileWrite {
            write,
            offset: pieces.first().map_or(0, |piece| piece.offset),
            bytes: pieces.iter().map(|piece| piece.bytes().len() as u64).sum(),
        });
        found.collect()
    }

    /// Ends in good order: what the cache holds is written to the image, and the pacer returns.
    ///
    /// # Errors
    ///
    /// The image cannot be written.
    pub fn stop(&self) -> Result<(), DiskError> {
        let everything = PowerCut {
            keep: Keep::All,
            torn: Torn::No,
            seed: 0,
        };
        let is_powered = self.lock().is_powered;
        let kept = if is_powered {
            self.power_cut(&everything).map(|_| ())
        } else {
            Ok(())
        };
        self.lock().is_stopped = true;
        self.sooner.notify_one();
        kept
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::state::{Pending, Settled};
    use super::{Device, Operation, Parameters, PathCosts};
    use crate::account::Recorder;
    use crate::clock::monotonic_ns;
    use crate::image::Image;

    /// A write up to where its thread would write the image.
    fn settled(device: &Device, offset: u64, data: &[u8]) -> Settled {
        let now_ns = monotonic_ns();
        let mut state = device.lock();
        let write = state.next_write;
        state.next_write += 1;
        state.volatile.insert(offset, Arc::from(data), write);
        let pending = Pending {
            operation: Operation::Write,
            offset,
            length: u32::try_from(data.len()).expect("small"),
            arrival_ns: now_ns,
            counted_ns: now_ns,
            under_way: 0,
            data: Vec::new(),
            answer: Box::new(|_| ()),
        };
        state.submit(pending, now_ns)
    }

    #[test]
    fn a_thread_that_stops_before_it_writes_the_image_does_not_undo_a_later_write() {
        let parameters = Parameters::parse("profile=none").expect("a profile");
        let image = Image::in_memory(1 << 20).expect("memory");
        let costs = PathCosts::default();
        let device = Device::new(parameters, image, Recorder::none(), costs).expect("a device");
        let older = settled(&device, 0, &[1; 4096]);
        let newer = settled(&device, 2048, &[2; 4096]);
        let apart = settled(&device, 65_536, &[3; 512]);
        device.finish(apart); // It does not wait: it shares no byte with the others.
        let (sender, finished) = channel();
        let other = Arc::clone(&device);
        let thread = std::thread::spawn(move || {
            other.finish(newer);
            sender.send(()).expect("the test waits");
        });
        // A later write that did not wait would be in the image by now.
        let early = finished.recv_timeout(Duration::from_millis(300));
        device.finish(older);
        thread.join().expect("the thread ends");
        let mut found = [0; 6144];
        device.image.read(0, &mut found).expect("an image");
        assert!(
            found == *[[1; 2048], [2; 2048], [2; 2048]].concat(),
            "old bytes over new ones"
        );
        assert!(early.is_err(), "the later write waits for the earlier one");
        assert!(device.volatile_writes().is_empty());
    }
}
