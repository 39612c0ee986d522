//! What a disk keeps through a power cut, and which requests fail, in real time and without FUSE.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation
)]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use assay_disk_model::account::Recorder;
use assay_disk_model::device::{Answer, Device, Errno};
use assay_disk_model::model::Parameters;
use assay_disk_model::{Image, Keep, PathCosts, PowerCut, Torn};

use crate::model::Dice;

const SIZE: u64 = 16 << 20;
/// Nothing becomes durable within 2 s but by a flush, which takes so long.
const SLOW: &str = "profile=sata-ssd,program_latency=2s";

type Answered = Receiver<Result<Vec<u8>, Errno>>;

/// Not every test waits for every answer.
fn answer() -> (Answer, Answered) {
    let (sender, receiver) = channel();
    let answer = move |result: Result<&[u8], Errno>| {
        let _ = sender.send(result.map(<[u8]>::to_vec));
    };
    (Box::new(answer), receiver)
}

struct Disk {
    device: Arc<Device>,
    pacer: Option<std::thread::JoinHandle<()>>,
}

impl Disk {
    fn new(parameters: &str) -> Self {
        let parameters = Parameters::parse(parameters).unwrap();
        let image = Image::in_memory(SIZE).unwrap();
        let device =
            Device::new(parameters, image, Recorder::none(), PathCosts::default()).unwrap();
        let paced = Arc::clone(&device);
        let pacer = Some(std::thread::spawn(move || paced.pace()));
        Self { device, pacer }
    }

    fn begin_write(&self, offset: u64, data: &[u8]) -> Answered {
        let (answer, receiver) = answer();
        self.device.write(offset, data, answer);
        receiver
    }

    fn write(&self, offset: u64, data: &[u8]) -> Result<(), Errno> {
        self.begin_write(offset, data).recv().unwrap().map(|_| ())
    }

    fn begin_read(&self, offset: u64, length: u32) -> Answered {
        let (answer, receiver) = answer();
        self.device.read(offset, length, answer);
        receiver
    }

    fn read(&self, offset: u64, length: u32) -> Result<Vec<u8>, Errno> {
        self.begin_read(offset, length).recv().unwrap()
    }

    fn begin_flush(&self) -> Answered {
        let (answer, receiver) = answer();
        self.device.flush(answer);
        receiver
    }

    fn flush(&self) -> Result<(), Errno> {
        self.begin_flush().recv().unwrap().map(|_| ())
    }

    fn cut(&self, keep: Keep, torn: Torn, seed: u64) -> assay_disk_model::Lost {
        let cut = PowerCut { keep, torn, seed };
        self.device.power_cut(&cut).unwrap()
    }

    /// The first byte of each sector.
    fn sectors(&self, offset: u64, count: usize) -> Vec<u8> {
        let length = u32::try_from(count * 512).unwrap();
        let data = self.read(offset, length).unwrap();
        for sector in data.chunks(512) {
            assert_eq!(sector, [sector[0]; 512], "a sector is whole");
        }
        data.chunks(512).map(|sector| sector[0]).collect()
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        self.device.stop().unwrap();
        self.pacer.take().unwrap().join().unwrap();
    }
}

#[test]
fn what_no_flush_had_reached_is_lost_and_the_rest_stays() {
    let disk = Disk::new(SLOW);
    disk.write(0, &[1; 4096]).unwrap();
    disk.flush().unwrap();
    disk.write(2048, &[2; 4096]).unwrap();
    // Reads see the cache.
    assert_eq!(disk.sectors(0, 12), [1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2]);
    let volatile = disk.device.volatile_writes();
    assert_eq!((volatile[0].offset, volatile[0].bytes), (2048, 4096));
    let lost = disk.cut(Keep::None, Torn::No, 0);
    assert_eq!((lost.dropped.len(), lost.dropped_bytes), (1, 4096));
    assert_eq!(disk.read(0, 512), Err(Errno::IO));
    assert_eq!(disk.write(0, &[3; 512]), Err(Errno::IO));
    assert_eq!(disk.flush(), Err(Errno::IO));
    disk.device.power_on().unwrap();
    assert_eq!(disk.sectors(0, 12), [1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0]);
    assert!(disk.device.power_on().is_err());
}

#[test]
fn a_chosen_subset_of_writes_stays() {
    let disk = Disk::new(SLOW);
    for number in 0..4_u8 {
        let written = disk.write(u64::from(number) * 4096, &[number + 1; 4096]);
        written.unwrap();
    }
    let writes = disk.device.volatile_writes();
    let numbers: Vec<u64> = writes.iter().map(|write| write.write).collect();
    let lost = disk.cut(Keep::Writes(vec![numbers[1], numbers[3]]), Torn::No, 0);
    assert_eq!(lost.kept, [numbers[1], numbers[3]]);
    assert_eq!(lost.dropped, [numbers[0], numbers[2]]);
    disk.device.power_on().unwrap();
    let firsts: Vec<u8> = disk.sectors(0, 32).into_iter().step_by(8).collect();
    assert_eq!(firsts, [0, 2, 0, 4]);
    disk.write(0, &[9; 4096]).unwrap();
    disk.cut(Keep::All, Torn::No, 0);
    disk.device.power_on().unwrap();
    assert_eq!(disk.sectors(0, 8), [9; 8]);
}

