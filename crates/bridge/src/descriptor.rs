//! Takes the number of a file that Python has open; returns the same open file, owned.

use std::fs::File;
use std::io;
use std::os::fd::BorrowedFd;

/// `EBADF`, the same on every Unix.
const BAD_DESCRIPTOR: i32 = 9;

/// A second descriptor of an open file. The first one stays open, and Python closes it.
///
/// # Errors
/// If no file is open under that number, or the process cannot open another.
pub fn duplicate(file_descriptor: i32) -> io::Result<File> {
    if file_descriptor < 0 {
        return Err(io::Error::from_raw_os_error(BAD_DESCRIPTOR));
    }
    // SAFETY: the number is not negative. It is borrowed for one call only, which fails if no file is open
    // under it.
    let borrowed = unsafe { BorrowedFd::borrow_raw(file_descriptor) };
    borrowed.try_clone_to_owned().map(File::from)
}
