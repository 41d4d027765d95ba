/** Whether the rules of a policy, or a group of them, hold nothing but what is empty, or says what holds anyway. */
export function saysNothing(rules: object): boolean {
  return Object.entries(rules).every(([name, member]) => isSilent(name, member));
}

/** The same of one of them. */
export function isSilent(name: string, member: unknown): boolean {
  if (typeof member === "object" && member !== null) return !SAYING.has(name) && saysNothing(member);
  return member === undefined || member === false || member === "DEFAULT";
}

// What asks for something, or is answered, without any member.
const SAYING: ReadonlySet<string> = new Set([
  ...["faultInjection", "retries", "corsPolicy", "mirror", "outlierDetection", "csrf", "rateLimit"],
  "tcpKeepalive",
]);