#[test]
fn a_torn_write_keeps_some_sectors_whole_and_never_all() {
    let disk = Disk::new(SLOW);
    let (mut prefixes, mut subsets) = (Vec::new(), Vec::new());
    for seed in 0..12 {
        for (torn, found) in [(Torn::Prefix, &mut prefixes), (Torn::Subset, &mut subsets)] {
            disk.device.zero(0, 8192).unwrap();
            disk.write(0, &[7; 8192]).unwrap();
            let lost = disk.cut(Keep::All, torn, seed);
            assert_eq!(lost.torn.len(), 1);
            disk.device.power_on().unwrap();
            let kept: Vec<bool> = disk.sectors(0, 16).iter().map(|byte| *byte == 7).collect();
            let count = kept.iter().filter(|is_kept| **is_kept).count();
            assert!((1..16).contains(&count));
            assert_eq!(lost.dropped_bytes, 8192 - count as u64 * 512);
            found.push(kept);
        }
    }
    assert!(prefixes.iter().all(|kept| kept.is_sorted_by(|a, b| a >= b)));
    assert!(subsets.iter().any(|kept| !kept.is_sorted_by(|a, b| a >= b)));
    prefixes.dedup();
    assert!(prefixes.len() > 3, "the seed chooses");
    drop(disk);
    // A disk of 4 KiB sectors tears only between them.
    let disk = Disk::new(&format!("{SLOW},sector=4096"));
    disk.write(0, &[7; 8192]).unwrap();
    disk.cut(Keep::All, Torn::Prefix, 1);
    disk.device.power_on().unwrap();
    assert_eq!(disk.sectors(0, 16), [[7; 8], [0; 8]].concat());
}

#[test]
fn pending_requests_fail_when_the_power_is_cut() {
    let disk =
        Disk::new("profile=hdd-7200,seek_min=9s,seek_average=10s,seek_max=12s,write_cache=off");
    let read = disk.begin_read(8 << 20, 4096);
    let write = disk.begin_write(4 << 20, &[1; 4096]);
    disk.cut(Keep::None, Torn::No, 0);
    assert_eq!(read.recv().unwrap(), Err(Errno::IO));
    assert_eq!(write.recv().unwrap(), Err(Errno::IO));
    disk.device.power_on().unwrap();
    // The disk works again, as slowly as before.
    let unanswered = disk.begin_read(8 << 20, 4096);
    assert!(unanswered.try_recv().is_err());
}

