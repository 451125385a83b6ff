//! Named random streams.
//!
//! A stream is seeded from (master seed, replication, component, purpose) by a fixed hash, never
//! by the order of creation. Two configurations of one scenario therefore see the same arrivals,
//! service requirements and flaps (common random numbers), and a further draw in one place moves
//! no other stream.

use std::convert::Infallible;

use rand::TryRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

/// A source of random numbers: Xoshiro256++ (Blackman and Vigna, 2019), portable and with a
/// fixed output for a given seed; or, for antithetic variates (Hammersley and Morton, 1956), the
/// complement of each output bit, so that a small number comes where the other had a large one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    generator: Xoshiro256PlusPlus,
    /// All ones for the complement, else 0.
    mask: u64,
}

impl Stream {
    /// The stream whose every output has the complementary bits.
    #[must_use]
    pub fn complemented(self) -> Self {
        Self { mask: !self.mask, ..self }
    }

    /// A number to seed other streams with, the same for a stream and its complement.
    pub fn next_seed(&mut self) -> u64 {
        self.next_bits() ^ self.mask
    }

    /// Starts anew from `seed`; the complement stays the complement.
    pub fn reseed(&mut self, seed: u64) {
        self.generator = Xoshiro256PlusPlus::seed_from_u64(seed);
    }

    #[inline]
    fn next_bits(&mut self) -> u64 {
        let Ok(bits) = self.generator.try_next_u64();
        bits ^ self.mask
    }
}

impl TryRng for Stream {
    type Error = Infallible;

    #[inline]
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let bits = self.generator.try_next_u32()?;
        Ok(bits ^ self.mask as u32)
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.next_bits())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.generator.try_fill_bytes(bytes)?;
        let mask = self.mask as u8;
        bytes.iter_mut().for_each(|byte| *byte ^= mask);
        Ok(())
    }
}

impl SeedableRng for Stream {
    type Seed = <Xoshiro256PlusPlus as SeedableRng>::Seed;

    fn from_seed(seed: Self::Seed) -> Self {
        Self { generator: Xoshiro256PlusPlus::from_seed(seed), mask: 0 }
    }

    // `seed_from_u64` of the generator, whose values are pinned, not the default of the trait.
    fn seed_from_u64(seed: u64) -> Self {
        Self { generator: Xoshiro256PlusPlus::seed_from_u64(seed), mask: 0 }
    }
}

/// What the streams of one replication are derived from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamSeed {
    /// The scenario's seed.
    pub master: u64,
    /// The replication, counted from 0.
    pub replication: u64,
}

impl StreamSeed {
    /// The stream of `purpose` in `component`.
    #[must_use]
    pub fn stream(self, component: &str, purpose: &str) -> Stream {
        let mut hash = StableHash::new();
        hash.number(self.master);
        hash.number(self.replication);
        hash.text(component);
        hash.text(purpose);
        // `seed_from_u64` spreads the 64 bits over the 256 of state with SplitMix64.
        Stream::seed_from_u64(hash.finish())
    }
}

/// Where the components of one replication have their streams from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamSource {
    /// What they are derived from.
    pub seed: StreamSeed,
    /// Whether each is given as its complement: the antithetic of the replication with the same seed.
    pub complemented: bool,
}

impl StreamSource {
    /// The stream of `purpose` in `component`.
    #[must_use]
    pub fn stream(self, component: &str, purpose: &str) -> Stream {
        let stream = self.seed.stream(component, purpose);
        if self.complemented { stream.complemented() } else { stream }
    }
}

/// A 64-bit hash whose value is part of the file formats: FNV-1a over length-prefixed fields,
/// finished with the SplitMix64 mixer (Steele, Lea and Flood, 2014).
///
/// It names points and tasks and seeds streams, so it must never change; its values are pinned
/// by tests.
#[derive(Clone, Copy, Debug)]
pub struct StableHash(u64);

impl Default for StableHash {
    fn default() -> Self {
        Self::new()
    }
}

impl StableHash {
    /// The hash of nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Adds a number.
    pub fn number(&mut self, number: u64) {
        for byte in number.to_le_bytes() {
            self.byte(byte);
        }
    }

    /// Adds a text with its length, so that ("ab", "c") differs from ("a", "bc").
    pub fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        for byte in text.bytes() {
            self.byte(byte);
        }
    }

    /// The hash of all that was added.
    #[must_use]
    pub const fn finish(self) -> u64 {
        mix(self.0)
    }

    fn byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
}

/// The finalizer of SplitMix64: a bijection in which every input bit reaches every output bit.
#[must_use]
pub const fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use rand::Rng;

    use super::*;

    #[test]
    fn a_stream_depends_on_all_four_names() {
        let seed = StreamSeed { master: 1, replication: 0 };
        let first =
            |seed: StreamSeed, component, purpose| seed.stream(component, purpose).next_u64();
        let base = first(seed, "orchagent", "flap");
        assert_eq!(base, first(seed, "orchagent", "flap"));
        assert_ne!(base, first(seed, "orchagent", "service"));
        assert_ne!(base, first(seed, "other", "flap"));
        assert_ne!(base, first(StreamSeed { master: 2, ..seed }, "orchagent", "flap"));
        assert_ne!(base, first(StreamSeed { replication: 1, ..seed }, "orchagent", "flap"));
    }

    #[test]
    fn the_complement_has_the_other_bits_and_the_same_seeds() {
        let mut stream = StreamSeed { master: 1, replication: 0 }.stream("a", "b");
        let mut other = stream.clone().complemented();
        assert_eq!(stream.next_u64(), !other.next_u64());
        assert_eq!(stream.next_u32(), !other.next_u32());
        assert_eq!(stream.next_seed(), other.next_seed());
        stream.reseed(7);
        other.reseed(7);
        assert_eq!(stream.next_u64(), !other.next_u64());
        let (mut bytes, mut others) = ([0; 9], [0; 9]);
        stream.fill_bytes(&mut bytes);
        other.fill_bytes(&mut others);
        assert!(bytes.iter().zip(others).all(|(byte, other)| *byte == !other));
    }

    #[test]
    fn fields_do_not_run_into_each_other() {
        let seed = StreamSeed::default();
        assert_ne!(seed.stream("ab", "c"), seed.stream("a", "bc"));
    }

    #[test]
    fn the_hash_of_known_fields_never_changes() {
        let mut hash = StableHash::new();
        assert_eq!(hash.finish(), 0xf52a_15e9_a9b5_e89b);
        hash.number(1);
        assert_eq!(hash.finish(), 0x5ca6_bbcb_b1e8_5355);
        hash.text("orchagent");
        assert_eq!(hash.finish(), 0x5674_c339_d368_d190);
    }

    #[test]
    fn the_first_outputs_of_a_known_stream_never_change() {
        let mut stream = StreamSeed { master: 1, replication: 2 }.stream("orchagent", "flap");
        let outputs: [u64; 4] = std::array::from_fn(|_| stream.next_u64());
        assert_eq!(
            outputs,
            [
                1_949_722_383_675_137_428,
                13_691_801_483_994_278_505,
                14_842_451_893_849_208_176,
                5_486_105_915_702_815_474
            ]
        );
    }
}
