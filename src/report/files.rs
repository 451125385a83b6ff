//! Files that are there whole or not at all.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

/// How the name of a file that is not finished ends.
const SUFFIX: &str = ".part";

/// The folder that takes the results of one scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultFolder(PathBuf);

impl ResultFolder {
    /// Makes the folder if need be and makes sure that it can be written to, so that a run does
    /// not find out at its end.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn prepare(folder: PathBuf) -> io::Result<Self> {
        fs::create_dir_all(&folder)?;
        // Dropping it removes it again.
        temporary(&folder, "probe")?;
        Ok(Self(folder))
    }

    /// Removes what a run that was killed while it wrote its files left behind. Only for who is
    /// alone in the folder.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn remove_leftovers(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.0)? {
            let entry = entry?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with('.') && name.ends_with(SUFFIX) {
                self.remove(&name)?;
            }
        }
        Ok(())
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Starts the file `name`.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn create(&self, name: &str) -> io::Result<WholeFile> {
        let file = BufWriter::with_capacity(1 << 16, temporary(&self.0, name)?);
        Ok(WholeFile { file, target: self.0.join(name) })
    }

    /// Writes the file `name`.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn write(&self, name: &str, content: &[u8]) -> io::Result<()> {
        let mut file = self.create(name)?;
        file.write_all(content)?;
        file.finish()
    }

    /// Whether the file `name` has just this content.
    #[must_use]
    pub fn holds(&self, name: &str, content: &[u8]) -> bool {
        fs::read(self.0.join(name)).is_ok_and(|there| there == content)
    }

    /// Removes the file `name` if it is there.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        match fs::remove_file(self.0.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Removes the report and the pictures of an earlier run, which would show other results than
    /// those beside them.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn remove_pictures(&self) -> io::Result<()> {
        self.remove("report.html")?;
        let entries = match fs::read_dir(self.0.join("plots")) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries?,
        };
        for entry in entries {
            let path = entry?.path();
            let ending = path.extension().and_then(|ending| ending.to_str());
            if matches!(ending, Some("svg" | "png")) {
                fs::remove_file(path)?;
            }
        }
        Ok(())
    }

    /// Makes the names of finished files last, too.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn sync(&self) -> io::Result<()> {
        if cfg!(unix) { fs::File::open(&self.0)?.sync_all() } else { Ok(()) }
    }
}

/// A file that appears under its name only when it is finished; dropped before, it is gone.
#[derive(Debug)]
pub struct WholeFile {
    file: BufWriter<NamedTempFile>,
    target: PathBuf,
}

impl WholeFile {
    /// Brings everything to the disk and gives the file its name.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn finish(self) -> io::Result<()> {
        let file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.as_file().sync_all()?;
        file.persist(&self.target)?;
        Ok(())
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// A temporary file in the same folder, because a rename is atomic only within a file system.
fn temporary(folder: &Path, name: &str) -> io::Result<NamedTempFile> {
    let prefix = format!(".{name}.");
    let mut builder = Builder::new();
    builder.prefix(&prefix).suffix(SUFFIX);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Readable as any other file; the user's mask applies.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unfinished_file_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let results = ResultFolder::prepare(folder.path().join("a/b")).unwrap();
        let mut file = results.create("results.csv").unwrap();
        file.write_all(b"half").unwrap();
        drop(file);
        assert_eq!(fs::read_dir(results.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_finished_file_replaces_the_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let results = ResultFolder::prepare(folder.path().to_owned()).unwrap();
        results.write("summary.csv", b"old").unwrap();
        results.write("summary.csv", b"new").unwrap();
        results.sync().unwrap();
        assert_eq!(fs::read(folder.path().join("summary.csv")).unwrap(), b"new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_in_the_way_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let taken = folder.path().join("taken");
        fs::write(&taken, b"").unwrap();
        assert!(ResultFolder::prepare(taken).is_err());
    }
}
