//! Takes a file, or memory; keeps the bytes that are durable on the modelled disk.
//!
//! The file is read and written through this machine's page cache: its own time must stay below the time of
//! the model. All its blocks are allocated before the disk is served, so that it cannot run out of space later.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::{FallocateFlags, MemfdFlags, fallocate, memfd_create};

use crate::error::DiskError;

/// The medium of a modelled disk.
#[derive(Debug)]
pub struct Image {
    file: File,
    /// Its fixed size.
    pub size_bytes: u64,
}

impl Image {
    /// Opens a file, or makes it where it is missing.
    ///
    /// # Errors
    ///
    /// The file cannot be made or has another size, or there is no room for it.
    pub fn open(path: &Path, size_bytes: u64) -> Result<Self, DiskError> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(DiskError::machine("cannot open the image", path))?;
        let metadata = file
            .metadata()
            .map_err(DiskError::machine("cannot open the image", path))?;
        if !metadata.is_file() {
            return Err(DiskError::argument(format!(
                "{}: an image must be a file",
                path.display()
            )));
        }
        if metadata.len() != 0 && metadata.len() != size_bytes {
            return Err(DiskError::hinted(
                format!(
                    "{}: expected an image of {size_bytes} bytes, found {}",
                    path.display(),
                    metadata.len()
                ),
                "remove it, or give its size",
            ));
        }
        let laid_out = fallocate(&file, FallocateFlags::empty(), 0, size_bytes);
        if let Err(error) = laid_out {
            if metadata.len() == 0 {
                // What this call made is taken back. If that fails too, the first error says more.
                let _ = std::fs::remove_file(path);
            }
            return Err(DiskError::Machine {
                what: "cannot allocate the image",
                path: path.to_owned(),
                source: error.into(),
            });
        }
        Ok(Self { file, size_bytes })
    }

    /// An image in memory, gone when the process ends.
    ///
    /// # Errors
    ///
    /// No such memory.
    pub fn in_memory(size_bytes: u64) -> Result<Self, DiskError> {
        let memory = "memory";
        let descriptor = memfd_create("assay-disk", MemfdFlags::CLOEXEC)
            .map_err(|error| DiskError::machine("cannot make an image in", memory)(error.into()))?;
        let file = File::from(descriptor);
        file.set_len(size_bytes)
            .map_err(DiskError::machine("cannot make an image in", memory))?;
        Ok(Self { file, size_bytes })
    }

    pub(crate) fn read(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(bytes, offset)
    }

    pub(crate) fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all_at(bytes, offset)
    }

    /// Makes the bytes zero; where the file system can, without giving back their blocks.
    pub(crate) fn zero(&self, offset: u64, length: u64) -> io::Result<()> {
        let keep = FallocateFlags::KEEP_SIZE;
        for mode in [FallocateFlags::ZERO_RANGE, FallocateFlags::PUNCH_HOLE] {
            if fallocate(&self.file, mode | keep, offset, length).is_ok() {
                return Ok(());
            }
        }
        let zeros = [0_u8; 65_536];
        let mut at = offset;
        while at < offset + length {
            let count = (offset + length - at).min(zeros.len() as u64);
            let part = usize::try_from(count).unwrap_or(zeros.len());
            self.file.write_all_at(&zeros[..part], at)?;
            at += count;
        }
        Ok(())
    }
}
