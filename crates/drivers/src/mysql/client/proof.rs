//! Takes a password and the server's nonce; returns what proves the password, for each authentication method.
//!
//! Sources: "mysql_native_password" and "caching_sha2_password" in the MySQL server's source documentation;
//! "Authentication Plugin - ed25519" and "Authentication Plugin - PARSEC" in MariaDB's documentation.
//!
//! Both methods of MySQL prove knowledge of a hash without sending it: the server stores the hash of the hash, reverses the
//! exclusive-or with it, and hashes the result. Of MariaDB's methods the server keeps the public key alone. In
//! `client_ed25519` the secret key is not made from a seed of 32 bytes, as RFC 8032 has it, but from the whole password;
//! `parsec` makes the seed from the password and a salt.
//!
//! A short secret is encrypted with the server's RSA public key (PEM), with OAEP padding over SHA-1 (RFC 8017, §7.1), which
//! these servers expect. The timing attack on the crate `rsa` (RUSTSEC-2023-0071) is on private keys: here is none.

use ed25519_dalek::hazmat::{ExpandedSecretKey, raw_sign};
use ed25519_dalek::{Signer as _, SigningKey, VerifyingKey};
use hmac::Hmac;
use rsa::PublicKey;
use rsa::pkcs1::DecodeRsaPublicKey as _;
use rsa::pkcs8::DecodePublicKey as _;
use rsa::rand_core::TryCryptoRng;
use sha1::Sha1;
use sha2::{Digest as _, Sha256, Sha512};

use crate::pbkdf2::pbkdf2;

/// `SHA1(password) ^ SHA1(nonce ‖ SHA1(SHA1(password)))`; empty for an empty password.
pub(crate) fn native(password: &[u8], nonce: &[u8]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let once = Sha1::digest(password);
    let twice = Sha1::digest(once);
    let mask = Sha1::new()
        .chain_update(nonce)
        .chain_update(twice)
        .finalize();
    exclusive_or(&once, &mask)
}

/// `SHA256(password) ^ SHA256(SHA256(SHA256(password)) ‖ nonce)`; empty for an empty password.
pub(crate) fn caching_sha2(password: &[u8], nonce: &[u8]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let once = Sha256::digest(password);
    let twice = Sha256::digest(once);
    let mask = Sha256::new()
        .chain_update(twice)
        .chain_update(nonce)
        .finalize();
    exclusive_or(&once, &mask)
}

/// The password and a zero byte, XORed with the repeated nonce: this is encrypted with RSA when the
/// server needs the password over an unencrypted connection.
pub(crate) fn masked_password(password: &[u8], nonce: &[u8]) -> Vec<u8> {
    let nonce = nonce.iter().cycle();
    password
        .iter()
        .chain(&[0])
        .zip(nonce)
        .map(|(byte, mask)| byte ^ mask)
        .collect()
}

fn exclusive_or(left: &[u8], right: &[u8]) -> Vec<u8> {
    left.iter()
        .zip(right)
        .map(|(left, right)| left ^ right)
        .collect()
}

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

/// The first 32 bytes of PBKDF2 with HMAC-SHA-512.
fn derived(password: &[u8], salt: &[u8], rounds: u32) -> [u8; 32] {
    let block = pbkdf2::<Hmac<Sha512>>(password, salt, rounds);
    *block.first_chunk().expect("a block has 64 bytes")
}

/// Reads `-----BEGIN PUBLIC KEY-----` (SubjectPublicKeyInfo) or `… RSA PUBLIC KEY` (PKCS #1), of 1024 to 8192
/// bits.
pub(crate) fn key_from_pem(pem: &[u8]) -> Option<PublicKey> {
    let pem = std::str::from_utf8(pem).ok()?;
    let key = PublicKey::from_public_key_pem(pem).ok();
    key.or_else(|| PublicKey::from_pkcs1_pem(pem).ok())
}

