//! The effects of host calls ([`crate::interp::host`]) on the program that makes them.

use crate::interp::code::CallSite;
use crate::interp::host::Host;
use crate::interp::host_call::HostCall;
use crate::interp::machine::{Machine, Step, Stop};
use crate::interp::outcome::End;
use crate::interp::slots::Window;
use crate::program::{Moment, arith};

impl<'p, 'c> Machine<'p, 'c> {
    /// Serves a host call.
    pub(in crate::interp) fn call_host(
        &mut self,
        call: HostCall,
        site: &CallSite<'p>,
        regs: &mut Window,
    ) -> Step<()> {
        let args = site.arguments(regs);
        let arg = |index: usize| args.get(index).copied().unwrap_or(0) as u64;
        let descriptor = i64::from(arg(0) as u32 as i32);
        let signed_arg = |index: usize| {
            let bits = site.args.get(index).map_or(64, |arg| arg.ty.bits());
            arith::signed(bits, u128::from(arg(index))) as i64
        };
        let result = match call {
            HostCall::Exit => return Err(Stop::End(End::Exited(descriptor as i32))),
            HostCall::Write => {
                let bytes = self.memory.read(arg(1), arg(2))?;
                if !bytes.is_written() {
                    self.note_uninitialised()?;
                }
                self.host().write(descriptor, &bytes.values())
            }
            HostCall::Read => match self.host().read(descriptor, arg(2)) {
                Ok(bytes) => {
                    self.memory.write(arg(1), &bytes)?;
                    bytes.len() as i64
                }
                Err(number) => number,
            },
            HostCall::Open => {
                let name = self.text(arg(0))?;
                self.host().open(&name, arg(1))
            }
            HostCall::Close => self.host().close(descriptor),
            HostCall::Seek => {
                let whence = i64::from(arg(2) as u32 as i32);
                self.host().seek(descriptor, signed_arg(1), whence)
            }
            HostCall::Remove => {
                let name = self.text(arg(0))?;
                self.host().remove(&name)
            }
            HostCall::Rename => {
                let (from, to) = (self.text(arg(0))?, self.text(arg(1))?);
                self.host().rename(&from, &to)
            }
            HostCall::IsTerminal => i64::from(self.host().is_terminal(descriptor)),
            HostCall::Time => self.host().seconds(),
            HostCall::Clock => {
                let steps = self.steps.taken();
                self.host().clock(steps)
            }
            HostCall::Getenv => {
                let name = self.text(arg(0))?;
                let found = self.host().variable(&name);
                found.map_or(0, |address| address as i64)
            }
            HostCall::Destructor => {
                let functions = self.program.run_at(Moment::AtExit);
                let function = functions.get(usize::try_from(descriptor).unwrap_or(usize::MAX));
                function.map_or(0, |function| self.memory.function_address(*function) as i64)
            }
        };
        site.give(regs, result as u64 as u128);
        Ok(())
    }

    fn host(&mut self) -> &mut Host<'c> {
        self.host.as_deref_mut().expect("host calls are made only where there is a host")
    }

    /// A string without its zero.
    fn text(&mut self, address: u64) -> Step<Vec<u8>> {
        let length = self.length(address, u64::MAX)?;
        Ok(self.memory.read(address, length)?.values())
    }
}
