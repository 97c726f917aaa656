//! Memory that crosses the ABI.

use std::ffi::c_char;
use std::slice;

use crate::limits::MAX_DOCUMENT_BYTES;

#[cfg(target_arch = "wasm32")]
pub(super) use super::wasm::{free, to_c_string};
#[cfg(not(target_arch = "wasm32"))]
pub(super) use heap::{free, to_c_string};

/// One byte more than any document may have: enough to see that a longer one is too long.
const ENOUGH: usize = MAX_DOCUMENT_BYTES + 1;

/// The caller's bytes, at most [`ENOUGH`] of them.
pub(super) unsafe fn borrow<'a>(bytes: *const c_char, len: usize) -> &'a [u8] {
    if bytes.is_null() || len == 0 {
        return &[];
    }
    slice::from_raw_parts(bytes.cast(), len.min(ENOUGH))
}

/// The caller's NUL-terminated string, at most [`ENOUGH`] bytes of it; NULL is empty.
pub(super) unsafe fn borrow_string<'a>(string: *const c_char) -> &'a [u8] {
    if string.is_null() {
        return &[];
    }
    borrow(string, bounded_length(string))
}

#[cfg(not(target_arch = "wasm32"))]
unsafe fn bounded_length(string: *const c_char) -> usize {
    libc::strnlen(string, ENOUGH)
}

#[cfg(target_arch = "wasm32")]
unsafe fn bounded_length(string: *const c_char) -> usize {
    (0..ENOUGH).find(|&at| *string.add(at) == 0).unwrap_or(ENOUGH)
}

/// Copies into the caller's buffer, which is large enough and, for no bytes at all, may be NULL.
pub(super) unsafe fn copy_out(bytes: &[u8], buffer: *mut c_char) {
    if !bytes.is_empty() {
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), buffer.cast(), bytes.len());
    }
}

/// Result strings come from C's heap: unlike Rust's, it says when it is exhausted.
#[cfg(not(target_arch = "wasm32"))]
mod heap {
    use super::{c_char, copy_out};

    /// A copy from `malloc`, NUL-terminated; NULL if there is no memory for it.
    pub(in crate::abi) fn to_c_string(text: &str) -> *mut c_char {
        // A decision's JSON escapes control characters, so it holds no NUL.
        unsafe {
            let copy: *mut c_char = libc::malloc(text.len() + 1).cast();
            if !copy.is_null() {
                copy_out(text.as_bytes(), copy);
                *copy.add(text.len()) = 0;
            }
            copy
        }
    }

    pub(in crate::abi) unsafe fn free(string: *mut c_char) {
        libc::free(string.cast());
    }
}
