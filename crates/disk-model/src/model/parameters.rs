//! Takes `KEY=VALUE,…` as users write it; returns the parameters of a disk or an array, and makes it. Holds the disks that
//! have names, with the source of their numbers: each is a text that a user could have written.

use std::collections::BTreeMap;

use crate::error::DiskError;
use crate::model::Disk;
use crate::model::array::{ArrayDisk, Layout, Raid};
use crate::model::disk::ImmediateDisk;
use crate::model::rotating::{RotatingDisk, RotatingParameters};
use crate::model::solid_state::{SolidStateDisk, SolidStateParameters};

const DEFAULT_PROFILE: &str = "hdd-7200";
/// What no profile says.
const DEFAULTS: &str = "disks=1,stripe=64k,seed=1,sector=512";
/// A parameter, as users write it.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// As in `NAME=VALUE`.
    pub name: &'static str,
    /// The kinds of disks that have it; all if there are none here.
    pub kinds: &'static [&'static str],
    /// What it says, and what its values look like.
    pub help: &'static str,
}

const ROTATING: &[&str] = &["rotating"];
const SOLID_STATE: &[&str] = &["solid-state"];
const BOTH: &[&str] = &["rotating", "solid-state"];

const fn key(name: &'static str, kinds: &'static [&'static str], help: &'static str) -> Key {
    Key { name, kinds, help }
}

/// All parameters.
#[rustfmt::skip]
pub const KEYS: &[Key] = &[
    key("profile", &[], "The disk whose parameters the others override."),
    key("disks", &[], "How many disks make one, 1 to 64; more than one needs raid."),
    key("raid", &[], "How they do: 0, 1, 10 or 5."),
    key("stripe", &[], "Bytes on one disk before the next one follows, as 64k."),
    key("seed", &[], "Of every random number."),
    key("sector", &[], "Bytes that a power cut does not tear: 512 or 4096."),
    key("rpm", ROTATING, "Revolutions per minute."),
    key("seek_min", ROTATING, "Seek to the next track, as 0.3ms."),
    key("seek_average", ROTATING, "Seek over all pairs of tracks."),
    key("seek_max", ROTATING, "Seek over the full stroke."),
    key("rate_outer", ROTATING, "Sustained transfer at the outer edge, as 125MB/s."),
    key("rate_inner", ROTATING, "Sustained transfer at the inner edge."),
    key("track_buffer", ROTATING, "How far the disk reads ahead, as 2M; off for not at all."),
    key("capacity", ROTATING, "Size of the whole disk, of which the image is the outer part, as 73G."),
    key("channels", SOLID_STATE, "Units of flash that work at the same time."),
    key("page", SOLID_STATE, "What a unit reads or programs at once, as 16k."),
    key("read_latency", SOLID_STATE, "To read a page, as 50us."),
    key("program_latency", SOLID_STATE, "To program a page."),
    key("power_loss_protection", SOLID_STATE, "Whether the write cache survives a power cut: on or off."),
    key("flush_latency", SOLID_STATE, "What a flush takes beside the writes it waits for."),
    key("gc_every", SOLID_STATE, "Programmed bytes between two pauses to collect garbage, on average; off for none."),
    key("gc_pause", SOLID_STATE, "Length of such a pause, on average."),
    key("overhead", BOTH, "The controller's time for each request."),
    key("interface_rate", BOTH, "Between the disk and the computer, as 320MB/s."),
    key("queue", BOTH, "Requests inside the disk; a rotating disk chooses among them."),
    key("write_cache", BOTH, "Bytes of written data that the disk holds in memory, as 16M; off for none."),
];

/// What one disk is.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// Without delays.
    None,
    /// With an arm and platters.
    Rotating(RotatingParameters),
    /// With flash.
    SolidState(SolidStateParameters),
}

