//! Takes the kernel's requests for the one file; hands them to the device.
//!
//! The limits of the connection are those of a disk, not of a file system:
//!
//! * `direct_io`: no page cache stands between the user of the file and the model.
//! * `FUSE_ASYNC_DIO` and parallel direct writes: requests reach the model at the depth at which they were made.
//!   The kernel lets no write pass while a flush of the same file is under way, and starts a flush when the
//!   writes before it have ended; reads are not held up.
//! * `max_write` 1 MiB: the largest request that the kernel splits nothing of, as with block devices.
//! * `max_background` 1024: the kernel holds no request back; the queue is the model's.
//! * No write-back cache, as it would end writes before the model does.

use std::ffi::OsStr;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, SystemTime};

use fuser::{
    Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, InitFlags,
    KernelConfig, LockOwner, OpenFlags, ReplyAttr, ReplyData, ReplyDirectory, ReplyEmpty,
    ReplyEntry, ReplyOpen, ReplyWrite, Request, TimeOrNow, WriteFlags,
};

use crate::device::{self, Device};

const FILE: INodeNo = INodeNo(2);
const MAX_WRITE_BYTES: u32 = 1 << 20;
const MAX_BACKGROUND: u16 = 1024;

/// Nothing but the content of the file ever changes.
const VALID_FOR: Duration = Duration::from_secs(1_000_000);

/// The file system of one file.
pub struct DiskFile {
    name: String,
    device: Arc<Device>,
    made: SystemTime,
    /// For the end of the mount.
    ended: Sender<()>,
}

fn errno(error: device::Errno) -> Errno {
    Errno::from_i32(error.0)
}

impl DiskFile {
    pub fn new(name: String, device: Arc<Device>, ended: Sender<()>) -> Self {
        Self { name, device, made: SystemTime::now(), ended }
    }

    fn attributes(&self, inode: INodeNo) -> FileAttr {
        let is_file = inode == FILE;
        let size = if is_file { self.device.size_bytes() } else { 0 };
        FileAttr {
            ino: inode,
            size,
            blocks: size / 512,
            atime: self.made,
            mtime: self.made,
            ctime: self.made,
            crtime: self.made,
            kind: if is_file { FileType::RegularFile } else { FileType::Directory },
            perm: if is_file { 0o600 } else { 0o700 },
            nlink: if is_file { 1 } else { 2 },
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        }
    }
}

impl Filesystem for DiskFile {
    fn init(&mut self, _: &Request, connection: &mut KernelConfig) -> io::Result<()> {
        let refused =
            |_| io::Error::other("the kernel's FUSE is too old: it lacks asynchronous direct I/O");
        connection.add_capabilities(InitFlags::FUSE_ASYNC_DIO).map_err(refused)?;
        // Both are within the bounds of the crate; if not, its nearest value is as good.
        let _ = connection.set_max_write(MAX_WRITE_BYTES);
        let _ = connection.set_max_background(MAX_BACKGROUND);
        let _ = connection.set_congestion_threshold(MAX_BACKGROUND);
        Ok(())
    }

    fn destroy(&mut self) {
        // If no thread receives it, the run is ending already.
        let _ = self.ended.send(());
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        if parent == INodeNo::ROOT && name == self.name.as_str() {
            reply.entry(&VALID_FOR, &self.attributes(FILE), Generation(0));
        } else {
            reply.error(Errno::ENOENT);
        }
    }

    fn getattr(&self, _: &Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        reply.attr(&VALID_FOR, &self.attributes(inode));
    }

    fn setattr(
        &self,
        _: &Request,
        inode: INodeNo,
        _mode: Option<u32>,
        _uid: Option<u32>,
        _gid: Option<u32>,
        size: Option<u64>,
        _atime: Option<TimeOrNow>,
        _mtime: Option<TimeOrNow>,
        _ctime: Option<SystemTime>,
        _fh: Option<FileHandle>,
        _crtime: Option<SystemTime>,
        _chgtime: Option<SystemTime>,
        _bkuptime: Option<SystemTime>,
        _flags: Option<fuser::BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        // Times may be set and mean nothing; the size is the disk's.
        if size.is_some_and(|size| size != self.device.size_bytes()) {
            reply.error(Errno::EPERM);
        } else {
            reply.attr(&VALID_FOR, &self.attributes(inode));
        }
    }

    fn readdir(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        if offset == 0 {
            // One entry fits into any buffer.
            let _ = reply.add(FILE, 1, FileType::RegularFile, &self.name);
        }
        reply.ok();
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let flags = FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES;
        reply.opened(FileHandle(0), flags);
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let answer = move |result: Result<&[u8], device::Errno>| match result {
            Ok(data) => reply.data(data),
            Err(error) => reply.error(errno(error)),
        };
        self.device.read(offset, size, Box::new(answer));
    }

    fn write(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let length = u32::try_from(data.len()).unwrap_or(u32::MAX);
        let answer = move |result: Result<&[u8], device::Errno>| match result {
            Ok(_) => reply.written(length),
            Err(error) => reply.error(errno(error)),
        };
        self.device.write(offset, data, Box::new(answer));
    }

    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _datasync: bool, reply: ReplyEmpty) {
        let answer = move |result: Result<&[u8], device::Errno>| match result {
            Ok(_) => reply.ok(),
            Err(error) => reply.error(errno(error)),
        };
        self.device.flush(Box::new(answer));
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        // A descriptor is closed. No disk hears of that.
        reply.ok();
    }

    fn fallocate(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        if mode & (libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_ZERO_RANGE) == 0 {
            // All blocks are allocated.
            return reply.ok();
        }
        match self.device.zero(offset, length) {
            Ok(()) => reply.ok(),
            Err(error) => reply.error(errno(error)),
        }
    }
}
