//! Takes a password, a salt and a number of rounds; gives the first block of PBKDF2 (RFC 8018, section 5.2), which is as long
//! as any protocol here needs.

use hmac::digest::Output;
use hmac::{KeyInit, Mac};

pub(crate) fn pbkdf2<M: Mac + KeyInit + Clone>(
    password: &[u8],
    salt: &[u8],
    rounds: u32,
) -> Output<M> {
    let keyed = <M as KeyInit>::new_from_slice(password).expect("HMAC takes keys of any length");
    let hash = |data: &[u8]| keyed.clone().chain_update(data).finalize().into_bytes();
    let mut last = hash(&[salt, &[0, 0, 0, 1]].concat());
    let mut sum = last.clone();
    for _ in 1..rounds {
        last = hash(&last);
        for (byte, with) in sum.iter_mut().zip(&last) {
            *byte ^= with;
        }
    }
    sum
}
