//! A wrong program: it reads one byte behind a block. The address sanitizer must say so, or it isn't there.

fn main() {
    let block = vec![1u8; std::env::args().count() * 16].into_boxed_slice();
    let behind = std::hint::black_box(block.as_ptr()).wrapping_add(block.len());
    println!("{}", unsafe { behind.read() });
}
