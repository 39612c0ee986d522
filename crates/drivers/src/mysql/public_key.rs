//! Takes the server's RSA public key (PEM) and a short secret; returns the secret encrypted with it,
//! with OAEP padding over SHA-1 (RFC 8017, §7.1), which these servers expect.
//!
//! Only public values are combined with the secret, once per connection. The key comes from the server
//! and may hold anything, so every step of parsing it can fail.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use num_bigint::BigUint;
use sha1::Sha1;
use sha2::Digest as _;

const HASH: usize = 20;
/// Longer keys are not in use; a malicious one would only cost time.
const LONGEST_KEY_BITS: u64 = 16_384;

pub(super) struct PublicKey {
    modulus: BigUint,
    exponent: BigUint,
    bytes: usize,
}

impl PublicKey {
    /// Reads `-----BEGIN PUBLIC KEY-----` (SubjectPublicKeyInfo) or `… RSA PUBLIC KEY` (PKCS #1).
    pub(super) fn from_pem(pem: &[u8]) -> Option<Self> {
        let pem = std::str::from_utf8(pem).ok()?;
        let body = pem
            .split_once("PUBLIC KEY-----")?
            .1
            .split_once("-----END")?
            .0;
        let body: String = body.split_ascii_whitespace().collect();
        let der = STANDARD.decode(body).ok()?;
        let (mut fields, _) = element(&der, SEQUENCE)?;
        if fields.first() == Some(&SEQUENCE) {
            let (_algorithm, rest) = element(fields, SEQUENCE)?;
            let (bits, _) = element(rest, BIT_STRING)?;
            let (&0, key) = bits.split_first()? else {
                return None;
            };
            fields = element(key, SEQUENCE)?.0;
        }
        let (modulus, rest) = element(fields, INTEGER)?;
        let (exponent, _) = element(rest, INTEGER)?;
        let modulus = BigUint::from_bytes_be(modulus);
        let exponent = BigUint::from_bytes_be(exponent);
        let bits = modulus.bits();
        if bits > LONGEST_KEY_BITS || exponent.bits() == 0 || exponent.bits() > 64 {
            return None;
        }
        let bytes = usize::try_from(bits.div_ceil(8)).ok()?;
        (bytes > 2 * HASH + 2).then_some(Self {
            modulus,
            exponent,
            bytes,
        })
    }

    /// `None` where the secret is too long for the key.
    pub(super) fn encrypt(&self, secret: &[u8], seed: [u8; HASH]) -> Option<Vec<u8>> {
        // EM = 00 ‖ masked seed ‖ masked (hash of the empty label ‖ 00… ‖ 01 ‖ secret)
        let mut block = Sha1::digest(b"").to_vec();
        let zeros = (self.bytes - 2 - 2 * HASH).checked_sub(secret.len())?;
        block.resize(HASH + zeros, 0);
        block.push(1);
        block.extend_from_slice(secret);
        mask(&mut block, &seed);
        let mut masked_seed = seed;
        mask(&mut masked_seed, &block);

        let message = BigUint::from_bytes_be(&[&masked_seed[..], &block].concat());
        let encrypted = message.modpow(&self.exponent, &self.modulus).to_bytes_be();
        let mut padded = vec![0; self.bytes - encrypted.len()];
        padded.extend_from_slice(&encrypted);
        Some(padded)
    }
}

/// MGF1 over SHA-1 (RFC 8017, §B.2.1), exclusive-or with `bytes`.
fn mask(bytes: &mut [u8], seed: &[u8]) {
    for (count, chunk) in (0u32..).zip(bytes.chunks_mut(HASH)) {
        let pad = Sha1::new()
            .chain_update(seed)
            .chain_update(count.to_be_bytes())
            .finalize();
        chunk
            .iter_mut()
            .zip(pad)
            .for_each(|(byte, pad)| *byte ^= pad);
    }
}

const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const SEQUENCE: u8 = 0x30;

/// One DER element with the given tag: its content, and what follows it.
fn element(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&found, rest) = der.split_first()?;
    let (&short, mut rest) = rest.split_first()?;
    if found != tag {
        return None;
    }
    let mut length = usize::from(short);
    if short & 0x80 != 0 {
        let count = usize::from(short & 0x7F);
        if count > 4 {
            return None;
        }
        let (bytes, after) = rest.split_at_checked(count)?;
        length = bytes
            .iter()
            .fold(0, |length, &byte| length << 8 | usize::from(byte));
        rest = after;
    }
    rest.split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let seed = std::array::from_fn(|at| at.to_le_bytes()[0]);
        for pem in [KEY, KEY_PKCS1] {
            let key = PublicKey::from_pem(pem.as_bytes()).expect("a good key");
            let secret = key
                .encrypt(b"a hidden password", seed)
                .expect("short enough");
            let digest: String = Sha1::digest(&secret)
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect();
            assert_eq!(
                (secret.len(), &*digest),
                (256, "00b9c0b42a60943a60a7e2b4cb918c15742dc716")
            );
            assert!(
                key.encrypt(&[b'x'; 215], seed).is_none(),
                "256 - 2 - 40 bytes at most"
            );
        }
    }

    #[test]
    fn a_damaged_key_is_rejected() {
        assert!(PublicKey::from_pem(b"").is_none());
        assert!(PublicKey::from_pem(b"-----BEGIN PUBLIC KEY-----\nMAA=\n-----END").is_none());
        for end in 0..KEY.len() - 30 {
            assert!(
                PublicKey::from_pem(&KEY.as_bytes()[..end]).is_none(),
                "cut at {end}"
            );
        }
        let body = KEY.lines().nth(1).expect("a second line");
        for at in 0..body.len() {
            let mut damaged = KEY.as_bytes().to_vec();
            damaged[27 + at] = b'/';
            let _ = PublicKey::from_pem(&damaged); // must not panic
        }
    }
}