/// Fails where the secret is too long for the key, or without random bytes.
pub(crate) fn encrypt(
    key: &PublicKey,
    secret: &[u8],
    random: &mut impl TryCryptoRng,
) -> Result<Vec<u8>, rsa::Error> {
    key.oaep_encrypt_with_rng::<Sha1, _>(random, secret)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rsa::rand_core::TryRng;
    use std::convert::Infallible;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    const NONCE: &[u8] = b"d\xe7\x1c>}/\x12\x41\x02\x55\x66\x33\x17\x1f\x2a\x3c\x4d\x5e\x6f\x01";

    /// Values computed with Python's hashlib from the formulas of the documentation.
    #[test]
    fn scrambles_follow_the_documentation() {
        let expected = "ceae550ff6b8f31cc21c11cff4ba84ea241d9ba4";
        assert_eq!(hex(&native(b"secret", NONCE)), expected);
        let expected = "ddd3f66b68dc05920394531aed44df630723c2c8d3050dbd6125b41cba66256c";
        assert_eq!(hex(&caching_sha2(b"secret", NONCE)), expected);
        assert_eq!(native(b"", NONCE), b"");
        assert_eq!(caching_sha2(b"", NONCE), b"");
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
        let expected = "a3784679b2b29a66e519ce71e26d72f7cefe749c76cf74347ed9bb173013aeb1";
        assert_eq!(hex(&derived_key), expected);
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

    /// The bytes 0, 1, 2 … in place of random ones.
    struct Counted;

    impl TryRng for Counted {
        type Error = Infallible;

        fn try_next_u32(&mut self) -> Result<u32, Infallible> {
            Ok(0)
        }

        fn try_next_u64(&mut self) -> Result<u64, Infallible> {
            Ok(0)
        }

        fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
            for (byte, number) in bytes.iter_mut().zip(0..) {
                *byte = number;
            }
            Ok(())
        }
    }

    impl TryCryptoRng for Counted {}

    const KEY: &str = "\
-----BEGIN PUBLIC KEY-----
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAhqq5G8+9diLS4AOxqS9n
T0sJ04w/w4jxsBx0YZ63A/A0n8L2wNiY3QNwGUIXc0v4ldTkJDUBENfDK3kzxcJ+
/LxkPTS7kGOgKDHE2MdkFg/1EA0jO761nD1LDLxxTxl1R/KFE+bWH5V6i+icHifa
51zsNR1qTUz0R2Lzo+mD4gs0/erQhElb836TAgAXi6NDNxsCEeVrbFdPFP7KdSWQ
8Ma/EGi52O69H2uToxxUTJJtIjIOuXMPVg3MjVWvutf07IhIF86lClnU4PkG8qCo
BGsfl2K4mIr9ahJl9T/PiL0c3hMUhAc+J/Eg5LcobGi2aA2neBUbJBTfJDGsPz5d
KwIDAQAB
-----END PUBLIC KEY-----
";

    /// The same key in the older form.
    const KEY_PKCS1: &str = "\
-----BEGIN RSA PUBLIC KEY-----
MIIBCgKCAQEAhqq5G8+9diLS4AOxqS9nT0sJ04w/w4jxsBx0YZ63A/A0n8L2wNiY
3QNwGUIXc0v4ldTkJDUBENfDK3kzxcJ+/LxkPTS7kGOgKDHE2MdkFg/1EA0jO761
nD1LDLxxTxl1R/KFE+bWH5V6i+icHifa51zsNR1qTUz0R2Lzo+mD4gs0/erQhElb
836TAgAXi6NDNxsCEeVrbFdPFP7KdSWQ8Ma/EGi52O69H2uToxxUTJJtIjIOuXMP
Vg3MjVWvutf07IhIF86lClnU4PkG8qCoBGsfl2K4mIr9ahJl9T/PiL0c3hMUhAc+
J/Eg5LcobGi2aA2neBUbJBTfJDGsPz5dKwIDAQAB
-----END RSA PUBLIC KEY-----
";

    /// Encrypted independently (Python integers and hashlib) and decrypted by `openssl
    /// pkeyutl -pkeyopt rsa_padding_mode:oaep`; the digest is that of the 256 bytes.
    #[test]
    fn encryption_is_rsa_oaep_with_sha1() {
        for pem in [KEY, KEY_PKCS1] {
            let key = key_from_pem(pem.as_bytes()).expect("a good key");
            let secret = encrypt(&key, b"a hidden password", &mut Counted).expect("short enough");
            let digest = hex(&Sha1::digest(&secret));
            assert_eq!(secret.len(), 256);
            assert_eq!(&*digest, "00b9c0b42a60943a60a7e2b4cb918c15742dc716");
            // 256 - 2 - 40 bytes at most.
            assert!(encrypt(&key, &[b'x'; 215], &mut Counted).is_err());
        }
    }

    #[test]
    fn a_damaged_key_is_rejected() {
        assert!(key_from_pem(b"").is_none());
        assert!(key_from_pem(b"-----BEGIN PUBLIC KEY-----\nMAA=\n-----END").is_none());
        for end in 0..KEY.len() - 30 {
            let cut = &KEY.as_bytes()[..end];
            assert!(key_from_pem(cut).is_none(), "cut at {end}");
        }
        let body = KEY.lines().nth(1).expect("a second line");
        for at in 0..body.len() {
            let mut damaged = KEY.as_bytes().to_vec();
            damaged[27 + at] = b'/';
            let _ = key_from_pem(&damaged); // must not panic
        }
    }
}
