//! Takes the server's RSA public key (PEM) and a short secret; returns the secret encrypted with it,
//! with OAEP padding over SHA-1 (RFC 8017, §7.1), which these servers expect.
//!
//! The timing attack on the crate `rsa` (RUSTSEC-2023-0071) is on private keys: here is none.

use rsa::PublicKey;
use rsa::pkcs1::DecodeRsaPublicKey as _;
use rsa::pkcs8::DecodePublicKey as _;
use rsa::rand_core::TryCryptoRng;
use sha1::Sha1;

/// Reads `-----BEGIN PUBLIC KEY-----` (SubjectPublicKeyInfo) or `… RSA PUBLIC KEY` (PKCS #1), of 1024 to 8192
/// bits.
pub(crate) fn from_pem(pem: &[u8]) -> Option<PublicKey> {
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
    use std::convert::Infallible;

    use rsa::rand_core::TryRng;
    use sha1::Digest as _;

    use super::*;

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
            let key = from_pem(pem.as_bytes()).expect("a good key");
            let secret = encrypt(&key, b"a hidden password", &mut Counted).expect("short enough");
            let digest: String = Sha1::digest(&secret)
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect();
            assert_eq!(
                (secret.len(), &*digest),
                (256, "00b9c0b42a60943a60a7e2b4cb918c15742dc716")
            );
            assert!(
                encrypt(&key, &[b'x'; 215], &mut Counted).is_err(),
                "256 - 2 - 40 bytes at most"
            );
        }
    }

    #[test]
    fn a_damaged_key_is_rejected() {
        assert!(from_pem(b"").is_none());
        assert!(from_pem(b"-----BEGIN PUBLIC KEY-----\nMAA=\n-----END").is_none());
        for end in 0..KEY.len() - 30 {
            assert!(from_pem(&KEY.as_bytes()[..end]).is_none(), "cut at {end}");
        }
        let body = KEY.lines().nth(1).expect("a second line");
        for at in 0..body.len() {
            let mut damaged = KEY.as_bytes().to_vec();
            damaged[27 + at] = b'/';
            let _ = from_pem(&damaged); // must not panic
        }
    }
}
