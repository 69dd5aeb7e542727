//! Work units as a worker is sent them.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| datafusion_lance_index_distributed::fuzz::read(bytes));
