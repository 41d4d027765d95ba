import type { KeepingLastAccepted } from "@isthmus/api";
import { equalJson, type Report } from "@isthmus/core";

/** The part of a status that keeps what a later mistake falls back on. */
export type AcceptedForm = Pick<NonNullable<KeepingLastAccepted["status"]>, "lastAccepted">;

interface Acceptance {
  /** Whether the spec is in force as it is written. */
  readonly isAccepted: boolean;
  /** How many characters of JSON are kept. */
  readonly most?: number;
}

/** What is in force as it is written is what a later mistake falls back on; else that stays which was before. */
export function acceptedForm({ spec = {}, status, metadata }: KeepingLastAccepted, { isAccepted, most = MOST }: Acceptance): AcceptedForm {
  const { lastAccepted } = status ?? {};
  const isOther = lastAccepted?.spec !== undefined && !equalJson(lastAccepted.spec, spec);
  // Of what equals the spec, translation keeps only that it was accepted.
  if (!isAccepted && (isOther || lastAccepted === undefined)) return lastAccepted === undefined ? {} : { lastAccepted };
  if (JSON.stringify(spec).length > most) return {};
  const { generation } = metadata;
  return { lastAccepted: { ...(generation === undefined ? {} : { generation }), spec } };
}

/** Whether nothing is wrong with an object as a whole. */
export function isSoundAsWhole(reports: readonly Report[]): boolean {
  return reports.every(({ target, state }) => target !== undefined || state !== "INVALID");
}

// 256 KiB: a status is part of its object, which has room for about 1 MiB.
const MOST = 256 * 1024;
/** 32 KiB, of kinds whose last accepted spec the statuses of Destinations repeat. */
export const MOST_REPEATED = 32 * 1024;
