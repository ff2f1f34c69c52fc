//! `<string.h>`: functions on bytes and strings in memory.
//!
//! Comparisons return the difference of the first bytes that differ, as glibc's do.

use crate::interp::machine::{Machine, Step};
use crate::libc::MemoryFn;

impl Machine<'_, '_> {
    /// Calls one of the functions. `b` and `c` are the second and third argument.
    pub(in crate::interp) fn string_function(
        &mut self,
        function: MemoryFn,
        a: u64,
        b: u128,
        c: u128,
    ) -> Step<u128> {
        let (second, third, byte) = (b as u64, c as u64, b as u8);
        let result = match function {
            MemoryFn::Memcpy | MemoryFn::Memmove => {
                let overlap = a != second && a.abs_diff(second) < third;
                self.note_misuse(function == MemoryFn::Memcpy && overlap);
                self.copy(a, second, third)?
            }
            MemoryFn::Memset => {
                self.memory.fill(a, third, byte)?;
                a
            }
            MemoryFn::Memcmp | MemoryFn::Bcmp => {
                let reads = |at| self.memory.read(at, third).is_ok();
                let is_inside = third == 0 || reads(a) && reads(second);
                self.note_misuse(!is_inside);
                return self.compare(a, second, Some(third), Same::Bytes);
            }
            MemoryFn::Strcmp => return self.compare(a, second, None, Same::Text),
            MemoryFn::Strncmp => return self.compare(a, second, Some(third), Same::Text),
            MemoryFn::Strcasecmp => return self.compare(a, second, None, Same::Letters),
            MemoryFn::Strncasecmp => return self.compare(a, second, Some(third), Same::Letters),
            MemoryFn::Memchr => self.find_byte(a, byte, third)?,
            MemoryFn::Strlen => self.length(a, u64::MAX)?,
            MemoryFn::Strnlen => self.length(a, second)?,
            MemoryFn::Strcpy | MemoryFn::Stpcpy => {
                let length = self.length(second, u64::MAX)?;
                self.copy(a, second, length + 1)?;
                if function == MemoryFn::Strcpy { a } else { a + length }
            }
            MemoryFn::Strncpy => {
                let length = self.length(second, third)?;
                self.copy(a, second, length)?;
                self.memory.fill(a.wrapping_add(length), third - length, 0)?;
                a
            }
            MemoryFn::Strcat | MemoryFn::Strncat => {
                let limit = if function == MemoryFn::Strcat { u64::MAX } else { third };
                let end = a + self.length(a, u64::MAX)?;
                let length = self.length(second, limit)?;
                self.copy(end, second, length)?;
                self.memory.fill(end + length, 1, 0)?;
                a
            }
            MemoryFn::Strchr => self.first_char(a, byte)?,
            MemoryFn::Strrchr => self.last_char(a, byte)?,
            MemoryFn::Strstr => self.find_text(a, second)?,
            MemoryFn::Strspn => self.span_of(a, second, true)?,
            MemoryFn::Strcspn => self.span_of(a, second, false)?,
            MemoryFn::Strpbrk => {
                let at = a + self.span_of(a, second, false)?;
                if self.byte(at)? == 0 { 0 } else { at }
            }
        };
        Ok(u128::from(result))
    }

    /// The byte at an address.
    #[inline]
    fn byte(&mut self, address: u64) -> Step<u8> {
        if let Some(byte) = self.memory.quick_load::<1>(address) {
            return Ok(byte as u8);
        }
        let (byte, written) = self.memory.load(address, 1)?;
        if !written {
            self.note_uninitialised()?;
        }
        Ok(byte as u8)
    }

    fn copy(&mut self, to: u64, from: u64, count: u64) -> Step<u64> {
        self.memory.copy(to, from, count)?;
        Ok(to)
    }

    /// The length of a string, looking at no more than `limit` bytes.
    pub(in crate::interp) fn length(&mut self, address: u64, limit: u64) -> Step<u64> {
        let (len, written, found) = self.memory.text(address, limit)?;
        if !written {
            self.note_uninitialised()?;
        }
        Ok(len - u64::from(found))
    }

    fn find_byte(&mut self, start: u64, byte: u8, count: u64) -> Step<u64> {
        for offset in 0..count {
            let at = start.wrapping_add(offset);
            if self.byte(at)? == byte {
                return Ok(at);
            }
        }
        Ok(0)
    }

    fn first_char(&mut self, start: u64, byte: u8) -> Step<u64> {
        let mut at = start;
        loop {
            let found = self.byte(at)?;
            if found == byte {
                return Ok(at);
            }
            if found == 0 {
                return Ok(0);
            }
            at += 1;
        }
    }

    fn last_char(&mut self, start: u64, byte: u8) -> Step<u64> {
        let (mut at, mut last) = (start, 0);
        loop {
            let found = self.byte(at)?;
            if found == byte {
                last = at;
            }
            if found == 0 {
                return Ok(last);
            }
            at += 1;
        }
    }

    fn find_text(&mut self, text: u64, wanted: u64) -> Step<u64> {
        let mut at = text;
        loop {
            let mut offset = 0;
            loop {
                let byte = self.byte(wanted + offset)?;
                if byte == 0 {
                    return Ok(at);
                }
                if self.byte(at + offset)? != byte {
                    break;
                }
                offset += 1;
            }
            if self.byte(at)? == 0 {
                return Ok(0);
            }
            at += 1;
        }
    }

    /// How many first characters are in a set, or are not.
    fn span_of(&mut self, text: u64, set: u64, inside: bool) -> Step<u64> {
        let mut length = 0;
        loop {
            let byte = self.byte(text + length)?;
            if byte == 0 || (self.first_char(set, byte)? != 0) != inside {
                return Ok(length);
            }
            length += 1;
        }
    }

    fn compare(&mut self, a: u64, b: u64, limit: Option<u64>, same: Same) -> Step<u128> {
        for offset in 0..limit.unwrap_or(u64::MAX) {
            let x = same.key(self.byte(a.wrapping_add(offset))?);
            let y = same.key(self.byte(b.wrapping_add(offset))?);
            if x != y {
                return Ok(u128::from((i32::from(x) - i32::from(y)) as u32));
            }
            if x == 0 && !matches!(same, Same::Bytes) {
                break;
            }
        }
        Ok(0)
    }
}

/// When two bytes are the same, and whether a zero ends the comparison.
#[derive(Clone, Copy)]
enum Same {
    Bytes,
    Text,
    Letters,
}

impl Same {
    const fn key(self, byte: u8) -> u8 {
        match self {
            Self::Letters => byte.to_ascii_lowercase(),
            Self::Bytes | Self::Text => byte,
        }
    }
}
