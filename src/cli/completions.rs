//! `convsim completions` and `convsim man`: what shells and `man` want to know, from the very
//! definitions by which the command line is read.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::error::{CliError, Problem};
use super::{Cli, Outcome, print};

/// What `convsim completions` understands.
#[derive(Clone, Debug, Args)]
pub struct Arguments {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// Prints a shell's script.
pub fn completions(arguments: &Arguments) -> Result<Outcome, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "convsim", &mut script);
    if arguments.shell == Shell::Fish {
        // Its generator leaves out what an argument without a flag can be.
        for sub in Cli::command().get_subcommands() {
            script.extend(values_for_fish(sub).bytes());
        }
    }
    print(&String::from_utf8_lossy(&script))?;
    Ok(Outcome::Fine)
}

/// The values of the arguments of `sub` that have no flag: names of models, shells.
fn values_for_fish(sub: &clap::Command) -> String {
    let values = sub.get_positionals().flat_map(clap::Arg::get_possible_values);
    let line = |value: clap::builder::PossibleValue| {
        let help = value.get_help().map(|help| help.to_string().replace('\'', "\\'"));
        let help = help.map_or_else(String::new, |help| format!(" -d '{help}'"));
        format!(
            "complete -c convsim -n \"__fish_convsim_using_subcommand {}\" -f -a \"{}\"{help}\n",
            sub.get_name(),
            value.get_name()
        )
    };
    values.map(line).collect()
}

/// What the manual ends with, in the language of `man`.
const SEE_ALSO: &str = ".SH \"SEE ALSO\"
\\fBconvsim describe\\fR \\fIMODEL\\fR for every parameter and metric with unit, default and source;
\\fBconvsim schema\\fR for the format of scenario files; in the sources README.md,
docs/running.md (replications and precision), docs/decisions.md (solve, sensitivity, compare),
docs/designs.md (sweeps), docs/pictures.md (plot, trace), docs/json.md (every field of the JSON) and
docs/beyond\\-one\\-machine.md (shards).
.PP
\\fBparallel\\fR(1), \\fBsbatch\\fR(1) for shards; https://ui.perfetto.dev for what \\fBtrace\\fR writes.
";

/// Prints the manual: the page of the program, then that of each subcommand.
pub fn man() -> Result<Outcome, CliError> {
    let mut command = Cli::command();
    command.build();
    let mut pages = Vec::new();
    let whole = clap_mangen::Man::new(command.clone());
    whole.render(&mut pages).map_err(Problem::Stdout)?;
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        let page = clap_mangen::Man::new(sub.clone());
        page.render_synopsis_section(&mut pages).map_err(Problem::Stdout)?;
        page.render_description_section(&mut pages).map_err(Problem::Stdout)?;
        page.render_options_section(&mut pages).map_err(Problem::Stdout)?;
    }
    pages.extend_from_slice(SEE_ALSO.as_bytes());
    print(&String::from_utf8_lossy(&pages))?;
    Ok(Outcome::Fine)
}
