//! The journal: every row as it completes, in a file that survives a kill at any moment.
//!
//! ```text
//! file   = "convsim rows 01\n" record*
//! record = length u32, checksum u64, payload          (little-endian)
//! payload = 'H' header JSON | 'P' point JSON | 'O' origin JSON
//!         | 'R' point u64, replication u64, status u8, end_ns u64, events u64, fingerprint u64,
//!               figures u32, f64 x figures, message (UTF-8, to the end)
//! ```
//!
//! Records are only ever appended. Reading stops at the first record that is cut off or damaged,
//! and writing goes on from there, so a record counts if and only if all of it is there. A lock on
//! the file, which the operating system takes back when the process ends in whatever way, keeps
//! two processes apart.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use super::row::{Row, Status};
use crate::engine::SimTime;
use crate::engine::random::mix;

/// First bytes of the file; they change with the format.
const MAGIC: &[u8; 16] = b"convsim rows 01\n";
/// Length and checksum before each payload.
const PREFIX: usize = 12;
/// A row waits at most this long for others before it is handed to the operating system, where
/// no end of this process can harm it.
const LINGER: Duration = Duration::from_millis(20);
/// So much is handed over at once at the latest.
const LARGEST_WRITE: usize = 1 << 18;
/// How often rows are brought to the disk, where no loss of power can harm them.
const SYNC_INTERVAL: Duration = Duration::from_secs(5);
/// How much is read at once.
const READ_BUFFER: usize = 1 << 18;

/// Kinds of records.
pub(super) const HEADER: u8 = b'H';
pub(super) const POINT: u8 = b'P';
pub(super) const ORIGIN: u8 = b'O';
pub(super) const ROW: u8 = b'R';

/// Why a journal cannot be had.
#[derive(Debug)]
pub(super) enum OpenError {
    /// Another process has it.
    Locked,
    Io(io::Error),
}

impl From<io::Error> for OpenError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// The journal of one folder.
#[derive(Debug)]
pub(super) struct Journal {
    file: File,
    /// Where the next record is written, that is the end of the last whole one.
    end: u64,
    /// Records not yet handed to the operating system.
    buffer: Vec<u8>,
    handed_over: Instant,
    synced: Instant,
}

impl Journal {
    /// Opens or makes the journal at `path` and locks it.
    pub(super) fn open(path: &Path) -> Result<Self, OpenError> {
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(OpenError::Locked),
            // Some network file systems have no locks; results are then still whole.
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {}
            Err(TryLockError::Error(error)) => return Err(error.into()),
        }
        Ok(Self::of(file))
    }

    /// Opens the journal at `path` to read it, beside whoever writes it.
    pub(super) fn open_to_read(path: &Path) -> io::Result<Self> {
        Ok(Self::of(File::open(path)?))
    }

    fn of(file: File) -> Self {
        let now = Instant::now();
        Self { file, end: 0, buffer: Vec::new(), handed_over: now, synced: now }
    }

    /// Gives every whole record with the place of its payload to `each`.
    pub(super) fn scan(&mut self, mut each: impl FnMut(u64, &[u8])) -> io::Result<()> {
        self.scan_while(|place, payload| {
            each(place, payload);
            true
        })
    }

    /// As [`Self::scan`], until `each` says that it has seen enough.
    pub(super) fn scan_while(
        &mut self,
        mut each: impl FnMut(u64, &[u8]) -> bool,
    ) -> io::Result<()> {
        let length = self.file.metadata()?.len();
        self.file.rewind()?;
        let mut reader = BufReader::with_capacity(READ_BUFFER, &self.file);
        self.end = 0;
        let mut magic = Vec::new();
        reader.by_ref().take(MAGIC.len() as u64).read_to_end(&mut magic)?;
        if !MAGIC.starts_with(&magic) {
            let text = "it is no journal of this version of convsim";
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        if magic.len() < MAGIC.len() {
            return Ok(());
        }
        self.end = MAGIC.len() as u64;
        let mut payload = Vec::new();
        while let Some((size, sum)) = prefix(&mut reader)? {
            let next = self.end + (PREFIX + size) as u64;
            if next > length {
                break;
            }
            payload.resize(size, 0);
            reader.read_exact(&mut payload)?;
            if checksum(&payload) != sum {
                break;
            }
            let more = each(self.end + PREFIX as u64, &payload);
            self.end = next;
            if !more {
                break;
            }
        }
        Ok(())
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) -> io::Result<()> {
        self.end = 0;
        self.buffer.clear();
        self.start_writing()
    }

    /// Removes what is after the last whole record, so that the next one follows it.
    pub(super) fn start_writing(&mut self) -> io::Result<()> {
        self.file.set_len(self.end)?;
        if self.end == 0 {
            self.buffer.extend_from_slice(MAGIC);
            self.end = MAGIC.len() as u64;
        }
        Ok(())
    }

    /// Adds a record with the payload that `write` makes; returns the place of the payload.
    pub(super) fn add(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> io::Result<u64> {
        let from = self.buffer.len();
        self.buffer.resize(from + PREFIX, 0);
        write(&mut self.buffer);
        let payload = &self.buffer[from + PREFIX..];
        let size = u32::try_from(payload.len()).map_err(io::Error::other)?;
        let sum = checksum(payload);
        self.buffer[from..from + 4].copy_from_slice(&size.to_le_bytes());
        self.buffer[from + 4..from + PREFIX].copy_from_slice(&sum.to_le_bytes());
        let place = self.end + PREFIX as u64;
        self.end = place + u64::from(size);
        if self.buffer.len() >= LARGEST_WRITE || self.handed_over.elapsed() >= LINGER {
            self.hand_over()?;
            if self.synced.elapsed() >= SYNC_INTERVAL {
                self.sync()?;
            }
        }
        Ok(place)
    }

    /// Hands everything to the operating system.
    pub(super) fn hand_over(&mut self) -> io::Result<()> {
        // Reading moves the place in the file, too.
        self.file.seek(SeekFrom::Start(self.end - self.buffer.len() as u64))?;
        self.file.write_all(&self.buffer)?;
        self.buffer.clear();
        self.handed_over = Instant::now();
        Ok(())
    }

    /// Brings everything to the disk.
    pub(super) fn sync(&mut self) -> io::Result<()> {
        self.hand_over()?;
        self.file.sync_data()?;
        self.synced = Instant::now();
        Ok(())
    }

    /// Reads payloads at any place, fastest in ascending order.
    pub(super) fn reader(&self) -> PayloadReader<'_> {
        PayloadReader { reader: BufReader::with_capacity(READ_BUFFER, &self.file), at: None }
    }
}

