import type { ApprovalStatus } from "@isthmus/api";
import type { Cell } from "../../output/boxedTable.ts";
import { fieldLines } from "./cells.ts";

/** What the statuses of all kinds that users write have in common. */
interface SharedStatus {
  readonly state?: string;
  readonly errors?: readonly string[];
  readonly warnings?: readonly string[];
  readonly targetCount?: number;
  readonly acceptedCount?: number;
  readonly conditions?: readonly { readonly type?: string; readonly status?: string; readonly message?: string }[];
  readonly destinations?: Readonly<Record<string, ApprovalStatus>>;
  readonly meshes?: Readonly<Record<string, ApprovalStatus>>;
}

/** How a policy stands: its state, what is applied, and what is wrong, also on its targets. */
export function statusLines(status: SharedStatus | undefined): Cell {
  if (status?.state === undefined) return ["State: not processed yet"];
  const { state, targetCount, acceptedCount, errors = [], warnings = [], conditions = [], destinations = {}, meshes = {} } = status;
  const applied = conditions.find(({ type }) => type === "Applied");
  const onTargets = Object.entries({ ...destinations, ...meshes }).flatMap(([target, { errors = [] }]) =>
    errors.map((error) => `${refText(target)}: ${error}`),
  );
  const all = [...errors, ...onTargets];
  return [
    ...fieldLines({
      State: state,
      Targets: targetCount === undefined ? undefined : `${acceptedCount ?? 0} of ${targetCount} accepted`,
      Applied: applied === undefined ? undefined : appliedText(applied),
    }),
    ...all.slice(0, MOST).map((error) => `Error: ${error}`),
    ...(all.length > MOST ? [`... and ${all.length - MOST} more errors`] : []),
    ...warnings.slice(0, MOST).map((warning) => `Warning: ${warning}`),
  ];
}

// The first ones tell what to mend; the status itself has all.
const MOST = 5;

function appliedText({ status = "Unknown", message = "" }: { readonly status?: string; readonly message?: string }): string {
  return status === "True" ? "True" : `${status}: ${message}`;
}

/** `namespace/name in cluster` of a status's key. */
function refText(key: string): string {
  const parts = key.split(".");
  const [namespace = "", cluster = ""] = parts.slice(-2);
  return `${namespace}/${parts.slice(0, -2).join(".")}${cluster === "" ? "" : ` in ${cluster}`}`;
}
