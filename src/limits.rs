//! Every limit, by name. Sizes are bytes.

/// The longest frame and the longest config; a longer one is malformed (contract 4.2).
pub const MAX_DOCUMENT_BYTES: usize = 16 * 1024 * 1024;

/// The longest qualified tool name (contract 4.3, step 8).
pub const MAX_TOOL_NAME_BYTES: usize = 256;

/// The longest hook payload (contract 5.1, step 1).
pub const MAX_HOOK_BODY_BYTES: usize = 1024 * 1024;

/// The length of a token (contract 5.4): 256 bits in base64, URL-safe and unpadded.
pub const TOKEN_BYTES: usize = 43;
