#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    assay_fuzz::language::script(text);
});
