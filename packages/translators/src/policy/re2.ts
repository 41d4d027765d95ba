import { type Finding, invalidFinding } from "../findings.ts";

/**
 * What RE2 refuses and JavaScript takes in regular expressions that reach Envoy without being seen by Istio: a proxy refuses its whole
 * listener for one of these. Doubtful ones are refused as well. Source: github.com/google/re2/wiki/Syntax.
 */
export function re2Findings(path: string, regex: string): readonly Finding[] {
  const problem = problemOf(regex);
  return problem === undefined
    ? []
    : [invalidFinding("ValueInvalid", `${path}: ${JSON.stringify(regex)} is not a valid RE2 regular expression: ${problem}`)];
}

// What a backslash may stand before: classes, positions and control characters of RE2, and punctuation.
const ESCAPED = /^(?:[dDwWsSbBAzafnrtv]|x[0-9A-Fa-f]{2}|[pP][LMNPSZC]|[!-/:-@[-`{-~])/;
const COUNTED = /^\{(\d{1,9})(?:,(\d{0,9}))?\}/;
const POSIX_CLASS = /^\[:\^?(?:alnum|alpha|ascii|blank|cntrl|digit|graph|lower|print|punct|space|upper|word|xdigit):\]/;
const MOST_REPEATS = 1000;

/** One pass, in which `within` holds how often what stands in each open group is repeated at most. */
function problemOf(regex: string): string | undefined {
  const within: number[] = [1];
  let last = 1;
  let isInClass = false;
  for (let at = 0; at < regex.length; at++) {
    const rest = regex.slice(at, at + LONGEST);
    const letter = regex[at];
    if (letter === "\\") {
      const escaped = ESCAPED.exec(rest.slice(1));
      if (escaped === null || (isInClass && /^[bBAz]/.test(escaped[0]))) return `\\${regex[at + 1] ?? ""} is not supported`;
      at += escaped[0].length;
      last = 1;
    } else if (isInClass) {
      if (letter === "]") isInClass = false;
      else if (letter === "[" && regex[at + 1] === ":") {
        const named = POSIX_CLASS.exec(rest);
        if (named === null) return "unknown character class";
        at += named[0].length - 1;
      } else if (letter === "-" && regex[at - 1] !== "[" && /^-\\[dDwWsSpP]/.test(rest)) return "a character class is no end of a range";
    } else if (letter === "[") {
      if (/^\[\^?\]/.test(rest)) return "a character class is empty";
      isInClass = true;
      last = 1;
    } else if (letter === "(") within.push(1);
    else if (letter === ")") {
      last = within.pop() ?? 1;
      within.push(Math.max(within.pop() ?? 1, last));
    } else if (letter === "{") {
      const counts = COUNTED.exec(rest);
      if (counts === null) continue;
      last *= Math.max(1, Number(counts[1]), Number(counts[2] ?? 0));
      if (last > MOST_REPEATS) return `something is repeated more than ${MOST_REPEATS} times`;
      within.push(Math.max(within.pop() ?? 1, last));
      at += counts[0].length - 1;
    } else if (!"*+?".includes(letter ?? "")) last = 1;
  }
  return undefined;
}

// The longest of what is looked at as a whole.
const LONGEST = 24;