/// Everything that determines a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    /// From which the others were taken where they are not given.
    pub profile: &'static str,
    /// Each disk.
    pub kind: Kind,
    /// How many disks.
    pub disks: usize,
    /// How they make one; none for a single disk.
    pub raid: Option<Raid>,
    /// Size of the array's stripes.
    pub stripe_bytes: u64,
    /// Of every random number.
    pub seed: u64,
    /// What a power cut does not tear.
    pub sector_bytes: u64,
    /// All of it as users write it, those of the profile included: for the record of a run.
    pub effective: BTreeMap<String, String>,
}

/// `KEY=VALUE,…` as pairs.
fn pairs(text: &str) -> Result<Vec<(&str, &str)>, DiskError> {
    let given = text
        .split(',')
        .map(str::trim)
        .filter(|pair| !pair.is_empty());
    let pairs: Vec<(&str, &str)> = given
        .map(|pair| {
            pair.split_once('=')
                .map(|(key, value)| (key.trim(), value.trim()))
                .ok_or_else(|| {
                    DiskError::argument(format!(
                        "expected KEY=VALUE, separated by commas, found {pair:?}"
                    ))
                })
        })
        .collect::<Result<_, _>>()?;
    for (index, (key, _)) in pairs.iter().enumerate() {
        if pairs[..index].iter().any(|(other, _)| other == key) {
            return Err(DiskError::argument(format!("{key}: given twice")));
        }
    }
    Ok(pairs)
}

impl Parameters {
    /// Reads `profile=scsi-15k,queue=1,…`; the default profile is `hdd-7200`.
    ///
    /// # Errors
    ///
    /// An unknown parameter, one that this kind of disk does not have, or a value that is impossible.
    pub fn parse(text: &str) -> Result<Self, DiskError> {
        let given = pairs(text)?;
        let named = given.iter().find(|(key, _)| *key == "profile");
        let name = named.map_or(DEFAULT_PROFILE, |(_, value)| value);
        let profile = profile(name).ok_or_else(|| {
            let known: Vec<&str> = PROFILES.iter().map(|profile| profile.name).collect();
            DiskError::hinted(
                format!("profile: there is no profile {name:?}"),
                format!("there are {}", known.join(", ")),
            )
        })?;
        let mut parameters = Self {
            profile: profile.name,
            kind: empty(profile),
            disks: 1,
            raid: None,
            stripe_bytes: 0,
            seed: 0,
            sector_bytes: 0,
            effective: BTreeMap::from([("profile".to_owned(), name.to_owned())]),
        };
        let profiled = pairs(profile.parameters)?;
        for (key, value) in pairs(DEFAULTS)?.into_iter().chain(profiled).chain(given) {
            parameters.set(key, value)?;
            parameters
                .effective
                .insert(key.to_owned(), value.to_owned());
        }
        if parameters.disks > 1 && parameters.raid.is_none() {
            return Err(DiskError::hinted(
                format!("disks: {} disks need raid=0, 1, 10 or 5", parameters.disks),
                format!("as in disks={},raid=10", parameters.disks),
            ));
        }
        if let Some(raid) = parameters.raid {
            Layout::new(raid, parameters.disks, parameters.stripe_bytes)?;
        }
        parameters.build(1 << 30).map(|_| ()).or_else(|error| {
            // A capacity is compared with the size of the image when that is known.
            if error.to_string().starts_with("capacity:") {
                Ok(())
            } else {
                Err(error)
            }
        })?;
        Ok(parameters)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), DiskError> {
        match key {
            "profile" => {}
            "disks" => self.disks = count(key, value, 1, 64)?,
            "seed" => self.seed = whole(key, value, 0, u64::MAX)?,
            "stripe" => {
                let bytes = size_bytes(key, value)?;
                if !bytes.is_multiple_of(4096) || !(4096..=16 << 20).contains(&bytes) {
                    return Err(DiskError::argument(format!(
                        "stripe: expected a multiple of 4096 bytes, at most 16M, found {value:?}"
                    )));
                }
                self.stripe_bytes = bytes;
            }
            "sector" => {
                self.sector_bytes = match value {
                    "512" => 512,
                    "4096" | "4k" => 4096,
                    _ => {
                        return Err(DiskError::argument(format!(
                            "sector: expected 512 or 4096, found {value:?}"
                        )));
                    }
                }
            }
            "raid" => {
                self.raid = Some(match value {
                    "0" => Raid::Raid0,
                    "1" => Raid::Raid1,
                    "10" => Raid::Raid10,
                    "5" => Raid::Raid5,
                    _ => {
                        return Err(DiskError::argument(format!(
                            "raid: expected 0, 1, 10 or 5, found {value:?}"
                        )));
                    }
                });
            }
            _ => {
                let is_known = match &mut self.kind {
                    Kind::None => false,
                    Kind::Rotating(disk) => set_rotating(disk, key, value)?,
                    Kind::SolidState(drive) => set_solid_state(drive, key, value)?,
                };
                if !is_known {
                    return Err(self.unknown(key));
                }
            }
        }
        Ok(())
    }

