//! The agent's word about the server that serves the call: Claude's `mcpServer` in a frame, `mcp_server` in a hook
//! payload. It can veto an approval and never grants one.

use crate::json::{Cursor, Field, JsonStr, Keys, Malformed};

/// The source that Claude gives a server that came with the session or the launch. Measured: `project`, `user`, `local`,
/// `agent` and `plugin` are servers that a repository or a user wrote.
pub(crate) const HOST_SOURCE: &str = "dynamic";

#[derive(Clone, Copy, Default)]
pub(crate) enum Claim<'a> {
    /// The agent says nothing.
    #[default]
    Absent,
    /// Not an object with a string `name` and a string `source`.
    Malformed,
    Server {
        /// The configured key of the server, as it was configured.
        name: JsonStr<'a>,
        /// Where the server came from.
        source: JsonStr<'a>,
    },
}

impl<'a> Claim<'a> {
    /// Reads it at the cursor. `unusable` is set when a key clashes or a string is torn.
    pub(crate) fn read(cursor: &mut Cursor<'a>, unusable: &mut bool) -> Result<Self, Malformed> {
        match cursor.token() {
            Some(b'{') => {}
            Some(b'n') => return cursor.skip().map(|()| Claim::Absent),
            _ => return cursor.skip().map(|()| Claim::Malformed),
        }
        let (mut name, mut source) = (Field::Absent, Field::Absent);
        let mut keys = Keys::default();
        cursor.object(|cursor, key| {
            match keys.take(&["name", "source"], key) {
                Some(0) => name = cursor.value()?.into(),
                Some(_) => source = cursor.value()?.into(),
                None => cursor.skip()?,
            }
            Ok(())
        })?;
        *unusable |= keys.clash() || name.is_torn() || source.is_torn();
        Ok(match (name, source) {
            (Field::Text(name), Field::Text(source)) => Claim::Server { name, source },
            _ => Claim::Malformed,
        })
    }
}
