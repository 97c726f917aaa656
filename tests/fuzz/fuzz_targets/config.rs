#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let _ = kandev_policy_fuzz::config(input);
});
