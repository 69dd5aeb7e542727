//! Records, policies and the outcomes of work units.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| datafusion_lance_index::fuzz::read(bytes));
