import type { Down, Notice, ResourceRef as RefMessage, ResourceBody } from "../gen/relay/v1/relay_pb.ts";
import { refBytes, refFrom } from "./wire.ts";

/** What is desired in a cluster may be so much, in bytes of JSON; each object counts at least 1 KiB, so that there are at most a million. */
export const MAX_DESIRED_BYTES = 1024 * 1024 * 1024;

/** What a server tells beside it: statuses of what users ask, and settings. */
export function maxNoticeBytes(maxDesiredBytes: number): number {
  return maxDesiredBytes / 4;
}

/** What one part of what is desired counts. */
export function costOfDown({ upserts, deletes, withheld }: Pick<Down, "upserts" | "deletes" | "withheld">): number {
  const causes = deletes.flatMap(({ evidence }) => evidence?.inputs ?? []);
  return (
    costOfBodies(upserts) + costOfRefs([...deletes.map(({ ref }) => ref), ...withheld]) + causes.reduce((sum, ref) => sum + sizeOf(ref), 0)
  );
}

/** What one notice counts. */
export function costOfNotice({ resources, gone }: Pick<Notice, "resources" | "gone">): number {
  return costOfBodies(resources) + costOfRefs(gone);
}

function costOfBodies(bodies: readonly ResourceBody[]): number {
  return bodies.reduce((sum, { ref, json }) => sum + Math.max(LEAST_BYTES, json.length + sizeOf(ref)), 0);
}

function costOfRefs(refs: readonly (RefMessage | undefined)[]): number {
  return refs.reduce((sum, ref) => sum + Math.max(LEAST_BYTES, sizeOf(ref)), 0);
}

function sizeOf(ref: RefMessage | undefined): number {
  return refBytes(refFrom(ref));
}

// About what an object takes in memory, however small it is.
const LEAST_BYTES = 1024;
