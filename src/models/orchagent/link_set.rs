//! A set of links, small enough to copy.

use super::config::MAX_LINKS;

const WORDS: usize = MAX_LINKS as usize / 64;

/// A set of link numbers below [`MAX_LINKS`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkSet([u64; WORDS]);

impl LinkSet {
    /// The links `0..count`.
    pub fn first(count: u16) -> Self {
        let mut set = Self::default();
        (0..count).for_each(|link| set.insert(link));
        set
    }

    pub fn insert(&mut self, link: u16) {
        self.0[usize::from(link) / 64] |= 1 << (link % 64);
    }

    pub fn remove(&mut self, link: u16) {
        self.0[usize::from(link) / 64] &= !(1 << (link % 64));
    }

    pub fn contains(&self, link: u16) -> bool {
        self.0[usize::from(link) / 64] & (1 << (link % 64)) != 0
    }

    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    pub fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Members of `self` that are in `other`.
    pub fn and(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] & other.0[word]))
    }

    /// Members of `self` that are not in `other`.
    pub fn without(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] & !other.0[word]))
    }

    /// The members in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u16> + use<> {
        let words = self.0;
        (0..WORDS).flat_map(move |word| {
            let mut bits = words[word];
            std::iter::from_fn(move || {
                let bit = (bits != 0).then(|| bits.trailing_zeros() as u16)?;
                bits &= bits - 1;
                Some(word as u16 * 64 + bit)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_come_back_in_ascending_order() {
        let mut set = LinkSet::default();
        for link in [500, 3, 64, 63, 0] {
            set.insert(link);
        }
        set.remove(3);
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 63, 64, 500]);
        assert_eq!(set.len(), 4);
        assert!(set.without(&set).is_empty());
        assert_eq!(set.and(&LinkSet::first(64)).len(), 2);
    }
}
