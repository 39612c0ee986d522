//! Takes what was recorded by transaction type; returns the reports of an observation, for one group of
//! clients or for all.

use crate::account::{Aggregator, Durations, ErrorLog};
use crate::document::ArrivalDocument;
use crate::drive::plan::group::Group;
use crate::drive::plan::{Endpoint, Plan};
use crate::observation::{
    AllOk, Arrival, ArrivalKind, EndpointReport, ErrorReport, FirstExecution, GroupReport, Latency,
    Outcome, Outcomes, Passes, TransactionOutcomes, TransactionReport, WarmUpOutcomes,
};

/// The recorded data, with the names for the report.
pub struct Recorded<'a> {
    pub plan: &'a Plan,
    pub aggregator: &'a Aggregator,
    /// By transaction type, what the aggregators do not count: `scheduled` and `attempts`.
    pub begun: &'a [Outcomes],
    pub errors: &'a ErrorLog,
    /// On the run's clock.
    pub began_ns: u64,
}

/// Transaction types that are reported together.
struct Line<'a> {
    name: &'a str,
    types: Vec<u32>,
}

/// The reports of each transaction type, and of all of them together.
pub struct TransactionLines {
    pub outcomes: Outcomes,
    pub by_transaction: Vec<TransactionOutcomes>,
    pub transactions: Vec<TransactionReport>,
    pub all_ok: AllOk,
}

impl Recorded<'_> {
    /// A report for each script, over all groups.
    pub fn of_all_groups(&self) -> TransactionLines {
        let scripts = (0u32..).zip(&self.plan.program.scripts);
        let lines = scripts.map(|(number, script)| Line {
            name: &script.name,
            types: self.plan.types_of(number).collect(),
        });
        let lines = lines.filter(|line| !line.types.is_empty());
        self.lines(lines.collect(), self.plan.has_open_loop())
    }

    /// What ended of each script that began in the warm-up.
    pub fn of_warm_up(&self, by_type: &[Outcomes]) -> Vec<WarmUpOutcomes> {
        let scripts = (0u32..).zip(&self.plan.program.scripts);
        let named = scripts.map(|(number, script)| {
            let types = self.plan.types_of(number);
            types.fold(
                WarmUpOutcomes {
                    name: script.name.clone(),
                    ok: 0,
                    unknown: 0,
                },
                |sum, kind| WarmUpOutcomes {
                    ok: sum.ok + by_type[kind as usize].ok,
                    unknown: sum.unknown + by_type[kind as usize].unknown,
                    ..sum
                },
            )
        });
        named.filter(|one| one.ok + one.unknown > 0).collect()
    }

    /// The report of one group, whose last client ended `elapsed_ns` after the measurement began.
    pub fn of_group(&self, group: usize, elapsed_ns: u64) -> GroupReport {
        let plan = self.plan;
        let layout = &plan.groups[group];
        let types = layout.first_type..layout.first_type + layout.type_count();
        let lines = types.clone().map(|number| Line {
            name: plan.type_name(number),
            types: plan.at_all_endpoints(number).collect(),
        });
        let TransactionLines {
            outcomes,
            by_transaction,
            transactions,
            all_ok,
        } = self.lines(lines.collect(), layout.is_open_loop());
        let passes = self.aggregator.passes(group);
        GroupReport {
            name: layout.name.clone(),
            clients: layout.clients,
            arrival: arrival(&[&layout.work.arrival]),
            elapsed_ns,
            throughput_per_s: per_second(outcomes.ok, elapsed_ns),
            outcomes,
            outcomes_by_transaction: by_transaction,
            transactions,
            all_ok,
            longest_queue: None,
            passes: layout.has_passes().then(|| Passes {
                count: passes.count(),
                latency: Latency::from(passes),
            }),
            errors: self
                .errors(|kind| kind.is_some_and(|kind| types.contains(&plan.at_first(kind)))),
            endpoints: self.of_endpoints(layout, elapsed_ns),
        }
    }

    /// The reports of the endpoints that a group uses; empty where there is one endpoint.
    fn of_endpoints(&self, group: &Group, elapsed_ns: u64) -> Vec<EndpointReport> {
        if self.plan.endpoints.len() < 2 {
            return Vec::new();
        }
        let each = group.endpoints().into_iter();
        each.map(|endpoint| self.of_endpoint(group, endpoint, elapsed_ns))
            .collect()
    }

    fn of_endpoint(&self, group: &Group, endpoint: u32, elapsed_ns: u64) -> EndpointReport {
        let first = endpoint * self.plan.types_at_each() + group.first_type;
        let types: Vec<u32> = (first..first + group.type_count()).collect();
        let outcomes = self.outcomes(&types);
        let mut times = Durations::new(group.is_open_loop());
        times.merge(&self.durations(&types, Outcome::Ok));
        if group.is_open_loop() {
            // As in `unanswered`; an arrival that was skipped had no client yet, and so no endpoint.
            times.add_unanswered(outcomes.unknown);
        }
        let Endpoint { name, is_replica } = &self.plan.endpoints[endpoint as usize];
        EndpointReport {
            name: name.clone(),
            is_replica: *is_replica,
            clients: group.clients_at(endpoint),
            throughput_per_s: per_second(outcomes.ok, elapsed_ns),
            ok: outcomes.ok,
            aborted: outcomes.aborted,
            failed: outcomes.failed,
            unknown: outcomes.unknown,
            late: outcomes.late,
            retries: outcomes.retries,
            all_ok: AllOk::from(&times),
            errors: self.errors(|kind| kind.is_some_and(|kind| types.contains(&kind))),
        }
    }

    /// The errors of the selected transaction types; `None` is the type of errors while connecting.
    pub fn errors(&self, is_selected: impl Fn(Option<u32>) -> bool) -> Vec<ErrorReport> {
        let name_of = |kind| self.plan.type_name(kind).to_owned();
        self.errors.report(name_of, is_selected, self.began_ns)
    }

    /// The durations of all transactions of one type, with any outcome.
    pub fn durations_of_type(&self, transaction_type: u32) -> Durations {
        let mut all = Durations::default();
        for outcome in Outcome::ALL {
            if let Some(times) = self
                .aggregator
                .durations(transaction_type as usize, outcome)
            {
                all.merge(times);
            }
        }
        all
    }

    fn lines(&self, lines: Vec<Line<'_>>, has_open_loop: bool) -> TransactionLines {
        let mut all_ok = Durations::new(has_open_loop);
        let mut found = TransactionLines {
            outcomes: Outcomes::default(),
            by_transaction: Vec::new(),
            transactions: Vec::new(),
            all_ok: AllOk::from(&all_ok),
        };
        for Line { name, types } in lines {
            let outcomes = self.outcomes(&types);
            outcomes.assert_identities();
            found.outcomes.add(&outcomes);
            let unanswered = self.unanswered(&types);
            all_ok.add_unanswered(unanswered);
            for outcome in Outcome::ALL {
                let is_ok = outcome == Outcome::Ok;
                let mut times = self.durations(&types, outcome);
                if times.count() == 0 {
                    continue;
                }
                if is_ok {
                    all_ok.merge(&times);
                    times.add_unanswered(unanswered);
                }
                found.transactions.push(TransactionReport {
                    name: name.to_owned(),
                    outcome,
                    count: times.count(),
                    late: if is_ok { outcomes.late } else { 0 },
                    latency: Latency::from(times.latency()),
                    service_time: Latency::from(times.service()),
                    schedule_lag: times.lag().map(Latency::from),
                    first: times.first().map(|first| FirstExecution {
                        began_ns: first.began_ns.saturating_sub(self.began_ns),
                        latency_ns: first.latency_ns,
                    }),
                });
            }
            let name = name.to_owned();
            found
                .by_transaction
                .push(TransactionOutcomes { name, outcomes });
        }
        found.all_ok = AllOk::from(&all_ok);
        found
    }

    fn outcomes(&self, types: &[u32]) -> Outcomes {
        let mut sum = Outcomes::default();
        for &transaction_type in types {
            sum.add(&self.aggregator.outcomes_of(transaction_type as usize));
            sum.add(&self.begun[transaction_type as usize]);
        }
        sum
    }

    /// Transactions of open loops that were due and got no answer. Those of a closed loop are due only when
    /// their client is free.
    fn unanswered(&self, types: &[u32]) -> u64 {
        let of_open_loops = types
            .iter()
            .copied()
            .filter(|&kind| self.plan.is_open(kind));
        let outcomes = of_open_loops.map(|kind| self.aggregator.outcomes_of(kind as usize));
        outcomes
            .map(|outcomes| outcomes.skipped + outcomes.unknown)
            .sum()
    }

    fn durations(&self, types: &[u32], outcome: Outcome) -> Durations {
        let mut sum = Durations::default();
        for &transaction_type in types {
            if let Some(times) = self
                .aggregator
                .durations(transaction_type as usize, outcome)
            {
                sum.merge(times);
            }
        }
        sum
    }
}

