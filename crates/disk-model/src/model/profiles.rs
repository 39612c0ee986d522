//! The disks that have names, with the source of their numbers.
//!
//! A profile is the text that a user could have written: every parameter of it can be overridden.

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
#[must_use]
pub fn profile(name: &str) -> Option<&'static Profile> {
    PROFILES.iter().find(|profile| profile.name == name)
}
