//! A case in two files, whose functions and globals know each other by declarations.

use std::fmt::Write as _;

use lydian_base::Rng;

use super::{Case, Features};

impl Case {
    /// The case as two files, to stand after what both begin with: the function in the first, each
    /// helper and each global in one of them. Nothing is static then.
    pub fn split(&self, seed: u64, features: Features) -> [String; 2] {
        let mut rng = Rng::new(seed ^ 0x5911);
        let (globals, functions) = self.pieces();
        let mut files = [self.declarations(features, &functions), String::new()];
        files[1] = files[0].clone();
        for global in globals {
            files[rng.below(2) as usize].push_str(&global);
        }
        let own = format!("int {}(", self.name);
        for function in functions {
            let file = if function.starts_with(&own) { 0 } else { rng.below(2) as usize };
            files[file].push_str(&function);
        }
        files
    }

    /// The definitions of globals, and of functions.
    fn pieces(&self) -> (Vec<String>, Vec<String>) {
        let (mut globals, mut functions) = (Vec::new(), Vec::new());
        let mut function = String::new();
        for line in self.text.split_inclusive('\n') {
            let is_head = !line.starts_with([' ', '{', '}']) && line.trim_end().ends_with(')');
            let line = match line.strip_prefix("static ") {
                Some(rest) if function.is_empty() => rest,
                _ => line,
            };
            match is_head || !function.is_empty() {
                true => function.push_str(line),
                false => globals.push(line.to_owned()),
            }
            if line.starts_with('}') {
                functions.push(std::mem::take(&mut function));
            }
        }
        (globals, functions)
    }

    fn declarations(&self, features: Features, functions: &[String]) -> String {
        let name = &self.name;
        let mut text = String::new();
        for (global, _) in &self.globals {
            let _ = writeln!(text, "extern int {global};");
        }
        if features.has_all() {
            let _ = writeln!(text, "extern int {name}_k[4];");
            let _ = writeln!(text, "extern struct cells {name}_s, {name}_v[2];");
        }
        for function in functions {
            let head = function.lines().next().unwrap_or_default();
            let _ = writeln!(text, "{head};");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_definition_stands_in_one_file_and_is_declared_in_both() {
        let case = Case::new("f", 5, Features::All);
        let files = case.split(5, Features::All);
        let both = files.concat();
        for name in ["f_odd(int v)", "f_step(int v)", "f_set(int *r, int v)"] {
            assert_eq!(both.matches(&format!("{name};\n")).count(), 2, "{both}");
            assert_eq!(both.matches(&format!("{name}\n{{")).count(), 1, "{both}");
        }
        assert_eq!(both.matches("extern int f_g;").count(), 2, "{both}");
        assert_eq!(both.matches("\nint f_g = ").count(), 1, "{both}");
        assert!(files[0].contains("\nint f(int") && !both.contains("static"), "{both}");
    }
}
