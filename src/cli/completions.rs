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
    print(&String::from_utf8_lossy(&script))?;
    Ok(Outcome::Fine)
}

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
    print(&String::from_utf8_lossy(&pages))?;
    Ok(Outcome::Fine)
}
