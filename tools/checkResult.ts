/** What one check found. */
export interface CheckResult {
  /** A few words on what was looked at, such as `212 files`. */
  readonly summary: string;
  /** Each problem as a person must read it: place, what is wrong, what to do. Empty: the check passed. */
  readonly problems: readonly string[];
}
