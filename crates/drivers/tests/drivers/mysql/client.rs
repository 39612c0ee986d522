//! A session with MySQL or MariaDB.

use assay_drivers::mysql::MysqlWire;
use assay_drivers::{Answer, ConnectOptions, Keep, Request, SystemError};
use assay_values::{Row, Value};

use crate::server::Server;
use crate::support::{OPEN, pieces};

pub type Client = crate::support::Client<MysqlWire>;

pub fn options(user: &str, password: Option<&str>, database: &str) -> ConnectOptions {
    ConnectOptions {
        user: user.to_owned(),
        password: password.map(str::to_owned),
        database: database.to_owned(),
        ..ConnectOptions::default()
    }
}

impl Client {
    pub fn unix(server: &Server, mut options: ConnectOptions) -> Result<Self, SystemError> {
        options.is_private = true;
        let mut client = Self::to_socket(&server.socket, MysqlWire::new(options))?;
        client.is_recorded = false;
        Ok(client)
    }

    pub fn root(server: &Server, database: &str) -> Self {
        Self::unix(server, options("root", None, database)).expect("root is accepted")
    }

    pub fn tcp(server: &Server, options: ConnectOptions) -> Result<Self, SystemError> {
        let address = format!("127.0.0.1:{}", server.port);
        Self::to_server(&address, MysqlWire::new(options))
    }

    /// Executes a text statement that must succeed; returns all its rows.
    pub fn rows(&mut self, text: &str) -> Answer {
        let answer = self.try_ask(&Request::Text(text), Keep::Rows).expect(text);
        assert_eq!(answer.error, None, "{text}");
        answer
    }

    /// The only cell of the only row that a statement returns.
    pub fn cell(&mut self, text: &str) -> String {
        let answer = self.rows(text);
        assert_eq!(answer.kept.len(), 1, "{text}");
        String::from_utf8(answer.kept[0][0].as_deref().expect("not NULL").to_vec()).expect("text")
    }

    /// The error of a statement that must fail; the session must stay open.
    pub fn error(&mut self, text: &str) -> SystemError {
        let answer = self.try_ask(&Request::Text(text), Keep::Count);
        let answer = answer.expect(OPEN);
        answer.error.unwrap_or_else(|| panic!("{text} must fail"))
    }

    pub fn prepare(&mut self, id: u32, text: &str) {
        let pieces = &pieces(text);
        let answer = self.ask(&Request::Prepare { id, pieces });
        assert_eq!(answer.error, None, "{text}");
    }

    pub fn execute(&mut self, id: u32, parameters: &[Value], keep: Keep) -> Answer {
        let request = Request::Execute { id, parameters };
        let answer = self.try_ask(&request, keep).expect(OPEN);
        assert_eq!(answer.error, None, "{parameters:?}");
        answer
    }
}

pub fn row(cells: &[Option<&str>]) -> Row {
    let mut row = Row::new();
    for cell in cells {
        match cell {
            None => row.push_null(),
            Some(text) => row.push_bytes(text.as_bytes()),
        }
    }
    row
}
