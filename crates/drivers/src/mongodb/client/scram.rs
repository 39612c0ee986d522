//! Takes user, password and the server's messages; gives the client's messages of SCRAM (RFC 5802, RFC 7677), and
//! insists on the server's proof that it knows the password too.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest as _, Sha256};

use crate::mongodb::settings::Mechanism;
use crate::pbkdf2::pbkdf2;
use crate::{Result, SystemError};

/// Where the conversation stands.
pub(crate) struct Scram {
    hash: Hash,
    /// What the password is salted as.
    secret: Vec<u8>,
    client_first: String,
    nonce: String,
    expected_proof: Vec<u8>,
    /// Whether the server has proved that it knows the password.
    pub(crate) is_proven: bool,
}

/// Servers ask for 10 000 or 15 000 rounds: more than this would only keep the client busy.
const MAX_ROUNDS: u32 = 1_000_000;

#[derive(Clone, Copy)]
enum Hash {
    Sha1,
    Sha256,
}

impl Hash {
    fn digest(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Self::Sha1 => Sha1::digest(bytes).to_vec(),
            Self::Sha256 => Sha256::digest(bytes).to_vec(),
        }
    }

    fn hmac(self, key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
        match self {
            Self::Sha1 => hmac::<Hmac<Sha1>>(key, parts),
            Self::Sha256 => hmac::<Hmac<Sha256>>(key, parts),
        }
    }

    fn salted(self, secret: &[u8], salt: &[u8], rounds: u32) -> Vec<u8> {
        match self {
            Self::Sha1 => pbkdf2::<Hmac<Sha1>>(secret, salt, rounds).to_vec(),
            Self::Sha256 => pbkdf2::<Hmac<Sha256>>(secret, salt, rounds).to_vec(),
        }
    }
}

fn hmac<M: Mac + KeyInit>(key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    let mut mac = <M as KeyInit>::new_from_slice(key).expect("any length is a key");
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().to_vec()
}

impl Scram {
    /// Gives the conversation and its first message. `nonce` is an unpredictable text without commas.
    ///
    /// # Errors
    /// Where the password has characters that SCRAM-SHA-256 forbids.
    pub(crate) fn begin(
        mechanism: Mechanism,
        user: &str,
        password: &str,
        nonce: String,
    ) -> Result<(Self, Vec<u8>)> {
        let (hash, secret) = match mechanism {
            Mechanism::ScramSha1 => {
                let digest = Md5::digest(format!("{user}:mongo:{password}").as_bytes());
                let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
                (Hash::Sha1, digits.into_bytes())
            }
            _ => {
                let prepared = stringprep::saslprep(password).map_err(|error| {
                    SystemError::login(format!(
                        "the password cannot be used with SCRAM-SHA-256: {error}"
                    ))
                })?;
                (Hash::Sha256, prepared.as_bytes().to_vec())
            }
        };
        let user = user.replace('=', "=3D").replace(',', "=2C");
        let client_first = format!("n={user},r={nonce}");
        let message = format!("n,,{client_first}").into_bytes();
        let scram = Self {
            hash,
            secret,
            client_first,
            nonce,
            expected_proof: Vec::new(),
            is_proven: false,
        };
        Ok((scram, message))
    }

    /// Takes the server's next message; gives the client's answer.
    ///
    /// # Errors
    /// Where the server does not follow the protocol, or does not know the password.
    pub(crate) fn answer(&mut self, payload: &[u8]) -> Result<Vec<u8>> {
        let text = std::str::from_utf8(payload).map_err(|_| not_proven("no text"))?;
        if self.expected_proof.is_empty() {
            return self.prove(text);
        }
        if self.is_proven {
            return Ok(Vec::new());
        }
        let proof = text
            .split(',')
            .find_map(|field| field.strip_prefix("v="))
            .and_then(|field| STANDARD.decode(field).ok())
            .ok_or_else(|| not_proven("it sent no proof"))?;
        if proof != self.expected_proof {
            return Err(not_proven("it does not know the password"));
        }
        self.is_proven = true;
        Ok(Vec::new())
    }

