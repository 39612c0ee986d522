//! Takes the requests of the extended protocol (Parse, Bind, Describe, Execute); keeps statements and
//! portals, and returns when a statement is to be executed.

use std::sync::Arc;

use crate::lexer::Literals;
use crate::null::{Statement, parameters_in, statements_in};
use crate::postgresql::message::Fields;
use crate::postgresql::server::reply::Status;
use crate::postgresql::server::{
    Portal, PostgresqlServer, Prepared, Running, Step, aborted, reply,
};
use crate::{ErrorClass, Result, SystemError};

impl PostgresqlServer {
    pub(crate) fn parse(&mut self, mut fields: Fields<'_>, out: &mut Vec<u8>) -> Result<()> {
        let (name, text) = (fields.text()?, fields.text()?);
        let types = (0..fields.count()?)
            .map(|_| fields.int32().map(i32::cast_unsigned))
            .collect::<Result<Vec<_>, _>>()?;
        let text = String::from_utf8_lossy(text);
        let mut found = statements_in(&text, Literals::Doubled);
        let statement = (found.next()).unwrap_or_else(|| Statement::of("", Literals::Doubled));
        if found.next().is_some() {
            let message = "cannot insert multiple commands into a prepared statement";
            self.refuse(&SystemError::new(ErrorClass::Syntax, "", message), out);
            return Ok(());
        }
        let parameters = parameters_in(&text, Literals::Doubled);
        let prepared = Arc::new(Prepared::new(statement, parameters, types));
        self.statements.insert(name.into(), prepared);
        out.extend_from_slice(b"1\0\0\0\x04");
        Ok(())
    }

    #[inline]
    pub(crate) fn bind(&mut self, mut fields: Fields<'_>, out: &mut Vec<u8>) -> Result<()> {
        let (portal, name) = (fields.text()?, fields.text()?);
        let Some(prepared) = self.statements.get(name) else {
            let message = format!(
                "prepared statement \"{}\" does not exist",
                String::from_utf8_lossy(name)
            );
            self.refuse(
                &SystemError::new(ErrorClass::UnknownObject, "26000", message),
                out,
            );
            return Ok(());
        };
        let bound = Portal::bind(Arc::clone(prepared), fields)?;
        if portal.is_empty() {
            self.portal = Some(bound);
        } else {
            self.portals.insert(portal.into(), bound);
        }
        out.extend_from_slice(b"2\0\0\0\x04");
        Ok(())
    }

    pub(crate) fn describe(&mut self, mut fields: Fields<'_>, out: &mut Vec<u8>) -> Result<()> {
        let (kind, name) = (fields.byte()?, fields.text()?);
        if kind == b'S' {
            if let Some(prepared) = self.statements.get(name) {
                reply::parameter_types(&prepared.types, out);
                reply::columns(&prepared.statement, |_| false, out);
                return Ok(());
            }
        } else if let Some(portal) = self.portal_named(name) {
            reply::columns(&portal.prepared.statement, |at| portal.is_binary(at), out);
            return Ok(());
        }
        let message = format!(
            "prepared statement or portal \"{}\" does not exist",
            String::from_utf8_lossy(name)
        );
        self.refuse(
            &SystemError::new(ErrorClass::UnknownObject, "26000", message),
            out,
        );
        Ok(())
    }

    pub(crate) fn portal_named(&self, name: &[u8]) -> Option<&Portal> {
        match name {
            b"" => self.portal.as_ref(),
            name => self.portals.get(name),
        }
    }

    #[inline]
    pub(crate) fn execute(&mut self, name: &[u8], out: &mut Vec<u8>) -> Result<Step> {
        let Some(portal) = self.portal_named(name) else {
            let message = format!(
                "portal \"{}\" does not exist",
                String::from_utf8_lossy(name)
            );
            self.refuse(
                &SystemError::new(ErrorClass::UnknownObject, "34000", message),
                out,
            );
            return Ok(Step::Go);
        };
        let statement = &portal.prepared.statement;
        if let Some(copy) = self.begins_copy(statement, false, out) {
            self.copy = Some(copy);
            return Ok(Step::Go);
        }
        if self.status == Status::Failed && !statement.meaning.ends_transaction() {
            self.refuse(&aborted(), out);
            return Ok(Step::Go);
        }
        self.running = if name.is_empty() {
            Running::Unnamed
        } else {
            Running::Named(name.into())
        };
        Ok(Step::Execute)
    }
}
