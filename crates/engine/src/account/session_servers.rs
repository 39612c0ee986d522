//! Takes what is known of the server that answers each session; counts the sessions of each server.

use std::collections::BTreeMap;

use crate::observation::ServerReport;

/// The server that answers a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SessionServer {
    pub version: String,
    /// As the server reports it; empty where it was not asked, or does not report it.
    pub address: String,
    /// The same.
    pub role: String,
    /// The server has another id for the session than the one that was given at login.
    pub is_behind_pooler: bool,
}

/// Servers, each with its number of sessions.
#[derive(Debug, Default)]
pub struct SessionServers(BTreeMap<SessionServer, u32>);

impl SessionServers {
    pub fn add(&mut self, server: SessionServer) {
        *self.0.entry(server).or_default() += 1;
    }

    pub fn merge(&mut self, other: Self) {
        for (server, sessions) in other.0 {
            *self.0.entry(server).or_default() += sessions;
        }
    }

    #[must_use]
    pub fn report(self) -> Vec<ServerReport> {
        let reports = self.0.into_iter().map(|(server, sessions)| ServerReport {
            version: server.version,
            address: server.address,
            role: server.role,
            is_behind_pooler: server.is_behind_pooler,
            sessions,
        });
        reports.collect()
    }
}
