//! Takes the server's authentication requests; returns the responses that prove the password.
//!
//! A password is sent in clear text only over a private connection (Unix socket, TLS). A server that
//! needs it over another connection gets it encrypted with the server's RSA key, never with
//! `mysql_clear_password`, which any impostor could request.

use crate::mysql::client::proof;
use crate::mysql::client::proof::ExtendedSalt;
use crate::mysql::constants::head;
use crate::scan::Scan;
use crate::{Result, SystemError};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    Native,
    CachingSha2,
    Ed25519,
    Parsec,
    ClearText,
}

impl Method {
    const ALL: [(&'static str, Self); 5] = [
        ("mysql_native_password", Self::Native),
        ("caching_sha2_password", Self::CachingSha2),
        ("client_ed25519", Self::Ed25519),
        ("parsec", Self::Parsec),
        ("mysql_clear_password", Self::ClearText),
    ];

    fn named(name: &[u8]) -> Option<Self> {
        Self::ALL
            .iter()
            .find(|(word, _)| word.as_bytes() == name)
            .map(|&(_, method)| method)
    }

    fn name(self) -> &'static str {
        let found = Self::ALL.iter().find(|&&(_, method)| method == self);
        found.expect("every method is in the list").0
    }
}

/// The server's answers to a `caching_sha2_password` scramble, and the request for its public key.
const PROOF_IS_CACHED: u8 = 3;
const PASSWORD_IS_NEEDED: u8 = 4;
const SEND_PUBLIC_KEY: u8 = 2;

pub(crate) struct Authentication {
    method: Method,
    nonce: Vec<u8>,
    password: Vec<u8>,
    is_private: bool,
    waits_for_key: bool,
}

impl Authentication {
    /// `requested` is the method in the greeting. If this driver does not have it, the response uses the
    /// oldest one: the server then requests the account's method.
    pub(crate) fn new(requested: &[u8], nonce: &[u8], password: &str, is_private: bool) -> Self {
        let method = match Method::named(requested) {
            None | Some(Method::ClearText) => Method::Native,
            Some(method) => method,
        };
        let password = password.as_bytes().to_vec();
        Self {
            method,
            nonce: nonce.to_vec(),
            password,
            is_private,
            waits_for_key: false,
        }
    }

    pub(crate) fn method_name(&self) -> &'static str {
        self.method.name()
    }

    pub(crate) fn first_proof(&self) -> Vec<u8> {
        match self.method {
            Method::Native => proof::native(&self.password, &self.nonce),
            Method::CachingSha2 => proof::caching_sha2(&self.password, &self.nonce),
            Method::Ed25519 => proof::ed25519(&self.password, &self.nonce),
            // An empty packet asks for the salt of the account.
            Method::Parsec => Vec::new(),
            Method::ClearText => self.clear_password(),
        }
    }

    /// Takes a packet that is neither OK nor an error; returns what to send, if anything.
    pub(crate) fn packet(&mut self, payload: &[u8]) -> Result<Option<Vec<u8>>> {
        let mut scan = Scan(payload);
        match scan.u8() {
            Some(head::END) => self.switch(scan).map(Some),
            Some(head::MORE_AUTHENTICATION) if self.method == Method::CachingSha2 => {
                self.more(scan.0)
            }
            Some(_) if self.method == Method::Parsec => {
                let data = payload.strip_prefix(&[head::MORE_AUTHENTICATION]);
                self.signed(data.unwrap_or(payload)).map(Some)
            }
            _ => Err(SystemError::malformed(
                "an answer to the authentication",
                payload,
            )),
        }
    }

    /// The proof of `parsec`, with the salt that was asked for.
    fn signed(&self, data: &[u8]) -> Result<Vec<u8>> {
        let salt = ExtendedSalt::read(data)
            .ok_or_else(|| SystemError::malformed("the salt of an account with parsec", data))?;
        let mut scramble = [0; proof::SCRAMBLE_BYTES];
        getrandom::fill(&mut scramble)
            .map_err(|error| SystemError::login(format!("cannot get random bytes: {error}")))?;
        Ok(proof::parsec(&self.password, &salt, &self.nonce, scramble))
    }

    fn switch(&mut self, mut scan: Scan<'_>) -> Result<Vec<u8>> {
        // A packet of one byte requests the method of MySQL 4.0, which is not secure.
        let name = scan.until_zero().unwrap_or(b"mysql_old_password");
        let Some(method) = Method::named(name) else {
            let supported: Vec<&str> = Method::ALL.iter().map(|&(name, _)| name).collect();
            return Err(SystemError::login(format!(
                "the server requires the authentication method {}; supported are {}",
                String::from_utf8_lossy(name),
                supported.join(", ")
            )));
        };
        if method == Method::ClearText && !self.is_private {
            return Err(SystemError::in_clear_text());
        }
        self.method = method;
        self.waits_for_key = false;
        // The scrambles of MariaDB's own methods may end in any byte.
        self.nonce = match (method, scan.0.first_chunk()) {
            (Method::Ed25519 | Method::Parsec, Some(scramble)) => {
                let scramble: &[u8; proof::SCRAMBLE_BYTES] = scramble;
                scramble.to_vec()
            }
            _ => scan.0.strip_suffix(&[0]).unwrap_or(scan.0).to_vec(),
        };
        Ok(self.first_proof())
    }

    fn more(&mut self, data: &[u8]) -> Result<Option<Vec<u8>>> {
        if self.waits_for_key {
            self.waits_for_key = false;
            return self.encrypted_password(data).map(Some);
        }
        match data {
            [PROOF_IS_CACHED] => Ok(None),
            [PASSWORD_IS_NEEDED] if self.is_private => Ok(Some(self.clear_password())),
            [PASSWORD_IS_NEEDED] => {
                self.waits_for_key = true;
                Ok(Some(vec![SEND_PUBLIC_KEY]))
            }
            _ => Err(SystemError::malformed(
                "a step of caching_sha2_password",
                data,
            )),
        }
    }

    fn clear_password(&self) -> Vec<u8> {
        [&self.password[..], &[0]].concat()
    }

    fn encrypted_password(&self, pem: &[u8]) -> Result<Vec<u8>> {
        let Some(key) = proof::key_from_pem(pem) else {
            return Err(SystemError::malformed("an RSA public key", pem));
        };
        if self.nonce.is_empty() {
            return Err(SystemError::login(
                "the server sent no nonce to encrypt the password with",
            ));
        }
        let secret = proof::masked_password(&self.password, &self.nonce);
        proof::encrypt(&key, &secret, &mut getrandom::SysRng).map_err(|error| match error {
            rsa::Error::MessageTooLong => {
                SystemError::login("the password is too long for the server's key")
            }
            other => SystemError::login(format!(
                "cannot encrypt the password with the server's key: {other}"
            )),
        })
    }
}
