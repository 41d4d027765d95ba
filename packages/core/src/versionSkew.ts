/** A version's major and minor number; undefined for one that is not of that form, such as `dev`. */
export function minorVersion(version: string): { readonly major: number; readonly minor: number } | undefined {
  const [major = "", minor = ""] = (version.startsWith("v") ? version.slice(1) : version).split(".", 2);
  const [first, second] = [leadingNumber(major), leadingNumber(minor)];
  return first === undefined || second === undefined ? undefined : { major: first, minor: second };
}

/** The number that a text begins with: some Kubernetes distributions write the minor version as `28+`. */
function leadingNumber(text: string): number | undefined {
  const number = Number.parseInt(text.slice(0, LONGEST), 10);
  return Number.isNaN(number) ? undefined : number;
}

const LONGEST = 6;

/** Whether a version is at least another; undefined when one of them is not known. */
export function isAtLeast(version: string, least: string): boolean | undefined {
  const [a, b] = [minorVersion(version), minorVersion(least)];
  if (a === undefined || b === undefined) return undefined;
  return a.major > b.major || (a.major === b.major && a.minor >= b.minor);
}

/** How an agent's version goes together with the server's. */
export type Skew = "supported" | "unsupported" | "unknown";

/**
 * By how many minor versions an agent is newer than the server; negative: older. Undefined where one of them is not known, as of `dev`, or where
 * the major versions differ.
 */
export function minorSkew(agent: string, server: string): number | undefined {
  const [a, b] = [minorVersion(agent), minorVersion(server)];
  return a === undefined || b === undefined || a.major !== b.major ? undefined : a.minor - b.minor;
}

/** Agents work that are up to two minor versions older than the server, or one newer. Source: the relay's rules. */
export function skewOf(agent: string, server: string): Skew {
  const [a, b] = [minorVersion(agent), minorVersion(server)];
  if (a === undefined || b === undefined) return "unknown";
  if (a.major !== b.major) return "unsupported";
  return a.minor >= b.minor - MOST_OLDER && a.minor <= b.minor + MOST_NEWER ? "supported" : "unsupported";
}

const MOST_OLDER = 2;
const MOST_NEWER = 1;