    fn unknown(&self, key: &str) -> DiskError {
        let own = self.kind_name();
        let known: Vec<&str> = KEYS
            .iter()
            .filter(|key| key.kinds.is_empty() || key.kinds.contains(&own))
            .map(|key| key.name)
            .collect();
        DiskError::hinted(
            format!(
                "{key}: a disk of the profile {:?} has no such parameter",
                self.profile
            ),
            format!("it has {}", known.join(", ")),
        )
    }

    /// As profiles and keys name it.
    pub fn kind_name(&self) -> &'static str {
        match self.kind {
            Kind::None => "none",
            Kind::Rotating(_) => "rotating",
            Kind::SolidState(_) => "solid-state",
        }
    }

    /// Where the numbers of the profile come from.
    pub fn source(&self) -> &'static str {
        profile(self.profile).map_or("", |profile| profile.source)
    }

    /// A disk at rest that holds so many bytes.
    ///
    /// # Errors
    ///
    /// Parameters that contradict each other or the size.
    pub fn build(&self, size_bytes: u64) -> Result<Box<dyn Disk>, DiskError> {
        let Some(raid) = self.raid else {
            return self.build_member(size_bytes, 0);
        };
        let layout = Layout::new(raid, self.disks, self.stripe_bytes)?;
        let member_bytes = layout.member_bytes(size_bytes);
        let members = (0..self.disks as u64)
            .map(|number| self.build_member(member_bytes, number))
            .collect::<Result<_, _>>()?;
        Ok(Box::new(ArrayDisk::new(layout, members)))
    }

    fn build_member(&self, size_bytes: u64, number: u64) -> Result<Box<dyn Disk>, DiskError> {
        Ok(match &self.kind {
            Kind::None => Box::new(ImmediateDisk::default()),
            Kind::Rotating(disk) => Box::new(RotatingDisk::new(disk.clone(), size_bytes)?),
            Kind::SolidState(drive) => {
                let seed = self.seed.wrapping_add(number.wrapping_mul(0x9e37_79b9));
                Box::new(SolidStateDisk::new(drive.clone(), seed))
            }
        })
    }
}

fn count(key: &str, value: &str, least: u64, most: u64) -> Result<usize, DiskError> {
    let number = whole(key, value, least, most)?;
    Ok(usize::try_from(number).unwrap_or(usize::MAX))
}

/// `off` or a size.
fn cache_bytes(key: &str, value: &str) -> Result<u64, DiskError> {
    if value == "off" {
        return Ok(0);
    }
    size_bytes(key, value).map_err(|_| {
        DiskError::argument(format!(
            "{key}: expected off or a size, as 16M, found {value:?}"
        ))
    })
}

