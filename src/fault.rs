//! Panics at named stages, for the tests of what happens then. In every build without the `fault-injection` feature the
//! function is empty and nothing of this is left.

#[cfg(not(feature = "fault-injection"))]
#[inline(always)]
pub(crate) fn point(_stage: &'static str) {}

#[cfg(feature = "fault-injection")]
pub(crate) use armed::{arm, point};

#[cfg(feature = "fault-injection")]
mod armed {
    use std::sync::Mutex;

    static STAGE: Mutex<String> = Mutex::new(String::new());

    /// Makes every call panic that comes to `stage`; an empty stage makes none.
    pub(crate) fn arm(stage: &str) {
        *STAGE.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = stage.to_owned();
    }

    pub(crate) fn point(stage: &'static str) {
        let armed = STAGE.lock().is_ok_and(|armed| *armed == stage);
        assert!(!armed, "injected fault");
    }
}