    fn prove(&mut self, server_first: &str) -> Result<Vec<u8>> {
        let field = |name: &str| {
            let found = server_first
                .split(',')
                .find_map(|field| field.strip_prefix(name));
            found.ok_or_else(|| not_proven("it sent no nonce, salt or number of rounds"))
        };
        let (nonce, salt, rounds) = (field("r=")?, field("s=")?, field("i=")?);
        if !nonce.starts_with(&self.nonce) || nonce.len() == self.nonce.len() {
            return Err(not_proven("its nonce does not continue ours"));
        }
        let salt = STANDARD
            .decode(salt)
            .map_err(|_| not_proven("its salt is not base64"))?;
        let rounds: u32 = rounds.parse().unwrap_or(0);
        if !(1..=MAX_ROUNDS).contains(&rounds) {
            return Err(not_proven("it asks for 0 rounds, or more than 1000000"));
        }
        let hash = self.hash;
        let salted = hash.salted(&self.secret, &salt, rounds);
        let client_key = hash.hmac(&salted, &[b"Client Key"]);
        let stored_key = hash.digest(&client_key);
        let without_proof = format!("c=biws,r={nonce}");
        let all = format!("{},{server_first},{without_proof}", self.client_first);
        let mut proof = hash.hmac(&stored_key, &[all.as_bytes()]);
        for (byte, other) in proof.iter_mut().zip(&client_key) {
            *byte ^= other;
        }
        let server_key = hash.hmac(&salted, &[b"Server Key"]);
        self.expected_proof = hash.hmac(&server_key, &[all.as_bytes()]);
        Ok(format!("{without_proof},p={}", STANDARD.encode(proof)).into_bytes())
    }
}

fn not_proven(why: &str) -> SystemError {
    SystemError::login(format!("the server failed SCRAM authentication: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_values::ErrorClass;

    /// The conversations of RFC 7677 and of MongoDB's specification of authentication.
    #[test]
    fn the_published_conversations_are_held() {
        for (mechanism, nonce, first, answer, last) in [
            (
                Mechanism::ScramSha256,
                "rOprNGfwEbeRWgbNEkqO",
                "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
                "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
                "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=",
            ),
            (
                Mechanism::ScramSha1,
                "fyko+d2lbbFgONRv9qkxdawL",
                "r=fyko+d2lbbFgONRv9qkxdawLHo+Vgk7qvUOKUwuWLIWg4l/9SraGMHEE,s=rQ9ZY3MntBeuP3E1TDVC4w==,i=10000",
                "c=biws,r=fyko+d2lbbFgONRv9qkxdawLHo+Vgk7qvUOKUwuWLIWg4l/9SraGMHEE,p=MC2T8BvbmWRckDw8oWl5IVghwCY=",
                "v=UMWeI25JD1yNYZRMpZ4VHvhZ9e0=",
            ),
        ] {
            let (mut scram, _) = Scram::begin(mechanism, "user", "pencil", nonce.to_owned())
                .expect("the password is plain");
            let found = scram.answer(first.as_bytes()).expect("well formed");
            assert_eq!(String::from_utf8_lossy(&found), answer);
            assert!(!scram.is_proven);
            let other = scram.answer(b"v=AAAA").expect_err("another proof");
            assert_eq!(other.class, ErrorClass::Authentication);
            scram.answer(last.as_bytes()).expect("the right proof");
            assert!(scram.is_proven);
        }
    }

    #[test]
    fn a_server_that_asks_for_too_much_is_refused() {
        for first in [
            "",
            "r=abcX,s=,i=9",
            "r=abX,s=AAAA,i=4096",
            "r=abc,s=AAAA,i=1",
            "r=abcX,s=AAAA,i=4000000000",
        ] {
            let begun = Scram::begin(Mechanism::ScramSha256, "u", "p", "abc".to_owned());
            let (mut scram, message) = begun.expect("the password is plain");
            assert_eq!(message, b"n,,n=u,r=abc");
            if first.contains("i=9") {
                // An empty salt is odd, and allowed.
                assert!(scram.answer(first.as_bytes()).is_ok());
            } else {
                assert!(scram.answer(first.as_bytes()).is_err(), "{first}");
            }
        }
    }
}