/// To be filled from the profile, which has every parameter.
fn empty(profile: &Profile) -> Kind {
    match profile.kind {
        "rotating" => Kind::Rotating(RotatingParameters {
            rpm: 0,
            seek_min_ns: 0,
            seek_average_ns: 0,
            seek_max_ns: 0,
            rate_outer: 0,
            rate_inner: 0,
            overhead_ns: 0,
            interface_rate: 0,
            track_buffer_bytes: 0,
            queue: 0,
            write_cache_bytes: 0,
            capacity_bytes: None,
        }),
        "solid-state" => Kind::SolidState(SolidStateParameters {
            channels: 0,
            page_bytes: 0,
            read_latency_ns: 0,
            program_latency_ns: 0,
            overhead_ns: 0,
            interface_rate: 0,
            queue: 0,
            write_cache_bytes: 0,
            is_protected: false,
            flush_latency_ns: 0,
            gc_every_bytes: 0,
            gc_pause_ns: 0,
        }),
        _ => Kind::None,
    }
}

/// Whether there is such a parameter.
fn set_rotating(disk: &mut RotatingParameters, key: &str, value: &str) -> Result<bool, DiskError> {
    match key {
        "rpm" => disk.rpm = whole(key, value, 60, 1_000_000)?,
        "seek_min" => disk.seek_min_ns = duration_ns(key, value)?,
        "seek_average" => disk.seek_average_ns = duration_ns(key, value)?,
        "seek_max" => disk.seek_max_ns = duration_ns(key, value)?,
        "rate_outer" => disk.rate_outer = rate_bytes_per_s(key, value)?,
        "rate_inner" => disk.rate_inner = rate_bytes_per_s(key, value)?,
        "overhead" => disk.overhead_ns = duration_ns(key, value)?,
        "interface_rate" => disk.interface_rate = rate_bytes_per_s(key, value)?,
        "track_buffer" => disk.track_buffer_bytes = cache_bytes(key, value)?,
        "queue" => disk.queue = count(key, value, 1, 1024)?,
        "write_cache" => disk.write_cache_bytes = cache_bytes(key, value)?,
        "capacity" => disk.capacity_bytes = Some(size_bytes(key, value)?),
        _ => return Ok(false),
    }
    Ok(true)
}

/// Whether there is such a parameter.
fn set_solid_state(
    drive: &mut SolidStateParameters,
    key: &str,
    value: &str,
) -> Result<bool, DiskError> {
    match key {
        "channels" => drive.channels = count(key, value, 1, 4096)?,
        "page" => {
            drive.page_bytes = size_bytes(key, value)?;
            if !(512..=16 << 20).contains(&drive.page_bytes) {
                return Err(DiskError::argument(format!(
                    "page: expected 512 bytes to 16M, found {value:?}"
                )));
            }
        }
        "read_latency" => drive.read_latency_ns = duration_ns(key, value)?,
        "program_latency" => drive.program_latency_ns = duration_ns(key, value)?,
        "overhead" => drive.overhead_ns = duration_ns(key, value)?,
        "interface_rate" => drive.interface_rate = rate_bytes_per_s(key, value)?,
        "queue" => drive.queue = count(key, value, 1, 65_536)?,
        "write_cache" => drive.write_cache_bytes = cache_bytes(key, value)?,
        "power_loss_protection" => drive.is_protected = switch(key, value)?,
        "flush_latency" => drive.flush_latency_ns = duration_ns(key, value)?,
        "gc_every" => drive.gc_every_bytes = cache_bytes(key, value)?,
        "gc_pause" => drive.gc_pause_ns = duration_ns(key, value)?,
        _ => return Ok(false),
    }
    Ok(true)
}

fn number(text: &str) -> Option<f64> {
    let is_plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    text.parse()
        .ok()
        .filter(|value: &f64| is_plain && value.is_finite())
}

fn split(text: &str) -> (&str, &str) {
    let at = text
        .find(|letter: char| !letter.is_ascii_digit() && letter != '.')
        .unwrap_or(text.len());
    text.split_at(at)
}

