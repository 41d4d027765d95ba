import { isPendingCode, type PendingCode, type Rejection } from "@isthmus/ports";

/** How many objects of a cluster would be written in which way, if they might be. */
export type PendingCounts = Readonly<Record<PendingCode, number>>;

/** What an agent says of a cluster in which not everything may be written. */
export interface ClusterComparison {
  /** The mode that the agent is in. */
  readonly mode: string;
  readonly counts: PendingCounts;
  /** How many objects are there as desired. */
  readonly same: number;
  /** The first few, in words. */
  readonly examples: readonly string[];
}

/** How many of the rejections of an answer are none, but tell what would be written. */
export function pendingCounts(rejected: readonly Rejection[]): PendingCounts {
  const counts: Record<PendingCode, number> = { ...NOTHING_PENDING };
  for (const { code } of rejected) if (isPendingCode(code)) counts[code]++;
  return counts;
}

const NOTHING_PENDING: PendingCounts = { WouldCreate: 0, WouldChange: 0, WouldDelete: 0, WouldConflict: 0 };

/** The first of what would be written: what somebody else has there comes first, as it is what a user has to decide on. */
export function pendingExamples(rejections: Iterable<Rejection>): readonly string[] {
  const byCode = new Map<PendingCode, string[]>();
  for (const { code, message } of rejections) {
    if (!isPendingCode(code)) continue;
    const messages = byCode.get(code) ?? [];
    if (messages.length < MOST_EXAMPLES) messages.push(message);
    byCode.set(code, messages);
  }
  return IN_ORDER.flatMap((code) => byCode.get(code) ?? []).slice(0, MOST_EXAMPLES);
}

const IN_ORDER: readonly PendingCode[] = ["WouldConflict", "WouldDelete", "WouldChange", "WouldCreate"];
// A status is for reading; the page /pending lists more.
const MOST_EXAMPLES = 10;