impl From<&Durations> for AllOk {
    fn from(times: &Durations) -> Self {
        Self {
            count: times.count(),
            latency: Latency::from(times.latency()),
            service_time: Latency::from(times.service()),
            schedule_lag: times.lag().map(Latency::from),
        }
    }
}

/// How transactions arrived in these groups: `mixed` if in different ways.
pub fn arrival(of_groups: &[&ArrivalDocument]) -> Arrival {
    let kind = |arrival: &ArrivalDocument| match arrival {
        ArrivalDocument::Closed => ArrivalKind::Closed,
        ArrivalDocument::Deferred => ArrivalKind::Deferred,
        ArrivalDocument::Constant { .. } => ArrivalKind::Constant,
        ArrivalDocument::Poisson { .. } => ArrivalKind::Poisson,
    };
    let first = of_groups
        .first()
        .map_or(ArrivalKind::Closed, |first| kind(first));
    let is_same = of_groups.iter().all(|arrival| kind(arrival) == first);
    Arrival {
        kind: if is_same { first } else { ArrivalKind::Mixed },
        offered_rate_per_s: (of_groups.iter())
            .filter_map(|arrival| arrival.offered_rate_per_s())
            .reduce(|sum, rate| sum + rate),
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a rate needs no more than 53 bits"
)]
fn per_second(count: u64, elapsed_ns: u64) -> f64 {
    if elapsed_ns == 0 {
        0.0
    } else {
        count as f64 / (elapsed_ns as f64 / 1e9)
    }
}