fn expected(name: &str, what: &str, found: &str) -> DiskError {
    DiskError::argument(format!("{name}: expected {what}, found {found:?}"))
}

/// A number with `factor` of its unit, as a whole number.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be within range"
)]
fn scaled(value: f64, factor: f64) -> Option<u64> {
    let product = (value * factor).round();
    (product < 9e18).then_some(product as u64)
}

/// `4ms`, `85us`, `1.5s`, `500ns`, in nanoseconds.
pub(crate) fn duration_ns(name: &str, text: &str) -> Result<u64, DiskError> {
    let (digits, unit) = split(text);
    let factor = match unit {
        "ns" => 1.0,
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "" if digits == "0" => 1.0,
        _ => 0.0,
    };
    number(digits)
        .filter(|_| factor > 0.0)
        .and_then(|value| scaled(value, factor))
        .ok_or_else(|| expected(name, "a time with its unit, as 4ms, 85us or 1.5s", text))
}

/// `4096`, `64k`, `16M`, `2G`, in bytes; the units are powers of 1024, as those of mount(8) and losetup(8).
pub(crate) fn size_bytes(name: &str, text: &str) -> Result<u64, DiskError> {
    let (digits, unit) = split(text);
    let factor = match unit {
        "" => 1.0,
        "k" | "K" => 1024.0,
        "M" => 1_048_576.0,
        "G" => 1_073_741_824.0,
        "T" => 1_099_511_627_776.0,
        _ => 0.0,
    };
    number(digits)
        .filter(|_| factor > 0.0)
        .and_then(|value| scaled(value, factor))
        .ok_or_else(|| expected(name, "a size in bytes, as 65536, 64k, 16M or 2G", text))
}

/// `120MB/s`, in bytes per second; the units are powers of 1000, as those of data sheets.
pub(crate) fn rate_bytes_per_s(name: &str, text: &str) -> Result<u64, DiskError> {
    let (digits, unit) = split(text);
    let factor = match unit {
        "kB/s" => 1e3,
        "MB/s" => 1e6,
        "GB/s" => 1e9,
        _ => 0.0,
    };
    number(digits)
        .filter(|_| factor > 0.0)
        .and_then(|value| scaled(value, factor))
        .filter(|rate| *rate > 0)
        .ok_or_else(|| expected(name, "a rate above 0, as 120MB/s or 1.5GB/s", text))
}

/// A whole number within bounds.
pub(crate) fn whole(name: &str, text: &str, least: u64, most: u64) -> Result<u64, DiskError> {
    text.parse()
        .ok()
        .filter(|value| (least..=most).contains(value))
        .ok_or_else(|| {
            expected(
                name,
                &format!("a whole number from {least} to {most}"),
                text,
            )
        })
}

/// `on` or `off`.
pub(crate) fn switch(name: &str, text: &str) -> Result<bool, DiskError> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(expected(name, "on or off", text)),
    }
}

/// A named set of parameters.
#[derive(Clone, Copy, Debug)]
pub struct Profile {
    /// As in `profile=NAME`.
    pub name: &'static str,
    /// `rotating`, `solid-state` or `none`.
    pub kind: &'static str,
    /// Where the numbers come from.
    pub source: &'static str,
    /// The parameters, as users write them.
    pub parameters: &'static str,
}

