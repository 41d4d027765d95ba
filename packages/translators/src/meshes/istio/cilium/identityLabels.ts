import type { CiliumInstallation } from "@isthmus/api";
import { memoizeRow } from "../../../incremental/memoizeRow.ts";

/**
 * Labels of pods that are no part of their identities by default, so that a selector with one of them selects no pod at all. It is the sum
 * over the versions of Cilium: what only some of them leave out counts, too. Source: github.com/cilium/cilium pkg/labelsfilter.
 */
const LEFT_OUT: readonly RegExp[] = [
  /^io\.kubernetes(?!\.pod\.namespace)/,
  /^(?!app\.kubernetes\.io\/).*kubernetes\.io\//,
  /k8s\.io\//,
  /^pod-template-(generation|hash)/,
  /^controller-(revision-hash|uid)/,
  /^annotation/,
  /^etcd_node/,
];

// What is included besides the patterns of a list; the second list since Cilium 1.18 (its upgrade notes).
const INCLUDED = ["io.kubernetes.pod.namespace", "io.cilium.k8s.namespace.labels", "app.kubernetes.io"];
const INCLUDED_LATER = ["io.cilium.k8s.policy.cluster", "io.cilium.k8s.policy.serviceaccount"];

/** What `labels` of ConfigMap cilium-config says. */
interface LabelPatterns {
  readonly included: readonly LabelPattern[];
  readonly ignored: readonly LabelPattern[];
  /** Whether only what some pattern includes is part of identities. */
  readonly isList: boolean;
}

/** Matches the beginning of a key, with as many characters as it has itself. */
interface LabelPattern {
  readonly beginning: RegExp;
  readonly length: number;
}

/** The keys of labels that are not part of identities in a cluster; "unclear" where it has a pattern that is not plain. */
export function labelsWithoutIdentity(keys: readonly string[], cilium: CiliumInstallation): readonly string[] | "unclear" {
  const patterns = patternsOf(cilium);
  return patterns === undefined ? "unclear" : keys.filter((key) => !isPartOfIdentity(key, patterns));
}

/** As Cilium decides it: of what includes a key the longest counts, of what ignores it the shortest. */
function isPartOfIdentity(key: string, { included, ignored, isList }: LabelPatterns): boolean {
  // Also where a pattern of the list includes it: which versions ignore how much of it is not known.
  if (LEFT_OUT.some((pattern) => pattern.test(key))) return false;
  const lengths = (patterns: readonly LabelPattern[]) =>
    patterns.filter(({ beginning }) => beginning.test(key)).map(({ length }) => length);
  const most = Math.max(0, ...lengths(included));
  const ignoring = lengths(ignored);
  if (!isList && ignoring.length === 0) return true;
  return most > Math.min(...(ignoring.length === 0 ? [0] : ignoring));
}

// One per installation, which is one object from run to run.
const patternsOf = memoizeRow(({ identityLabels = "", version = "" }: CiliumInstallation): LabelPatterns | undefined => {
  const words = identityLabels.split(/\s+/).filter((word) => word !== "");
  const known = words.map(patternOf);
  if (known.some((pattern) => pattern === undefined) || words.length > MOST_PATTERNS) return undefined;
  const patterns = known.flatMap((pattern) => pattern ?? []);
  const always = [...INCLUDED, ...(isAtLeast118(version) ? INCLUDED_LATER : [])].map(literal);
  const matching = (isIgnoring: boolean) =>
    patterns.flatMap((pattern) => (pattern.isIgnoring === isIgnoring ? (pattern.matches ?? []) : []));
  return {
    included: [...always, ...matching(false)],
    ignored: matching(true),
    isList: patterns.some(({ isIgnoring }) => !isIgnoring),
  };
});

// A list is written by hand.
const MOST_PATTERNS = 100;

interface WrittenPattern {
  readonly isIgnoring: boolean;
  /** Undefined where it is about labels that no pod has. */
  readonly matches: LabelPattern | undefined;
}

const WORD = /^(?:([a-z0-9]*):)?(!?)(.+)$/;
// Every character, or escaped dot, stands for one character: no other regular expression is taken.
const PLAIN = /^(?:[A-Za-z0-9_\-./=]|\\\.)+$/;

/** `source:!pattern`, source and `!` left out at will. Undefined where it is not plain. */
function patternOf(word: string): WrittenPattern | undefined {
  const [, source = "", ignoring = "", pattern = ""] = WORD.exec(word) ?? [];
  const isIgnoring = ignoring === "!";
  if (pattern === "") return undefined;
  // Labels of pods are of the source k8s: `reserved:.*` is about none of them.
  if (source !== "" && source !== "k8s") return { isIgnoring, matches: undefined };
  if (!PLAIN.test(pattern)) return undefined;
  return { isIgnoring, matches: { beginning: new RegExp(`^${pattern}`), length: pattern.replaceAll("\\.", ".").length } };
}

function literal(text: string): LabelPattern {
  return { beginning: new RegExp(`^${text.replaceAll(".", "\\.")}`), length: text.length };
}

function isAtLeast118(version: string): boolean {
  const [, major = "0", minor = "0"] = /^(\d+)\.(\d+)/.exec(version) ?? [];
  return Number(major) > 1 || (Number(major) === 1 && Number(minor) >= 18);
}
