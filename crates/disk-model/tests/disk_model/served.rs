//! The program with a real FUSE mount. Needs root and /dev/fuse; says so and passes where they are missing.
//! Long because every promise of a served disk (times, power cut, errors, a full or dead disk) is tried on the same mount's set-up.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation
)]

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use assay_disk_model::account;
use assay_disk_model::model::Operation;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::model::Dice;

const PROGRAM: &str = env!("CARGO_BIN_EXE_assay-disk-model");
const SIZE: u64 = 64 << 20;
/// Nothing here takes nearly so long; a hang does.
const HANG: Duration = Duration::from_secs(60);

fn can_mount() -> bool {
    let can = rustix::process::geteuid().is_root() && PathBuf::from("/dev/fuse").exists();
    if !can {
        eprintln!("skipped: needs root and /dev/fuse");
    }
    can
}

fn own_folder() -> tempfile::TempDir {
    let folder = tempfile::Builder::new().prefix("assay-disk-").tempdir();
    folder.unwrap()
}

struct Served {
    folder: tempfile::TempDir,
    child: Child,
}

impl Served {
    fn start(model: &str, more: &[&str]) -> Self {
        let folder = own_folder();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("mount")).unwrap();
        let mut program = Command::new(PROGRAM);
        program.args(["serve", "--size", "64M", "--model", model]);
        for name in ["image", "mount", "control", "account"] {
            program.arg(format!("--{name}")).arg(at(name));
        }
        program.args(more).stdout(Stdio::piped());
        let mut child = program.spawn().unwrap();
        let mut line = String::new();
        let output = child.stdout.take().unwrap();
        BufReader::new(output).read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line).expect("one line when it is ready");
        assert_eq!(ready["size_bytes"], SIZE);
        assert_eq!(ready["disk"], json!(at("mount/disk")));
        assert_eq!(ready["parameters"]["stripe"], "64k");
        Self { folder, child }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn open(&self) -> File {
        let path = self.at("mount/disk");
        File::options().read(true).write(true).open(path).unwrap()
    }

    fn tell(&self, command: &Value) -> Value {
        let mut stream = UnixStream::connect(self.at("control")).unwrap();
        stream.set_read_timeout(Some(HANG)).unwrap();
        writeln!(stream, "{command}").unwrap();
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn ask(&self, command: &str) -> Value {
        self.tell(&json!({ "command": command }))
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    fn wait(&mut self) -> Option<i32> {
        ended(&mut self.child)
    }

    fn is_mounted(&self) -> bool {
        let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
        mounts.contains(self.at("mount").to_str().unwrap())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // What a failed test leaves: the process, and its mount.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let detach = rustix::mount::UnmountFlags::DETACH;
        let _ = rustix::mount::unmount(self.at("mount"), detach);
    }
}

fn ended(child: &mut Child) -> Option<i32> {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        assert!(started.elapsed() < HANG, "it does not end");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn errno<T>(result: std::io::Result<T>) -> Option<i32> {
    result.err().and_then(|error| error.raw_os_error())
}

#[test]
fn the_file_holds_what_was_written_and_the_account_has_every_request() {
    if !can_mount() {
        return;
    }
    let mut served = Served::start("profile=sata-ssd", &[]);
    let disk = served.open();
    let mut expected = vec![0_u8; SIZE as usize];
    let mut dice = Dice(99);
    let mut below = |bound| dice.below(bound);
    let (mut reads, mut writes, mut flushes) = (0, 0, 0);
    for round in 0..400 {
        let offset = below(SIZE / 512 - 600) * 512;
        let length = (1 + below(500)) as usize * 512;
        let range = offset as usize..offset as usize + length;
        match below(5) {
            0 | 1 => {
                let data: Vec<u8> = (0..length).map(|_| below(256) as u8).collect();
                disk.write_all_at(&data, offset).unwrap();
                expected[range].copy_from_slice(&data);
                writes += 1;
            }
            2 if round % 10 == 0 => {
                disk.sync_all().unwrap();
                flushes += 1;
            }
            3 if round % 7 == 0 => {
                let flags =
                    rustix::fs::FallocateFlags::PUNCH_HOLE | rustix::fs::FallocateFlags::KEEP_SIZE;
                rustix::fs::fallocate(&disk, flags, offset, length as u64).unwrap();
                expected[range].fill(0);
            }
            _ => {
                let mut data = vec![0; length];
                disk.read_exact_at(&mut data, offset).unwrap();
                assert!(data == expected[range], "round {round}");
                reads += 1;
            }
        }
    }
    assert_eq!(errno(disk.set_len(1)), Some(libc_eperm()));
    let counters = served.ask("counters")["counters"].clone();
    assert_eq!(counters["reads"], reads);
    assert_eq!(counters["writes"], writes);
    assert_eq!(counters["flushes"], flushes);
    assert_eq!(counters["failed"], 0);
    drop(disk);
    served.signal(Signal::TERM);
    assert_eq!(served.wait(), Some(0));
    assert!(!served.is_mounted() && !served.at("control").exists());
    // What the cache held is in the image after an end in good order.
    assert!(std::fs::read(served.at("image")).unwrap() == expected);
    let account = account::read(&served.at("account")).unwrap();
    assert_eq!((account.lost, account.is_cut), (0, false));
    let count = |operation| {
        let rows = account.rows.iter();
        rows.filter(|row| row.operation == operation).count()
    };
    assert_eq!(count(Operation::Read), reads);
    assert_eq!(count(Operation::Write), writes);
    assert_eq!(count(Operation::Flush), flushes);
    for row in &account.rows {
        assert_eq!(row.errno, 0);
        // No answer is earlier than the model.
        let modelled = [row.arrival_ns, row.start_ns, row.modelled_end_ns];
        assert!(modelled.is_sorted() && modelled[2] <= row.end_ns, "{row:?}");
    }
    let mut print = Command::new(PROGRAM);
    let printed = print
        .arg("account")
        .arg(served.at("account"))
        .output()
        .unwrap();
    let lines = String::from_utf8(printed.stdout).unwrap();
    assert_eq!(lines.lines().count(), account.rows.len() + 1);
    assert!(lines.starts_with("operation,offset,length,arrival_ns,"));
}

fn libc_eperm() -> i32 {
    rustix::io::Errno::PERM.raw_os_error()
}

#[test]
fn commands_cut_the_power_and_make_errors_while_requests_run() {
    if !can_mount() {
        return;
    }
    let eio = Some(rustix::io::Errno::IO.raw_os_error());
    let served = Served::start("profile=sata-ssd,program_latency=2s", &[]);
    let disk = served.open();
    disk.write_all_at(&[1; 4096], 0).unwrap();
    disk.sync_all().unwrap();
    disk.write_all_at(&[2; 4096], 0).unwrap();
    let volatile = served.ask("volatile");
    assert_eq!(volatile["writes"][0]["bytes"], 4096);
    let cut = served.tell(&json!({"command": "power-cut", "keep": "none"}));
    assert_eq!(&cut["ok"], &json!(true));
    assert_eq!(&cut["lost"]["dropped_bytes"], &json!(4096));
    assert_eq!(errno(disk.write_at(&[3; 512], 0)), eio);
    assert_eq!(errno(disk.sync_all()), eio);
    assert_eq!(served.ask("power-on")["ok"], true);
    let mut data = [0; 4096];
    disk.read_exact_at(&mut data, 0).unwrap();
    assert_eq!(data, [1; 4096]);
    let rule = json!({"kind": "read", "offset": 8192, "length": 512});
    served.tell(&json!({"command": "errors", "rules": [rule]}));
    assert_eq!(errno(disk.read_at(&mut data, 8192)), eio);
    let answer = served.tell(&json!({"command": "errors", "rules": []}));
    assert_eq!(answer["ok"], true);
    assert!(disk.read_at(&mut data, 8192).is_ok());
    served.tell(&json!({"command": "full", "after_bytes": 0}));
    let enospc = Some(rustix::io::Errno::NOSPC.raw_os_error());
    assert_eq!(errno(disk.write_at(&[3; 512], 0)), enospc);
    for (text, part) in [
        ("{}", "command"),
        ("nonsense", "JSON"),
        (r#"{"command": "power-cut", "keep": "some"}"#, "some"),
        (r#"{"command": "power-on"}"#, "on already"),
        (r#"{"command": "errors", "rules": [{"nth": 0}]}"#, "nth"),
    ] {
        let mut stream = UnixStream::connect(served.at("control")).unwrap();
        writeln!(stream, "{text}").unwrap();
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(answer["ok"], false);
        let error = answer["error"].as_str().unwrap();
        assert!(error.contains(part), "{text}: {answer}");
    }
}

#[test]
fn after_kill_9_there_are_errors_and_no_hang() {
    if !can_mount() {
        return;
    }
    let slow = "profile=hdd-7200,seek_min=20s,seek_average=30s,seek_max=40s";
    let mut served = Served::start(slow, &[]);
    let disk = served.open();
    disk.write_all_at(&[1; 4096], 48 << 20).unwrap();
    let waiting = served.open();
    // The program is killed while this read waits for seeks of half a minute, and so does the cached write.
    let reader = std::thread::spawn(move || {
        let mut data = [0; 4096];
        errno(waiting.read_at(&mut data, 32 << 20))
    });
    let started = Instant::now();
    while served.ask("counters")["counters"]["pending"] != 1 {
        assert!(started.elapsed() < HANG);
        std::thread::sleep(Duration::from_millis(5));
    }
    served.signal(Signal::KILL);
    served.wait();
    while !reader.is_finished() {
        assert!(started.elapsed() < HANG, "the read hangs");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(reader.join().unwrap().is_some(), "the read fails");
    assert!(errno(disk.write_at(&[2; 4096], 0)).is_some());
    assert!(errno(disk.sync_all()).is_some());
    // A kill is a power cut: nothing had been flushed.
    let image = std::fs::read(served.at("image")).unwrap();
    assert!(image.iter().all(|byte| *byte == 0));
    let path = served.at("account");
    assert!(account::read(&path).is_ok());
}

/// A loop device with direct I/O on the served file, and what is mounted from it.
struct Loop {
    device: String,
    mount: PathBuf,
}

fn run(program: &str, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program).args(arguments).output();
    let output = output.map_err(|error| error.to_string())?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(format!("{program}: {}", text(&output.stderr))),
    }
}

impl Loop {
    fn attach(served: &Served) -> Result<Self, String> {
        let disk = served.at("mount/disk");
        let path = disk.to_str().unwrap();
        let device = run("losetup", &["--find", "--show", "--direct-io=on", path])?;
        let mount = served.at("files");
        std::fs::create_dir_all(&mount).unwrap();
        Ok(Self { device, mount })
    }

    fn mount(&self) {
        run("mount", &[&self.device, self.mount.to_str().unwrap()]).unwrap();
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        // A failed test may have mounted it or not.
        let _ = run("umount", &[self.mount.to_str().unwrap()]);
        run("losetup", &["-d", &self.device]).unwrap();
    }
}

#[test]
fn a_file_system_on_it_keeps_through_power_cuts_what_was_flushed() {
    if !can_mount() {
        return;
    }
    let served = Served::start("profile=sata-ssd,program_latency=30ms", &[]);
    let formatted = Loop::attach(&served).and_then(|first| {
        // The device is detached again in any case.
        run("mkfs.ext4", &["-q", "-F", &first.device])
    });
    if let Err(reason) = formatted {
        return eprintln!("skipped: {reason}");
    }
    let mut dropped_bytes = 0;
    for round in 0..6_u64 {
        let device = Loop::attach(&served).unwrap();
        device.mount();
        for number in 0..round * 4 {
            let data = std::fs::read(device.mount.join(format!("kept-{number}"))).unwrap();
            let expected = [number as u8; 20_000];
            assert!(data == expected, "round {round}, file {number}");
        }
        for number in round * 4..round * 4 + 4 {
            let mut file = File::create(device.mount.join(format!("kept-{number}"))).unwrap();
            file.write_all(&[number as u8; 20_000]).unwrap();
            file.sync_all().unwrap();
        }
        File::open(&device.mount).unwrap().sync_all().unwrap();
        // What nobody waits for: written by the kernel in the background, half done when the power goes.
        let file = File::create(device.mount.join("scratch")).unwrap();
        file.write_all_at(&vec![9; 4 << 20], 0).unwrap();
        let background = std::thread::spawn(move || file.sync_all());
        let started = Instant::now();
        while served.ask("counters")["counters"]["volatile_bytes"] == 0 && started.elapsed() < HANG
        {
            std::thread::yield_now();
        }
        let cut =
            json!({"command": "power-cut", "keep": "random", "torn": "subset", "seed": round});
        let cut = served.tell(&cut);
        dropped_bytes += cut["lost"]["dropped_bytes"].as_u64().unwrap();
        // It fails or had ended before the cut.
        let _ = background.join().unwrap();
        drop(device);
        assert_eq!(served.ask("power-on")["ok"], true);
    }
    assert!(dropped_bytes > 0, "the cuts lost something");
    let device = Loop::attach(&served).unwrap();
    device.mount();
    run("umount", &[device.mount.to_str().unwrap()]).unwrap();
    run("e2fsck", &["-f", "-n", &device.device]).unwrap();
}

#[test]
fn it_ends_on_stop_when_in_use_and_with_its_parent() {
    if !can_mount() {
        return;
    }
    let mut served = Served::start("profile=none", &[]);
    assert_eq!(served.ask("stop")["ok"], true);
    assert_eq!(served.wait(), Some(0));
    assert!(!served.is_mounted());

    let mut served = Served::start("profile=none", &[]);
    let disk = served.open();
    served.signal(Signal::INT);
    assert_eq!(served.wait(), Some(0));
    assert!(!served.is_mounted(), "detached");
    // Who still uses it gets errors.
    assert!(errno(disk.write_at(&[2; 4096], 0)).is_some());

    // The parent is a shell that ends when its input does.
    let folder = own_folder();
    let mount = folder.path().join("mount");
    std::fs::create_dir(&mount).unwrap();
    let serve = "\"$0\" serve --image memory --size 1M --mount \"$1\" --name drive --end-with-parent & read line";
    let mut shell = Command::new("sh");
    shell.args(["-c", serve, PROGRAM]).arg(&mount);
    shell.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut shell = shell.spawn().unwrap();
    let input: ChildStdin = shell.stdin.take().unwrap();
    let mut lines = BufReader::new(shell.stdout.take().unwrap());
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    assert!(mount.join("drive").exists());
    drop(input);
    ended(&mut shell);
    // Its end closes its output, after it has unmounted.
    line.clear();
    assert_eq!(lines.read_line(&mut line).unwrap(), 0);
    assert!(!mount.join("drive").exists());
}

#[test]
fn the_cost_of_the_way_is_measured_and_a_killed_disk_does_not_hang_who_measures_it() {
    if !can_mount() {
        return;
    }
    let model = "profile=sata-ssd,read_latency=2ms,program_latency=10ms,channels=1";
    let mut served = Served::start(model, &[]);
    let attached = Loop::attach(&served);
    let Ok(device) = attached else {
        eprintln!("skipped: {}", attached.err().unwrap());
        return;
    };
    let mut calibrate = Command::new(PROGRAM);
    calibrate.args(["calibrate", "--device", &device.device, "--control"]);
    calibrate.arg(served.at("control")).stdout(Stdio::piped());
    let output = calibrate.spawn().unwrap().wait_with_output().unwrap();
    assert!(output.status.success());
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = found["kinds"].as_array().unwrap();
    let kind = |row: &Value| format!("{} {}", row["operation"].as_str().unwrap(), row["depth"]);
    let kinds: Vec<String> = rows.iter().map(kind).collect();
    assert_eq!(
        kinds,
        ["read 1", "read 16", "write 1", "write 16", "flush 1"]
    );
    for row in &rows[..2] {
        assert!(row["path_cost_ns"].as_u64().unwrap() > 0, "{row}");
        assert!(row["modelled_ns"].as_u64().unwrap() >= 2_000_000, "{row}");
        // The disk is rather slower than its model: 1 % is what is not corrected.
        let modelled_ns = row["modelled_ns"].as_u64().unwrap();
        let measured_ns = row["measured_ns"].as_u64().unwrap();
        assert!(measured_ns >= modelled_ns / 100 * 99, "{row}");
    }
    // Of one write at most: what the writes before have left in the cache takes hundreds of milliseconds.
    let flush_ns = rows[4]["modelled_ns"].as_u64().unwrap();
    assert!((1..20_000_000).contains(&flush_ns), "{}", rows[4]);
    let mut second = calibrate.spawn().unwrap();
    std::thread::sleep(Duration::from_millis(100));
    served.signal(Signal::KILL);
    served.wait();
    assert_eq!(ended(&mut second), Some(3));
}

#[test]
fn what_cannot_be_served_is_refused_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(at("small"), [0; 4096]).unwrap();
    std::fs::create_dir(at("mount")).unwrap();
    let (mount, image, small) = (at("mount"), at("image"), at("small"));
    let missing = at("missing");
    #[rustfmt::skip]
    let cases = [
        (&image, "1M", &["--mount", &missing][..], 2, "expected a directory"),
        (&small, "1M", &["--mount", &mount], 2, "expected an image of"),
        (&image, "1M", &["--mount", &mount, "--account", &small], 2, "exists"),
        (&image, "1M", &["--mount", &mount, "--model", "capacity=4k"], 2, "capacity"),
        (&image, "800T", &["--mount", &mount], 3, "cannot allocate"),
    ];
    for (place, size, more, expected, words) in cases {
        let output = Command::new(PROGRAM)
            .args(["serve", "--image", place, "--size", size])
            .args(more)
            .output()
            .unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(expected), "{message}");
        assert!(message.contains(words), "{message}");
    }
    assert!(!PathBuf::from(&image).exists());
    assert_eq!(std::fs::read(&small).unwrap().len(), 4096);
}
