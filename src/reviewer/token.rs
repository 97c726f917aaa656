//! Secret tokens (contract 5.4): 256 random bits, shown to nobody but the one they are made for.

use std::fmt;

use base64ct::{Base64UrlUnpadded, Encoding};
use sha2::{Digest as _, Sha256};
use subtle::{Choice, ConstantTimeEq};

use crate::limits::TOKEN_BYTES;

/// Random bytes of the caller's, from a cryptographically secure generator and used for nothing else.
pub type Entropy = [u8; 32];

/// No randomness could be had, so no token was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoEntropy;

impl fmt::Display for NoEntropy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no randomness to make a token from")
    }
}

impl std::error::Error for NoEntropy {}

/// A secret token: [`TOKEN_BYTES`] characters that need no escaping in a URL. `Debug` and `Display` don't show it.
pub struct Token(String);

impl Token {
    /// Where there is an operating system its randomness is in every token, and the caller's is mixed in, so that even
    /// repeated bytes of the caller's do no harm. A WebAssembly module has the caller's alone.
    pub(super) fn fresh(entropy: Option<&Entropy>) -> Result<Self, NoEntropy> {
        let mut bits = system_entropy(entropy.is_some())?;
        for (bit, more) in bits.iter_mut().zip(entropy.into_iter().flatten()) {
            *bit ^= more;
        }
        Ok(Self(Base64UrlUnpadded::encode_string(&bits)))
    }

    /// The token itself, for the process that it is made for, and for nobody's log.
    pub fn expose(&self) -> &str {
        &self.0
    }

    pub(super) fn digest(&self) -> Digest {
        Digest::of(self.0.as_bytes())
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(redacted)")
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(redacted)")
    }
}

#[cfg(not(target_arch = "wasm32"))]
fn system_entropy(_caller_has_some: bool) -> Result<Entropy, NoEntropy> {
    let mut bits = Entropy::default();
    getrandom::fill(&mut bits).map_err(|_| NoEntropy)?;
    Ok(bits)
}

#[cfg(target_arch = "wasm32")]
fn system_entropy(caller_has_some: bool) -> Result<Entropy, NoEntropy> {
    caller_has_some.then(Entropy::default).ok_or(NoEntropy)
}

/// What is kept of a token: enough to know it again, and not enough to use it.
pub(super) struct Digest([u8; 32]);

impl Digest {
    pub(super) fn of(token: &[u8]) -> Self {
        Self(Sha256::digest(token).into())
    }

    /// Whether both are of the same token, in a time that doesn't depend on how alike they are.
    pub(super) fn matches(&self, other: &Digest) -> Choice {
        self.0.ct_eq(&other.0)
    }
}

/// The token in a text that is one, or in a URL: the first segment of its path that is as long as one. Whoever revokes
/// must not miss it for a slash or a newline too many.
pub(super) fn in_url(text: &[u8]) -> &[u8] {
    const AUTHORITY: &[u8] = b"://";
    let at = text.windows(AUTHORITY.len()).position(|window| window == AUTHORITY);
    let mut segments = text.split(|byte| matches!(byte, b'/' | b'?' | b'#'));
    if at.is_some() {
        // The scheme, nothing, and the authority, which could be as long.
        segments.nth(2);
    }
    segments.map(<[u8]>::trim_ascii).find(|segment| is_as_long_as_one(segment)).unwrap_or_default()
}

/// Whether a text can be a token at all. Its length is no secret.
pub(super) fn is_as_long_as_one(text: &[u8]) -> bool {
    text.len() == TOKEN_BYTES
}

#[cfg(test)]
mod tests {
    use super::{in_url, Token};
    use crate::limits::TOKEN_BYTES;

    #[test]
    fn a_token_is_url_safe_and_holds_256_bits() {
        let token = Token::fresh(None).unwrap();
        assert_eq!(token.expose().len(), TOKEN_BYTES);
        assert!(token.expose().bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_')));
        assert_eq!(TOKEN_BYTES, 256_usize.div_ceil(6));
    }

    #[test]
    fn repeated_entropy_of_the_caller_does_no_harm() {
        let (one, other) = (Token::fresh(Some(&[7; 32])).unwrap(), Token::fresh(Some(&[7; 32])).unwrap());
        assert_ne!(one.expose(), other.expose());
    }

    #[test]
    fn the_token_is_found_in_every_form_of_its_url() {
        const TOKEN: &str = "0123456789abcdefghijklmnopqrstuvwxyzABCDE-_";
        assert_eq!(TOKEN.len(), TOKEN_BYTES);
        for form in [
            "{}",
            "{}\n",
            " {} ",
            "{}/",
            "/{}/codex/permission-request",
            "127.0.0.1:1/{}",
            "//127.0.0.1:1/{}",
            "http://127.0.0.1:1/{}",
            "http://127.0.0.1:1/{}\n",
            "http://127.0.0.1:1//{}",
            "http://[::1]:1/{}/",
            "http://a-name-of-a-host-that-is-as-long-as-a-token/{}",
            "x://h/{}/codex/p?q",
            "x://h/{}?q",
            "x://h/{}#f",
        ] {
            assert_eq!(in_url(form.replace("{}", TOKEN).as_bytes()), TOKEN.as_bytes(), "{form}");
        }
        for form in ["", "http://h/", "http://{}", "http://h/x{}", "tok"] {
            assert_eq!(in_url(form.replace("{}", TOKEN).as_bytes()), b"", "{form}");
        }
    }
}