/// All profiles, the oldest disk first.
pub const PROFILES: &[Profile] = &[
    Profile {
        name: "scsi-10k",
        kind: "rotating",
        source: "the class of the 10,000 rpm SCSI disks of 2003 and 2004 (Maxtor Atlas 10K IV, Seagate Cheetah \
                 10K.6): seek times of about 0.3, 4.5 and 10 ms, 37 to 72 MB/s, 8 MB buffer, Ultra320; write \
                 cache off, as SCSI disks are delivered for servers",
        parameters: "rpm=10000,seek_min=0.3ms,seek_average=4.5ms,seek_max=10ms,rate_outer=72MB/s,\
                     rate_inner=37MB/s,overhead=100us,interface_rate=320MB/s,track_buffer=1M,queue=32,\
                     write_cache=off",
    },
    Profile {
        name: "scsi-15k",
        kind: "rotating",
        source: "the class of the 15,000 rpm SCSI and SAS disks of 2005 to 2008 (Seagate Cheetah 15K.5, Hitachi \
                 Ultrastar 15K450): average seek 3.3 to 3.6 ms, 73 to 125 MB/s, 16 MB buffer; write cache off, as \
                 they are delivered for servers",
        parameters: "rpm=15000,seek_min=0.3ms,seek_average=3.5ms,seek_max=7.4ms,rate_outer=125MB/s,\
                     rate_inner=73MB/s,overhead=100us,interface_rate=320MB/s,track_buffer=2M,queue=32,\
                     write_cache=off",
    },
    Profile {
        name: "hdd-7200",
        kind: "rotating",
        source: "the class of the 7,200 rpm SATA disks of 2009 and later (Hitachi Deskstar 7K1000.C: average seek \
                 8.5 ms, 32 MB buffer, native command queue of 32; about 150 MB/s at the outer edge and half of \
                 it at the inner one), write cache on, as they are delivered",
        parameters: "rpm=7200,seek_min=0.8ms,seek_average=8.5ms,seek_max=18ms,rate_outer=150MB/s,\
                     rate_inner=75MB/s,overhead=100us,interface_rate=300MB/s,track_buffer=4M,queue=32,\
                     write_cache=16M",
    },
    Profile {
        name: "sata-ssd",
        kind: "solid-state",
        source: "the class of SATA drives of 2012 and 2013 (Samsung 840 Pro and 840 EVO: 540 and 520 MB/s, 10,000 \
                 random reads of 4 KiB per second at depth 1, about 97,000 at depth 32); their volatile cache must \
                 be programmed before a flush ends",
        parameters: "channels=32,page=16k,read_latency=90us,program_latency=900us,overhead=3us,\
                     interface_rate=540MB/s,queue=32,write_cache=32M,power_loss_protection=off,flush_latency=200us,\
                     gc_every=256M,gc_pause=10ms",
    },
    Profile {
        name: "fusion-io",
        kind: "solid-state",
        source: "Fusion-io ioDrive of 2008 and 2009 (data sheet: 700 MB/s reads, 500 to 600 MB/s writes, 60,000 to \
                 100,000 random requests of 4 KiB per second; ioDrive2: 47 to 68 us read and 15 us write access \
                 latency); acknowledged writes survive a power cut",
        parameters: "channels=24,page=8k,read_latency=50us,program_latency=350us,overhead=8us,\
                     interface_rate=700MB/s,queue=128,write_cache=4M,power_loss_protection=on,flush_latency=0,\
                     gc_every=1G,gc_pause=2ms",
    },
    Profile {
        name: "nvme",
        kind: "solid-state",
        source: "the class of PCIe 3.0 x4 data-centre drives of about 2018: 3.2 GB/s, about 80 us for a random \
                 read, 500,000 random reads per second; capacitors protect the cache, which takes a write of \
                 4 KiB in 2 us, to which the I/O path overhead comes",
        parameters: "channels=64,page=16k,read_latency=75us,program_latency=600us,overhead=700ns,\
                     interface_rate=3.2GB/s,queue=1024,write_cache=64M,power_loss_protection=on,flush_latency=5us,\
                     gc_every=2G,gc_pause=1ms",
    },
    Profile {
        name: "none",
        kind: "none",
        source: "no delay: shows what the way to a modelled disk costs",
        parameters: "",
    },
];

/// The profile of a name.
pub fn profile(name: &str) -> Option<&'static Profile> {
    PROFILES.iter().find(|profile| profile.name == name)
}
