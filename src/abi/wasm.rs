//! What the ABI needs besides when the library is a WebAssembly module: a host can't point into its own memory there, so
//! it asks for room in the module's, and the module has no C library. The module imports nothing.
//!
//! An instance belongs to one thread at a time, and one that has trapped is thrown away: panics abort here.

use std::alloc::{alloc, dealloc, Layout};
use std::ffi::{c_char, CString};

/// Room for `len` bytes of the host's, aligned to 16; NULL when `len` is 0 or there is no memory for it. The host gives it
/// back with `kandev_policy_dealloc`.
#[no_mangle]
pub extern "C" fn kandev_policy_alloc(len: usize) -> *mut u8 {
    match layout(len) {
        // `layout` is `None` for no bytes at all, which `alloc` must not be asked for.
        Some(layout) => unsafe { alloc(layout) },
        None => std::ptr::null_mut(),
    }
}

/// Takes room back. `len` is the one that it was asked for with; NULL is allowed.
///
/// # Safety
///
/// `room` is NULL or came from `kandev_policy_alloc(len)` and has not been given back.
#[no_mangle]
pub unsafe extern "C" fn kandev_policy_dealloc(room: *mut u8, len: usize) {
    if let (false, Some(layout)) = (room.is_null(), layout(len)) {
        dealloc(room, layout);
    }
}

fn layout(len: usize) -> Option<Layout> {
    (len > 0).then(|| Layout::from_size_align(len, 16).ok()).flatten()
}

/// As its native counterpart; exhausted memory traps.
pub(super) fn to_c_string(text: &str) -> *mut c_char {
    CString::new(text).map_or(std::ptr::null_mut(), CString::into_raw)
}

pub(super) unsafe fn free(string: *mut c_char) {
    if !string.is_null() {
        drop(CString::from_raw(string));
    }
}
