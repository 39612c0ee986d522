//! Takes the null system's options from the deployment document; returns them parsed.
//!
//! | option | form | what it does |
//! |---|---|---|
//! | `delay` | `constant:1ms`, `uniform:1ms..3ms`, `exponential:1ms`, `lognormal:1ms,0.5` | duration of each statement: fixed; a range; by its mean; by its median and the standard deviation of its logarithm |
//! | `stall` | `1.4s@5s`, `1.4s@#1000`, `1.4s@0.01` | the deployment stalls for 1.4 s from second 5 on; the session's 1000th statement, or each statement with probability 0.01, takes 1.4 s longer |
//! | `fail` | `deadlock@#10`, `timeout@0.01`, `data@5s` | the session's 10th statement, each statement with probability 0.01, or the first statement after 5 s gets an error of this class |
//! | `unknown` | `timeout@#10`, `timeout@0.01` | the same, and it is unknown whether the statement took effect |
//! | `lose` | `#100`, `0.001`, `5s` | the session is lost at that statement |
//! | `rows` | `3` | number of rows that each SELECT returns |
//! | `refuse_after` | `100` | number of open sessions beyond which more are refused |
//! | `seed` | `1` | seed of all random numbers |
//! | `deployment` | any text | sessions with the same options, this one included, share a deployment |
//!
//! `stall`, `fail` and `unknown` take several values, separated by commas. Times count from the opening of the
//! oldest session that is still open. DDL statements take no time, never fail and are not counted, so that
//! the schema can always be created. ROLLBACK never fails either.

use std::collections::BTreeMap;
use std::time::Duration;

use assay_values::{Distribution, Random, duration};

use crate::{Certainty, ErrorClass, Result, SystemError};

#[derive(Clone, Debug)]
pub(super) struct Options {
    pub delay: Distribution,
    pub stalls: Vec<Stall>,
    pub failures: Vec<Failure>,
    pub lose: Option<Trigger>,
    pub rows: u64,
    pub refuse_after: Option<u64>,
    pub seed: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Stall {
    pub duration: Duration,
    pub trigger: Trigger,
}

#[derive(Clone, Debug)]
pub(super) struct Failure {
    pub class: ErrorClass,
    pub trigger: Trigger,
    pub certainty: Certainty,
}

impl Stall {
    /// The delay of a statement that begins at this age of the deployment, including this stall.
    pub(super) fn lengthen(
        &mut self,
        pause: Duration,
        statement: u64,
        age: Duration,
        random: &mut Random,
    ) -> Duration {
        if let Trigger::At(from) = self.trigger {
            // The whole deployment stalls: statements that run or arrive meanwhile wait.
            let until = from + self.duration;
            let meets = age < until && age + pause >= from;
            return if meets { pause.max(until - age) } else { pause };
        }
        let fires = self.trigger.fires(statement, age, random);
        if fires { pause + self.duration } else { pause }
    }
}

impl Options {
    /// Whether every statement succeeds without delay.
    pub(super) fn is_plain(&self) -> bool {
        self.delay == Distribution::ZERO
            && self.stalls.is_empty()
            && self.failures.is_empty()
            && self.lose.is_none()
    }

    /// # Errors
    /// Where an option is unknown or its value invalid.
    pub(super) fn parse(given: &BTreeMap<String, String>) -> Result<Self> {
        let mut options = Self {
            delay: Distribution::ZERO,
            stalls: Vec::new(),
            failures: Vec::new(),
            lose: None,
            rows: 0,
            refuse_after: None,
            seed: 1,
        };
        for (key, value) in given {
            let wrong = |expected: &str| {
                let message = format!("option {key}: expected {expected}, found {value:?}");
                SystemError::new(ErrorClass::Other, "", message)
            };
            let number = || value.parse().map_err(|_| wrong("a number"));
            match key.as_str() {
                "delay" => {
                    options.delay = Distribution::parse(value).ok_or_else(|| {
                        wrong(&format!("a distribution such as {}", Distribution::FORMS))
                    })?;
                }
                "stall" => {
                    options.stalls = list(value, stall).ok_or_else(|| {
                        wrong("a duration and when, such as 1.4s@5s, 1.4s@#1000 or 1.4s@0.01")
                    })?;
                }
                "fail" => {
                    options.failures.extend(failures(value, Certainty::Undone).ok_or_else(|| {
                        wrong("an error class and when, such as deadlock@#10, timeout@0.01 or data@5s")
                    })?);
                }
                "unknown" => {
                    options
                        .failures
                        .extend(failures(value, Certainty::Unknown).ok_or_else(|| {
                            wrong("an error class and when, such as timeout@#10 or timeout@0.01")
                        })?);
                }
                "lose" => {
                    let lose = Trigger::parse(value);
                    options.lose =
                        Some(lose.ok_or_else(|| wrong("when, such as #100, 0.001 or 5s"))?);
                }
                "rows" => options.rows = number()?,
                "refuse_after" => options.refuse_after = Some(number()?),
                "seed" => options.seed = number()?,
                "deployment" => {}
                _ => {
                    let message = format!(
                        "no option {key:?}; there are delay, stall, fail, unknown, lose, rows, refuse_after, seed, deployment"
                    );
                    return Err(SystemError::new(ErrorClass::Other, "", message));
                }
            }
        }
        Ok(options)
    }
}

fn list<T>(text: &str, parse: fn(&str) -> Option<T>) -> Option<Vec<T>> {
    text.split(',').map(|part| parse(part.trim())).collect()
}

fn stall(text: &str) -> Option<Stall> {
    let (lasting, when) = text.split_once('@')?;
    Some(Stall {
        duration: duration(lasting)?,
        trigger: Trigger::parse(when)?,
    })
}

fn failures(text: &str, certainty: Certainty) -> Option<Vec<Failure>> {
    let failure = |text: &str| {
        let (class, when) = text.trim().split_once('@')?;
        let class = ErrorClass::from_word(&class.replace(['-', '_'], " "))?;
        Some(Failure {
            class,
            trigger: Trigger::parse(when)?,
            certainty,
        })
    };
    text.split(',').map(failure).collect()
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Trigger {
    /// The session's statement of this number, counted from 1.
    Statement(u64),
    /// The first statement at this age of the deployment or later; once per session.
    At(Duration),
    /// An `At` that has fired in this session.
    Past,
    /// Each statement with this probability.
    Share(f64),
}

impl Trigger {
    /// `#10`, `5s` or `0.01`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if let Some(number) = text.strip_prefix('#') {
            return number
                .parse()
                .ok()
                .filter(|&number| number > 0)
                .map(Self::Statement);
        }
        match text.parse() {
            Ok(share) => (0.0..=1.0).contains(&share).then_some(Self::Share(share)),
            Err(_) => duration(text).map(Self::At),
        }
    }

    /// Whether it fires at this statement of the session, at this age of the deployment.
    pub(super) fn fires(&mut self, statement: u64, age: Duration, random: &mut Random) -> bool {
        match *self {
            Self::Statement(number) => statement == number,
            Self::At(from) => {
                let fires = age >= from;
                if fires {
                    *self = Self::Past;
                }
                fires
            }
            Self::Past => false,
            Self::Share(share) => random.unit() < share,
        }
    }
}
