//! Endless tasks beside the jobs of a few cores.

/// Tasks of normal weight that always want a core and may use any of `cores`, of which the jobs
/// beside them may use only some. All share as a fair scheduler makes them in the long run: no
/// one gets more than a core, the jobs together no more than their cores, and what some cannot use
/// goes to the others. (On Linux the load balancer moves the tasks away from cores on which jobs
/// are bound.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neighbours {
    /// The tasks.
    pub tasks: u32,
    /// The cores that they may use, those of the jobs among them.
    pub cores: u32,
}

/// Weight of a task of nice level 0.
const NORMAL: u64 = 1024;

impl Neighbours {
    /// The rate of each of `jobs` (at least 1) of `weight` that are bound to `bound` of the cores:
    /// a numerator and a denominator, in cores.
    #[must_use]
    pub(super) fn rate(self, bound: u64, jobs: u64, weight: u64) -> (u64, u64) {
        let (tasks, cores) = (u64::from(self.tasks), u64::from(self.cores).max(bound));
        let most = if jobs <= bound { (1, 1) } else { (bound, jobs) };
        if tasks + jobs.min(bound) <= cores {
            return most;
        }
        let weights = tasks * NORMAL + jobs * weight;
        // Where even a task would get more than a core, the jobs have what the tasks leave.
        let share = if cores * NORMAL >= weights {
            (cores - tasks, jobs)
        } else {
            (cores * weight, weights)
        };
        if share.0 * most.1 < most.0 * share.1 { share } else { most }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(tasks: u32, cores: u32, bound: u64, jobs: u64, weight: u64) -> f64 {
        let (numerator, denominator) = Neighbours { tasks, cores }.rate(bound, jobs, weight);
        numerator as f64 / denominator as f64
    }

    #[test]
    fn tasks_that_find_room_elsewhere_take_nothing() {
        assert_eq!(rate(6, 8, 2, 2, NORMAL), 1.0);
        assert_eq!(rate(6, 8, 2, 4, NORMAL), 0.5, "four on the two cores that are theirs");
        assert_eq!(rate(0, 8, 2, 1, NORMAL), 1.0);
    }

    #[test]
    fn on_full_cores_all_get_the_same() {
        assert_eq!(rate(8, 8, 2, 1, NORMAL), 8.0 / 9.0);
        assert_eq!(rate(30, 8, 2, 2, NORMAL), 0.25);
        assert_eq!(rate(8, 8, 2, 8, NORMAL), 0.25, "eight cannot use more than their two cores");
    }

    #[test]
    fn a_heavier_job_gets_more_but_no_more_than_a_core() {
        assert_eq!(rate(8, 4, 4, 1, 3 * NORMAL), 1.0);
        assert!((rate(20, 4, 4, 1, 3 * NORMAL) - 12.0 / 23.0).abs() < 1e-12);
        // A job of hardly any weight has what seven tasks leave of eight cores.
        assert_eq!(rate(7, 8, 8, 2, 15), 0.5);
    }
}
