//! Tells where a statement may stand, from tokens alone.
//!
//! A label comment becomes a statement, so it must stand where a statement may: in a function's
//! body, after a `{`, `}`, `;` or a label's `:`. The tracker follows braces and parentheses and
//! knows the braces of blocks from those of records, enumerations and initialisers by the token
//! before them. It sees preprocessed text, so there are no macros that could hide a bracket.

/// A token as far as the structure needs it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Token<'a> {
    /// An identifier, keyword or number.
    Word(&'a [u8]),
    /// A string or character literal.
    Literal,
    /// One character of punctuation.
    Punct(u8),
}

/// What the last token was, as far as the next one's meaning needs it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Last {
    /// Nothing yet, or something after which no statement begins.
    Other,
    /// A point where a statement may begin.
    StatementStart,
    /// `else`: a statement follows, but a further one would change the meaning.
    Else,
    /// `do`.
    Do,
    /// `if`, `for`, `while` or `switch`.
    Control,
    /// `__attribute__` and its like, transparent with their argument.
    Attribute,
    /// `(`.
    Open,
    /// `)` that ends the head of a control statement.
    ControlHead,
    /// Any other `)`.
    Close,
    /// `;` at file scope, or in parentheses or records.
    Semicolon,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Frame {
    /// A block of statements.
    Block {
        /// Whether it is the body of `do`, after which `while` must follow.
        of_do: bool,
        /// Whether the current statement has a `?` whose `:` is still to come.
        question: bool,
    },
    /// Braces of a record, an enumeration or an initialiser.
    Braces,
    /// Parentheses or brackets; `after` is what `)` turns into.
    Parens { after: Last },
}

/// The structure up to some point of the text.
#[derive(Debug)]
pub(super) struct Blocks {
    frames: Vec<Frame>,
    last: Last,
    before_attribute: Last,
}

impl Blocks {
    pub(super) const fn new() -> Self {
        Self { frames: Vec::new(), last: Last::Semicolon, before_attribute: Last::Other }
    }

    /// Whether a statement could be put here. The next token still has to be no `else`.
    pub(super) fn at_statement_start(&self) -> bool {
        self.last == Last::StatementStart && matches!(self.frames.last(), Some(Frame::Block { .. }))
    }

    /// Whether the point is directly in a block, not in a record or initialiser within it.
    pub(super) fn in_block(&self) -> bool {
        let mut inner = self.frames.iter().rev();
        matches!(
            inner.find(|frame| !matches!(frame, Frame::Parens { .. })),
            Some(Frame::Block { .. })
        )
    }

    /// Goes past one token.
    pub(super) fn advance(&mut self, token: Token<'_>) {
        match token {
            Token::Literal => self.last = Last::Other,
            Token::Word(word) => self.word(word),
            Token::Punct(b'(' | b'[') => self.open(),
            Token::Punct(b')' | b']') => self.close(),
            Token::Punct(b'{') => self.open_brace(),
            Token::Punct(b'}') => self.close_brace(),
            Token::Punct(b';') => self.semicolon(),
            Token::Punct(b'?') => {
                if let Some(Frame::Block { question, .. }) = self.frames.last_mut() {
                    *question = true;
                }
                self.last = Last::Other;
            }
            Token::Punct(b':') => self.colon(),
            Token::Punct(_) => self.last = Last::Other,
        }
    }

    fn word(&mut self, word: &[u8]) {
        self.last = match word {
            b"else" => Last::Else,
            b"do" => Last::Do,
            b"if" | b"for" | b"while" | b"switch" => Last::Control,
            b"__attribute__" | b"__attribute" | b"__declspec" | b"_Alignas" | b"__asm__"
            | b"asm" | b"__asm" => {
                self.before_attribute = self.last;
                Last::Attribute
            }
            _ => Last::Other,
        };
    }

    fn open(&mut self) {
        let after = match self.last {
            Last::Control => Last::ControlHead,
            Last::Attribute => self.before_attribute,
            _ => Last::Close,
        };
        self.frames.push(Frame::Parens { after });
        self.last = Last::Open;
    }

    fn close(&mut self) {
        self.last = match self.frames.last() {
            Some(Frame::Parens { after }) => {
                let after = *after;
                self.frames.pop();
                after
            }
            _ => Last::Close,
        };
    }

    fn open_brace(&mut self) {
        let is_block = match self.frames.last() {
            None => matches!(self.last, Last::Close | Last::Semicolon),
            Some(Frame::Block { .. }) => matches!(
                self.last,
                Last::StatementStart | Last::Else | Last::Do | Last::ControlHead
            ),
            Some(Frame::Parens { .. }) => self.last == Last::Open,
            Some(Frame::Braces) => false,
        };
        if is_block {
            self.frames.push(Frame::Block { of_do: self.last == Last::Do, question: false });
            self.last = Last::StatementStart;
        } else {
            self.frames.push(Frame::Braces);
            self.last = Last::Other;
        }
    }

    fn close_brace(&mut self) {
        // Unbalanced parentheses are the compiler's to report: close up to the brace.
        while matches!(self.frames.last(), Some(Frame::Parens { .. })) {
            self.frames.pop();
        }
        let closed = self.frames.pop();
        self.last = match closed {
            Some(Frame::Block { of_do: false, .. }) => Last::StatementStart,
            _ => Last::Other,
        };
        self.end_statement();
        if self.frames.is_empty() && matches!(closed, Some(Frame::Block { .. })) {
            self.last = Last::Semicolon;
        }
    }

    fn semicolon(&mut self) {
        self.last = match self.frames.last() {
            Some(Frame::Block { .. }) => Last::StatementStart,
            _ => Last::Semicolon,
        };
        self.end_statement();
    }

    fn colon(&mut self) {
        self.last = match self.frames.last_mut() {
            Some(Frame::Block { question, .. }) if *question => {
                *question = false;
                Last::Other
            }
            Some(Frame::Block { .. }) => Last::StatementStart,
            _ => Last::Other,
        };
    }

    fn end_statement(&mut self) {
        if let Some(Frame::Block { question, .. }) = self.frames.last_mut() {
            *question = false;
        }
    }
}
