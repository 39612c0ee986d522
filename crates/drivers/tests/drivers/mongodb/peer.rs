//! A client of the driver at a real or a recorded server.

use assay_drivers::ConnectOptions;
use assay_drivers::mongodb::MongodbWire;

pub type Client = crate::recorded_peer::Client<MongodbWire>;

pub fn options(more: &[(&str, &str)]) -> ConnectOptions {
    let option = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    ConnectOptions {
        database: "assay_recorded".to_owned(),
        options: more.iter().map(option).collect(),
        ..ConnectOptions::default()
    }
}