#[test]
fn errors_and_a_full_disk_come_on_demand_and_go() {
    let disk = Disk::new("profile=none");
    let rules = |text: &str| disk.device.set_errors(serde_json::from_str(text).unwrap());
    rules(r#"[{"kind": "write", "offset": 4096, "length": 4096}]"#).unwrap();
    assert_eq!(disk.write(0, &[1; 4096]), Ok(()));
    assert_eq!(disk.write(4096, &[1; 4096]), Err(Errno::IO));
    assert_eq!(disk.sectors(4096, 8), [0; 8]);
    // Refused rules change nothing.
    assert!(rules(r#"[{"probability": 2}]"#).is_err());
    assert_eq!(disk.write(4096, &[1; 4096]), Err(Errno::IO));
    rules("[]").unwrap();
    assert_eq!(disk.write(4096, &[1; 4096]), Ok(()));
    disk.device.set_full(Some(8192));
    assert_eq!(disk.write(0, &[2; 8192]), Ok(()));
    assert_eq!(disk.write(8192, &[2; 512]), Err(Errno::FULL));
    assert_eq!(disk.flush(), Ok(()));
    assert_eq!(disk.sectors(8192, 1), [0]);
    disk.device.set_full(None);
    assert_eq!(disk.write(8192, &[2; 512]), Ok(()));
    let beyond_the_end = disk.write(SIZE - 512, &[2; 1024]);
    assert_eq!(beyond_the_end, Err(Errno::FULL));
    assert_eq!(disk.read(SIZE - 512, 1024).map(|data| data.len()), Ok(512));
    let counts = disk.device.counters();
    assert_eq!((counts.failed, counts.flushes, counts.pending), (4, 1, 0));
}

#[test]
fn a_disk_without_pace_answers_at_once_and_keeps_everything() {
    let disk = Disk::new(SLOW);
    let waits = disk.begin_flush();
    disk.write(0, &[1; 4096]).unwrap();
    disk.device.set_paced(false).unwrap();
    let began = std::time::Instant::now();
    for number in 1..200_u64 {
        disk.write(number * 4096, &[2; 4096]).unwrap();
        disk.flush().unwrap();
    }
    waits.recv().unwrap().unwrap();
    // A single one of these flushes takes 2 s by the model.
    assert!(began.elapsed().as_secs() < 100);
    assert_eq!(disk.device.volatile_writes(), []);
    disk.device.set_paced(true).unwrap();
    disk.write(0, &[3; 512]).unwrap();
    disk.cut(Keep::None, Torn::No, 0);
    disk.device.power_on().unwrap();
    assert_eq!(disk.sectors(0, 16), [[1; 8], [2; 8]].concat());
}

#[test]
fn a_discard_is_not_undone_by_a_write_before_it() {
    let disk = Disk::new("profile=hdd-7200");
    for round in 0..50 {
        disk.write(0, &[1; 65_536]).unwrap();
        disk.device.zero(4096, 4096).unwrap();
        if round % 2 == 0 {
            disk.flush().unwrap();
        }
        let sectors = disk.sectors(0, 24);
        assert_eq!(sectors[8..16], [0; 8]);
        assert_eq!((sectors[7], sectors[16]), (1, 1));
    }
}

/// The one rule of durability: after a cut every sector has a version that is not older than what the last
/// ended flush covered, and not newer than the last write.
#[test]
fn a_power_cut_at_any_time_leaves_only_what_flushes_allow() {
    const SECTORS: u64 = 64;
    for parameters in [
        "profile=hdd-7200,seek_min=50us,seek_average=100us,seek_max=200us,rpm=600000",
        "profile=scsi-15k,seek_min=50us,seek_average=100us,seek_max=200us,rpm=600000",
        "profile=sata-ssd,program_latency=300us,channels=2",
        "profile=nvme",
        "profile=none",
        "profile=sata-ssd,program_latency=300us,disks=4,raid=10,stripe=4k",
        "profile=sata-ssd,program_latency=300us,disks=3,raid=5,stripe=4k",
    ] {
        let mut dice = Dice(12_345);
        let mut below = |bound| dice.below(bound);
        let disk = Disk::new(parameters);
        let mut version = 0_u64;
        let mut lost_any = false;
        // What may be found in each sector, the oldest first.
        let mut possible: BTreeMap<u64, Vec<u64>> =
            (0..SECTORS).map(|sector| (sector, vec![0])).collect();
        for round in 0..40 {
            let mut flushes = Vec::new();
            for _ in 0..below(60) {
                if below(8) == 0 {
                    // Writes that have ended by now are covered.
                    let newest = |versions: &Vec<u64>| *versions.last().unwrap();
                    let covered = possible.iter().map(|(sector, all)| (*sector, newest(all)));
                    let covered: Vec<(u64, u64)> = covered.collect();
                    flushes.push((disk.begin_flush(), covered));
                } else {
                    version += 1;
                    let first = below(SECTORS);
                    let count = 1 + below((SECTORS - first).min(20));
                    let mut data = Vec::new();
                    for sector in first..first + count {
                        possible.get_mut(&sector).unwrap().push(version);
                        data.extend(version.to_le_bytes().repeat(64));
                    }
                    disk.write(first * 512, &data).unwrap();
                }
            }
            std::thread::sleep(std::time::Duration::from_micros(below(400)));
            // Which flushes ended is known before the cut.
            for (flush, covered) in flushes {
                if flush.try_recv() == Ok(Ok(Vec::new())) {
                    for (sector, oldest) in covered {
                        let versions = possible.get_mut(&sector).unwrap();
                        versions.retain(|version| *version >= oldest);
                    }
                }
            }
            let torn = [Torn::No, Torn::Prefix, Torn::Subset][below(3) as usize];
            let keep = match round % 4 {
                0 => Keep::None,
                _ => Keep::Random,
            };
            lost_any |= disk.cut(keep, torn, round).dropped_bytes > 0;
            disk.device.power_on().unwrap();
            let length = u32::try_from(SECTORS * 512).unwrap();
            let data = disk.read(0, length).unwrap();
            for (sector, bytes) in (0..).zip(data.chunks(512)) {
                let found = u64::from_le_bytes(bytes[..8].try_into().unwrap());
                let versions = possible.get_mut(&sector).unwrap();
                assert!(
                    versions.contains(&found),
                    "{parameters}, round {round}, sector {sector}: {found} of {versions:?}"
                );
                assert!(bytes.chunks(8).all(|word| word == &bytes[..8]));
                *versions = vec![found];
            }
        }
        let is_volatile = !["profile=nvme", "profile=none"].contains(&parameters);
        let may_lose = is_volatile && !parameters.contains("scsi");
        assert_eq!(lost_any, may_lose, "{parameters}");
    }
}
