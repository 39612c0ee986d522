//! Takes a password and the server's nonce; returns the signature by which MariaDB's methods prove the password.
//!
//! Sources: "Authentication Plugin - ed25519" and "Authentication Plugin - PARSEC" in MariaDB's documentation. The
//! server keeps the public key alone. In `client_ed25519` the secret key is not made from a seed of 32 bytes, as
//! RFC 8032 has it, but from the whole password; `parsec` makes the seed from the password and a salt.

use ed25519_dalek::hazmat::{ExpandedSecretKey, raw_sign};
use ed25519_dalek::{Signer as _, SigningKey, VerifyingKey};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha512};

pub(crate) const SCRAMBLE_BYTES: usize = 32;
const SALT_BYTES: usize = 18;
/// Rounds are 1024 times two to this power, which the server names. One that names a greater one would keep the
/// client busy for seconds with each session.
const GREATEST_FACTOR: u8 = 10;

/// The signature of the nonce in `client_ed25519`.
pub(crate) fn ed25519(password: &[u8], nonce: &[u8]) -> Vec<u8> {
    let key = ExpandedSecretKey::from_bytes(&Sha512::digest(password).into());
    let signature = raw_sign::<Sha512>(&key, nonce, &VerifyingKey::from(&key));
    signature.to_bytes().to_vec()
}

/// What `parsec` makes the key of the password with: `P`, the factor of the rounds, and the salt.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ExtendedSalt<'a> {
    factor: u8,
    salt: &'a [u8; SALT_BYTES],
}

impl<'a> ExtendedSalt<'a> {
    /// `None` where it is of another form, or asks for too much work.
    pub(crate) fn read(data: &'a [u8]) -> Option<Self> {
        let (&[b'P', factor], salt) = data.split_first_chunk()? else {
            return None;
        };
        let salt = salt.first_chunk()?;
        (factor <= GREATEST_FACTOR).then_some(Self { factor, salt })
    }
}

/// The client's scramble, and the signature of both scrambles.
pub(crate) fn parsec(
    password: &[u8],
    salt: &ExtendedSalt<'_>,
    server_scramble: &[u8],
    client_scramble: [u8; SCRAMBLE_BYTES],
) -> Vec<u8> {
    let key = SigningKey::from_bytes(&derived(password, salt.salt, 1024 << salt.factor));
    let signature = key.sign(&[server_scramble, &client_scramble].concat());
    [&client_scramble[..], &signature.to_bytes()].concat()
}

/// The first 32 bytes of PBKDF2 with HMAC-SHA-512 (RFC 8018, section 5.2), which are part of its first block.
fn derived(password: &[u8], salt: &[u8], rounds: u32) -> [u8; 32] {
    let keyed = Hmac::<Sha512>::new_from_slice(password).expect("HMAC takes keys of any length");
    let hash = |data: &[u8]| -> [u8; 64] {
        keyed
            .clone()
            .chain_update(data)
            .finalize()
            .into_bytes()
            .into()
    };
    let mut last = hash(&[salt, &[0, 0, 0, 1]].concat());
    let mut sum = last;
    for _ in 1..rounds {
        last = hash(&last);
        for (byte, with) in sum.iter_mut().zip(last) {
            *byte ^= with;
        }
    }
    *sum.first_chunk().expect("a block has 64 bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The public key is the one in the documentation of `ed25519_password('secret')`, which a server keeps.
    #[test]
    fn a_signature_is_that_of_the_key_which_the_server_keeps() {
        let key = ExpandedSecretKey::from_bytes(&Sha512::digest(b"secret").into());
        let public = VerifyingKey::from(&key);
        let kept =
            base64::Engine::encode(&base64::engine::general_purpose::STANDARD_NO_PAD, public);
        assert_eq!(kept, "ZIgUREUg5PVgQ6LskhXmO+eZLS0nC8be6HPjYWR4YJY");
        let nonce = [7; SCRAMBLE_BYTES];
        let signature = ed25519(b"secret", &nonce);
        let signature = ed25519_dalek::Signature::from_slice(&signature).expect("it has 64 bytes");
        assert!(public.verify_strict(&nonce, &signature).is_ok());
    }

    /// Computed with Python: `hashlib.pbkdf2_hmac("sha512", b"secret", salt, 2048, 32)`.
    #[test]
    fn the_key_of_parsec_is_derived_as_documented() {
        let salt: Vec<u8> = (0..18).collect();
        let derived_key = derived(b"secret", &salt, 2048);
        assert_eq!(
            hex(&derived_key),
            "a3784679b2b29a66e519ce71e26d72f7cefe749c76cf74347ed9bb173013aeb1"
        );
        let extended = [&b"P\x01"[..], &salt].concat();
        let read = ExtendedSalt::read(&extended).expect("it is well formed");
        let answer = parsec(b"secret", &read, &[3; SCRAMBLE_BYTES], [4; SCRAMBLE_BYTES]);
        let (client, signature) = answer.split_at(SCRAMBLE_BYTES);
        assert_eq!(client, [4; SCRAMBLE_BYTES]);
        let public = SigningKey::from_bytes(&derived_key).verifying_key();
        let signature = ed25519_dalek::Signature::from_slice(signature).expect("it has 64 bytes");
        let signed = [[3; SCRAMBLE_BYTES], [4; SCRAMBLE_BYTES]].concat();
        assert!(public.verify_strict(&signed, &signature).is_ok());
    }

    #[test]
    fn a_salt_of_another_form_or_too_many_rounds_is_refused() {
        let salt = [0; SALT_BYTES];
        assert!(ExtendedSalt::read(&[&b"P\x0a"[..], &salt].concat()).is_some());
        assert!(ExtendedSalt::read(&[&b"P\x0b"[..], &salt].concat()).is_none());
        assert!(ExtendedSalt::read(&[&b"Q\0"[..], &salt].concat()).is_none());
        assert!(ExtendedSalt::read(b"P\0short").is_none());
        assert!(ExtendedSalt::read(b"").is_none());
    }
}
