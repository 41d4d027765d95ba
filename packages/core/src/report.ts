import type { ResourceRef } from "./ref.ts";

/** How a user's resource stands, worst last. */
export type ApprovalState = "ACCEPTED" | "WARNING" | "INVALID" | "FAILED";

/** One finding about one resource that a user wrote, perhaps on one of its targets. */
export interface Report {
  readonly subject: ResourceRef;
  readonly target?: ResourceRef;
  readonly state: ApprovalState;
  /** Stable name of the finding, from the catalogue in `findings.ts`. */
  readonly code: string;
  /** Names the object, the field and the remedy. */
  readonly message: string;
}

const SEVERITY: Readonly<Record<ApprovalState, number>> = { ACCEPTED: 0, WARNING: 1, INVALID: 2, FAILED: 3 };

/** The worst state among reports; ACCEPTED when there is none. */
export function worstState(reports: Iterable<Pick<Report, "state">>): ApprovalState {
  let worst: ApprovalState = "ACCEPTED";
  for (const { state } of reports) if (SEVERITY[state] > SEVERITY[worst]) worst = state;
  return worst;
}
