//! A clang whose programs have another number than the source, so that tests do not do what exploration
//! says.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use super::Workplace;

/// It compiles 178 where the source has 177.
const FAULTY: &str = "#!/bin/sh
PATH=\"$SOUND_PATH\"
for word in \"$@\"; do
    case \"$word\" in
        -E | -fsyntax-only) exec clang-19 \"$@\" ;;
    esac
done
for word in \"$@\"; do
    case \"$word\" in
        *.c | *.i) sed -i s/177/178/g \"$word\" ;;
    esac
done
exec clang-19 \"$@\"
";

/// Writes that clang to a folder of its own.
pub(crate) fn write(place: &Workplace) {
    std::fs::create_dir(place.path("faulty")).expect("a folder");
    place.write("faulty/clang-19", FAULTY);
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(place.path("faulty/clang-19"), executable).expect("set");
}

/// The command with that clang in the place of the sound one, not yet started.
pub(crate) fn command(place: &Workplace, words: &str) -> Command {
    let sound = std::env::var("PATH").expect("a path");
    let path = format!("{}:{sound}", place.path("faulty").display());
    let mut command = place.command(words);
    // Nothing that this clang makes is kept for others.
    command.env("PATH", path).env("SOUND_PATH", sound).env("LYDIAN_CACHE", "");
    command
}
