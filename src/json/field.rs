//! A member of the decision path.

use super::{JsonStr, Value};

#[derive(Clone, Copy, Default)]
pub(crate) enum Field<'a> {
    /// Absent or null.
    #[default]
    Absent,
    Text(JsonStr<'a>),
    WrongType,
}

impl<'a> From<Value<'a>> for Field<'a> {
    fn from(value: Value<'a>) -> Self {
        match value {
            Value::Null => Field::Absent,
            Value::Str(text) => Field::Text(text),
            Value::Other => Field::WrongType,
        }
    }
}

impl Field<'_> {
    /// Whether this is a string that holds a lone surrogate.
    pub(crate) fn is_torn(self) -> bool {
        matches!(self, Field::Text(text) if !text.is_text())
    }
}
