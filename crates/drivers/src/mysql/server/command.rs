//! Takes a command of a client; answers it, or returns the statement that is to be executed.

use crate::SystemError;
use crate::lexer::Literals;
use crate::mysql::server::reply::malformed;
use crate::mysql::server::{MysqlServer, Phase, Running, Step, reply};
use crate::mysql::shared::constants::{capability, command, head};
use crate::null::{Lines, Meaning, query};
use crate::scan::Scan;

const LITERALS: Literals = Literals::Backslash;

impl MysqlServer {
    pub(crate) fn command(
        &mut self,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Step, SystemError> {
        let mut scan = Scan(payload);
        match scan.u8().ok_or_else(|| malformed("a command", payload))? {
            command::STMT_EXECUTE => {
                let id = scan
                    .u32_le()
                    .ok_or_else(|| malformed("an execution", payload))?;
                if self.statements.contains_key(&id) {
                    self.running = Running::Prepared(id);
                    return Ok(Step::Execute);
                }
                self.refuse(
                    "1243",
                    &format!("Unknown prepared statement handler ({id})"),
                    out,
                );
            }
            command::QUERY => {
                let text = String::from_utf8_lossy(scan.0);
                self.queue.extend(query::statements(&text, LITERALS));
                if self.queue.is_empty() {
                    self.refuse("1065", "Query was empty", out);
                }
            }
            command::STMT_PREPARE => self.prepare(&String::from_utf8_lossy(scan.0), out),
            command::STMT_CLOSE => {
                let id = scan
                    .u32_le()
                    .ok_or_else(|| malformed("the end of a statement", payload))?;
                self.statements.remove(&id);
            }
            // Parameter values are ignored; neither command has an answer.
            command::STMT_SEND_LONG_DATA => {}
            command::PING
            | command::INIT_DB
            | command::STMT_RESET
            | command::RESET_CONNECTION
            | command::CHANGE_USER => self.ok(0, out),
            command::SET_OPTION => {
                reply::end_of_rows(self.agreement, self.status(), &mut self.packets, out);
            }
            command::STATISTICS => {
                let statistics = b"Null server: no statistics";
                self.packets.append(out, statistics);
            }
            command::QUIT => self.phase = Phase::Over,
            unknown => self.refuse("1047", &format!("Unknown command {unknown:#04x}"), out),
        }
        Ok(Step::Continue)
    }

    fn prepare(&mut self, text: &str, out: &mut Vec<u8>) {
        let mut found = query::statements(text, LITERALS);
        let Some(statement) = found.next() else {
            return self.refuse("1065", "Query was empty", out);
        };
        if found.next().is_some() {
            return self.refuse(
                "1064",
                "expected one statement to prepare, found several",
                out,
            );
        }
        if matches!(statement.meaning, Meaning::Load { .. }) {
            let message = "This command is not supported in the prepared statement protocol yet";
            return self.refuse("1295", message, out);
        }
        let parameters = query::parameters(text, LITERALS);
        let columns = u16::try_from(statement.columns.len()).unwrap_or(u16::MAX);
        self.last_id = self.last_id.wrapping_add(1);
        let id = self.last_id;
        self.packets.write(out, |out| {
            out.push(head::OK);
            out.extend_from_slice(&id.to_le_bytes());
            out.extend_from_slice(&columns.to_le_bytes());
            out.extend_from_slice(&parameters.to_le_bytes());
            out.extend_from_slice(&[0; 3]); // reserved, warnings
        });
        let names = statement.columns.iter().map(|name| &**name);
        self.define(std::iter::repeat_n("?", parameters.into()), out);
        self.define(names.take(columns.into()), out);
        self.statements.insert(id, statement);
    }

    fn define<'n>(&mut self, names: impl Iterator<Item = &'n str>, out: &mut Vec<u8>) {
        let status = self.status();
        let mut is_any = false;
        for name in names {
            is_any = true;
            reply::definition(name, &mut self.packets, out);
        }
        if is_any && !self.agreement.deprecates_eof() {
            reply::end_of_definitions(status, &mut self.packets, out);
        }
    }

    /// Starts the next statement of the current text, if any.
    pub(crate) fn next_of_query(&mut self, out: &mut Vec<u8>) -> Option<Step> {
        let statement = self.queue.pop_front()?;
        let Meaning::Load { table, file, .. } = statement.meaning else {
            self.running = Running::Text(statement);
            return Some(Step::Execute);
        };
        if self.agreement.has(capability::LOCAL_FILES) {
            self.packets.write(out, |out| {
                out.push(head::LOCAL_FILE);
                out.extend_from_slice(file.as_bytes());
            });
            self.phase = Phase::Rows(table, Lines::default());
        } else {
            self.refuse("1148", "The client has disabled LOCAL INFILE", out);
        }
        Some(Step::Continue)
    }
}