/// Reads payloads by their place.
pub(super) struct PayloadReader<'j> {
    reader: BufReader<&'j File>,
    /// Where the reader stands.
    at: Option<u64>,
}

impl PayloadReader<'_> {
    /// Reads the payload at `place` into `payload`.
    pub(super) fn read(&mut self, place: u64, payload: &mut Vec<u8>) -> io::Result<()> {
        let from = place - PREFIX as u64;
        match self.at {
            // A relative move keeps what is in the buffer.
            Some(at) => self.reader.seek_relative(from.cast_signed() - at.cast_signed())?,
            None => {
                self.reader.seek(SeekFrom::Start(from))?;
            }
        }
        self.at = None;
        let (size, sum) = prefix(&mut self.reader)?.ok_or(io::ErrorKind::UnexpectedEof)?;
        payload.resize(size, 0);
        self.reader.read_exact(payload)?;
        if checksum(payload) != sum {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a row changed on the disk"));
        }
        self.at = Some(place + size as u64);
        Ok(())
    }
}

/// Length and checksum of the next payload; `None` at the end of the file.
fn prefix(reader: &mut impl Read) -> io::Result<Option<(usize, u64)>> {
    let (mut size, mut sum) = ([0; 4], [0; 8]);
    let read = reader.read_exact(&mut size).and_then(|()| reader.read_exact(&mut sum));
    match read {
        Ok(()) => Ok(Some((u32::from_le_bytes(size) as usize, u64::from_le_bytes(sum)))),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

/// Finds damage, not malice; a word at a time because rows are many.
fn checksum(bytes: &[u8]) -> u64 {
    let mut sum = bytes.len() as u64;
    let mut add = |word: u64| {
        sum = (sum ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    };
    let (words, rest) = bytes.as_chunks::<8>();
    words.iter().for_each(|word| add(u64::from_le_bytes(*word)));
    rest.iter().for_each(|&byte| add(u64::from(byte)));
    mix(sum)
}

/// Writes `row` of the point with the identity `id`.
pub(super) fn write_row(id: u64, row: &Row, payload: &mut Vec<u8>) {
    payload.push(ROW);
    payload.extend_from_slice(&id.to_le_bytes());
    payload.extend_from_slice(&row.replication.to_le_bytes());
    payload.push(row.status.index() as u8);
    payload.extend_from_slice(&row.end.as_nanos().to_le_bytes());
    payload.extend_from_slice(&row.events.to_le_bytes());
    payload.extend_from_slice(&row.fingerprint.to_le_bytes());
    payload.extend_from_slice(&(row.figures.len() as u32).to_le_bytes());
    for figure in &row.figures {
        payload.extend_from_slice(&figure.to_bits().to_le_bytes());
    }
    payload.extend_from_slice(row.message.as_deref().unwrap_or_default().as_bytes());
}

/// The identity of the point and the replication of a row.
pub(super) fn row_task(payload: &[u8]) -> Option<(u64, u64)> {
    let mut rest = payload.strip_prefix(&[ROW])?;
    Some((take(&mut rest)?, take(&mut rest)?))
}

/// Reads the row in `payload`, as one of the point `point`, into `row`, whose memory it uses; none if
/// it is no row.
pub(super) fn read_row(point: usize, payload: &[u8], row: &mut Row) -> Option<()> {
    let mut rest = payload.strip_prefix(&[ROW])?;
    let _id = take(&mut rest)?;
    row.point = point;
    row.replication = take(&mut rest)?;
    let (&status, after) = rest.split_first()?;
    row.status = *Status::ALL.get(usize::from(status))?;
    rest = after;
    row.end = SimTime::from_nanos(take(&mut rest)?);
    row.events = take(&mut rest)?;
    row.fingerprint = take(&mut rest)?;
    let (&count, after) = rest.split_first_chunk()?;
    let size = (u32::from_le_bytes(count) as usize).checked_mul(size_of::<f64>())?;
    let (figures, message) = after.split_at_checked(size)?;
    let (figures, _) = figures.as_chunks();
    row.figures.clear();
    row.figures.extend(figures.iter().map(|&bytes| f64::from_le_bytes(bytes)));
    let message = std::str::from_utf8(message).ok()?;
    row.message = (!message.is_empty()).then(|| message.to_owned());
    Some(())
}

fn take(rest: &mut &[u8]) -> Option<u64> {
    let (&bytes, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(u64::from_le_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(replication: u64) -> Row {
        Row {
            point: 3,
            replication,
            status: Status::Failed,
            end: SimTime::from_nanos(u64::MAX),
            events: 7,
            fingerprint: 0x0123_4567_89ab_cdef,
            figures: vec![0.1 + 0.2, f64::INFINITY, -0.0, f64::NAN],
            message: Some("broken \u{2192} here".to_owned()),
        }
    }

    fn replications(journal: &mut Journal) -> Vec<u64> {
        let mut found = Vec::new();
        journal.scan(|_, payload| found.extend(row_task(payload).map(|(_, r)| r))).unwrap();
        found
    }

    #[test]
    fn a_row_is_read_as_it_was_written_to_the_bit() {
        let mut payload = Vec::new();
        write_row(42, &row(5), &mut payload);
        assert_eq!(row_task(&payload), Some((42, 5)));
        let mut read = Row { figures: vec![1.0; 9], ..row(0) };
        read_row(3, &payload, &mut read).unwrap();
        assert_eq!(format!("{read:?}"), format!("{:?}", row(5)));
    }

    #[test]
    fn a_file_cut_anywhere_keeps_every_whole_row_and_can_be_gone_on_with() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let mut journal = Journal::open(&path).unwrap();
        journal.start_writing().unwrap();
        let mut ends = Vec::new();
        for replication in 0..4 {
            journal.add(|payload| write_row(1, &row(replication), payload)).unwrap();
            ends.push(journal.end);
        }
        journal.sync().unwrap();
        drop(journal);
        let whole = std::fs::read(&path).unwrap();
        assert_eq!(whole.len() as u64, *ends.last().unwrap());
        for length in 0..=whole.len() {
            std::fs::write(&path, &whole[..length]).unwrap();
            let mut journal = Journal::open(&path).unwrap();
            let kept = ends.iter().filter(|&&end| end <= length as u64).count() as u64;
            assert_eq!(replications(&mut journal), (0..kept).collect::<Vec<_>>());
            journal.start_writing().unwrap();
            for replication in kept..4 {
                journal.add(|payload| write_row(1, &row(replication), payload)).unwrap();
            }
            journal.sync().unwrap();
            drop(journal);
            assert_eq!(std::fs::read(&path).unwrap(), whole, "cut at {length}");
        }
    }

    #[test]
    fn a_damaged_row_and_what_follows_it_do_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let mut journal = Journal::open(&path).unwrap();
        journal.start_writing().unwrap();
        journal.add(|payload| write_row(1, &row(0), payload)).unwrap();
        let second = journal.add(|payload| write_row(1, &row(1), payload)).unwrap();
        journal.add(|payload| write_row(1, &row(2), payload)).unwrap();
        journal.sync().unwrap();
        drop(journal);
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[second as usize + 20] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(replications(&mut Journal::open(&path).unwrap()), [0]);
    }

    #[test]
    fn rows_can_be_read_between_writing_others() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(&folder.path().join("journal")).unwrap();
        journal.start_writing().unwrap();
        // More than is read at once.
        let count = (3 * READ_BUFFER / 100) as u64;
        let mut places = Vec::new();
        for replication in 0..count {
            places.push(journal.add(|payload| write_row(1, &row(replication), payload)).unwrap());
            if replication == count / 2 {
                journal.hand_over().unwrap();
                journal.reader().read(places[0], &mut Vec::new()).unwrap();
            }
        }
        journal.sync().unwrap();
        let mut reader = journal.reader();
        let mut payload = Vec::new();
        for (replication, &place) in places.iter().enumerate().rev() {
            reader.read(place, &mut payload).unwrap();
            assert_eq!(row_task(&payload), Some((1, replication as u64)));
        }
        drop(reader);
        assert_eq!(replications(&mut journal), (0..count).collect::<Vec<_>>());
    }

    #[test]
    fn a_second_writer_is_kept_out_until_the_first_has_gone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let first = Journal::open(&path).unwrap();
        assert!(matches!(Journal::open(&path), Err(OpenError::Locked)));
        drop(first);
        assert!(Journal::open(&path).is_ok());
    }

    #[test]
    fn another_file_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        std::fs::write(&path, "something else entirely").unwrap();
        assert!(Journal::open(&path).unwrap().scan(|_, _| {}).is_err());
    }
}
