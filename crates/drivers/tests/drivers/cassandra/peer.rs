//! A client of the driver at a real or a recorded server.

use assay_drivers::cassandra::CassandraWire;
use assay_drivers::{Answer, ConnectOptions, Keep, Progress, Request, Wire as _};

pub type Client = crate::recorded_peer::Client<CassandraWire>;

pub fn options(more: &[(&str, &str)]) -> ConnectOptions {
    let option = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    ConnectOptions {
        user: "cassandra".to_owned(),
        password: Some("cassandra".to_owned()),
        options: more.iter().map(option).collect(),
        ..ConnectOptions::default()
    }
}

impl Client {
    pub fn pipeline(&mut self, requests: &[Request<'_>]) -> Vec<Answer> {
        let (mut out, mut answers) = (Vec::new(), Vec::new());
        for request in requests {
            self.wire
                .queue(request, &mut out)
                .expect("it can be expressed");
        }
        self.wire.sync(&mut out);
        self.send(&out);
        loop {
            let mut answer = Answer::new(Keep::Rows);
            match self.progress(&mut answer).expect("the session goes on") {
                Progress::Answered => answers.push(answer),
                _ => return answers,
            }
        }
    }
}
