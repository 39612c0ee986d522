#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| assay_fuzz::wire::any(assay_fuzz::wire::server, data));
