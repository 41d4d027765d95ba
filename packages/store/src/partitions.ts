import {
  type Fence,
  isSameVersion,
  type StoreHead,
  type StoreNotice,
  type StorePartition,
  type StoreVersion,
  type StoreWrite,
  type StoreWriteOutcome,
  versionAfter,
} from "@isthmus/ports";

/** Names a partition among all others. */
export function partitionKeyOf({ section, clusterName }: StorePartition): string {
  return `${section}/${clusterName}`;
}

/** Whether a write may take place, given the highest number of its fence and the version that the partition is at. */
export function checkWrite(
  { fence, base }: Pick<StoreWrite, "fence" | "base">,
  highest: number | undefined,
  version: StoreVersion | undefined,
): StoreWriteOutcome {
  if ((highest ?? 0) > fence.number) return "superseded";
  return isSameVersion(version, base) ? "written" : "changed";
}

/** The head of a partition after a write. */
export function headAfter(write: StoreWrite): StoreHead {
  const { complete, kinds, meta } = write;
  return { version: versionAfter(write), complete, kinds, meta };
}

/** What the others hear of a write. */
export function noticeOf(write: StoreWrite): StoreNotice {
  const { partition, base, delta, complete } = write;
  const head = headAfter(write);
  return { type: "written", partition, base, head, ...(complete ? { delta } : {}) };
}

/** The next number of a fence: above all before, and, by the store's clock, above those that an emptied store has forgotten. */
export function nextFence(name: string, highest: number | undefined, nowMs: number): Fence {
  return { name, number: Math.max((highest ?? 0) + 1, nowMs) };
}

/** How many objects come in one page. */
export const PAGE = 500;
