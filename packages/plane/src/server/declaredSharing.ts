import { emptySnapshot, type Snapshot } from "@isthmus/core";
import type { Leadership } from "@isthmus/ports";
import type { Informer } from "../informer/informer.ts";
import { whileLeading } from "../leader/leadership.ts";
import { type ManagementSharing, type ManagementSharingOptions, startManagementSharing } from "../replication/managementSharing.ts";
import type { ServerOptions } from "./serverOptions.ts";

export interface DeclaredSharingOptions extends Pick<ServerOptions, "kinds">, Omit<ManagementSharingOptions, "objects"> {
  readonly view: Pick<Informer, "snapshot" | "isComplete">;
  readonly leadership: Leadership;
}

/**
 * Shares, on the leader, what users declare in the management cluster: neither what we write there, which translation gives again, nor the Secrets of
 * the plane.
 */
export function startDeclaredSharing(
  { kinds, view, leadership, ...options }: DeclaredSharingOptions,
  signal: AbortSignal,
): ManagementSharing {
  const declared = kinds.management.filter((kind) => !kinds.own.includes(kind) && !kinds.published.includes(kind));
  let last: { readonly of: Snapshot; readonly declared: Snapshot } | undefined;
  const objects = (): Snapshot | undefined => {
    if (!view.isComplete || !leadership.isLeader) return undefined;
    const { snapshot } = view;
    if (last?.of !== snapshot) {
      last = {
        of: snapshot,
        declared: declared.reduce((found, kind) => found.withCollection(kind, snapshot.of(kind)), emptySnapshot()),
      };
    }
    return last.declared;
  };
  let current: ManagementSharing | undefined;
  const ended = whileLeading(leadership, (turn) => (current = startManagementSharing({ ...options, objects }, turn)), signal);
  return { request: () => current?.request(), ended };
}
