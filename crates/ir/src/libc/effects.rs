//! Effects of library functions on the memory behind their arguments.

/// A set of parameters, by position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Params(u8);

impl Params {
    const NONE: Self = Self(0);

    const fn with(self, position: u8) -> Self {
        Self(self.0 | 1 << position)
    }

    /// Whether the parameter at a position is one of them.
    pub const fn contains(self, position: usize) -> bool {
        position < u8::BITS as usize && self.0 >> position & 1 == 1
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Their positions, in order.
    pub fn positions(self) -> impl Iterator<Item = usize> {
        (0..u8::BITS as usize).filter(move |position| self.contains(*position))
    }

    /// How many parameters there are before the first one that is none of them.
    pub const fn leading(self) -> usize {
        self.0.trailing_ones() as usize
    }
}

/// The effects of a function, for analyses that do not follow the call. A table's row makes one out
/// of [`Effects::NONE`] by the functions below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effects {
    /// The parameters through which it may read, texts among them.
    pub reads: Params,
    /// The parameters that point to a text, which it may read to its end.
    pub texts: Params,
    /// The parameters through which it may write.
    pub writes: Params,
    /// The parameters through which it reads or writes whatever else it is given: a null pointer there
    /// is a fault.
    pub needs: Params,
    /// The parameters that it may store where others find them.
    pub keeps: Params,
    /// The parameters into whose objects its result may point.
    pub returns: Params,
    /// The parameters whose objects it may free.
    pub frees: Params,
    /// Where bytes are copied to and from: what lies there afterwards may have a pointer in it.
    pub copies: Option<(u8, u8)>,
    /// Whether it may end the run in a fault without an access that is one.
    pub traps: bool,
    /// Whether it may set the error number though its model does not.
    pub errno: bool,
}

impl Effects {
    /// Those of a function of numbers.
    pub const NONE: Self = Self {
        reads: Params::NONE,
        texts: Params::NONE,
        writes: Params::NONE,
        needs: Params::NONE,
        keeps: Params::NONE,
        returns: Params::NONE,
        frees: Params::NONE,
        copies: None,
        traps: false,
        errno: false,
    };

    pub(super) const fn reads(self, position: u8) -> Self {
        Self { reads: self.reads.with(position), ..self }
    }

    pub(super) const fn text(self, position: u8) -> Self {
        let texts = self.texts.with(position);
        Self { texts, reads: self.reads.with(position), ..self }
    }

    pub(super) const fn writes(self, position: u8) -> Self {
        Self { writes: self.writes.with(position), ..self }
    }

    pub(super) const fn needs(self, position: u8) -> Self {
        Self { needs: self.needs.with(position), ..self }
    }

    pub(super) const fn keeps(self, position: u8) -> Self {
        Self { keeps: self.keeps.with(position), ..self }
    }

    pub(super) const fn returns(self, position: u8) -> Self {
        Self { returns: self.returns.with(position), ..self }
    }

    pub(super) const fn frees(self, position: u8) -> Self {
        Self { frees: self.frees.with(position), ..self }
    }

    pub(super) const fn copies(self, to: u8, from: u8) -> Self {
        Self { copies: Some((to, from)), ..self }
    }

    pub(super) const fn traps(self) -> Self {
        Self { traps: true, ..self }
    }

    pub(super) const fn errno(self) -> Self {
        Self { errno: true, ..self }
    }
}

/// Properties of a function's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traits {
    /// Whether programs call it as `__builtin_name`, too.
    pub builtin: bool,
    /// Of how many arguments `__builtin___name_chk` is the plain function's, if there is one: the others
    /// are what checks it.
    pub checked: Option<u8>,
    /// Whether older systems' libraries do not have it: a program that calls it there has it from
    /// elsewhere.
    pub newer: bool,
    /// Whether C says of it that it writes to no variable of the program but to what its arguments
    /// point to, and those who do not follow it rely on that.
    pub confined: bool,
}

impl Traits {
    pub(super) const NONE: Self =
        Self { builtin: false, checked: None, newer: false, confined: false };

    pub(super) const fn builtin(self) -> Self {
        Self { builtin: true, ..self }
    }

    pub(super) const fn checked(self, arguments: u8) -> Self {
        Self { checked: Some(arguments), ..self }
    }

    pub(super) const fn newer(self) -> Self {
        Self { newer: true, ..self }
    }

    pub(super) const fn confined(self) -> Self {
        Self { confined: true, ..self }
    }
}
