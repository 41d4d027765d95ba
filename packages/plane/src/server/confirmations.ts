import { isConfirmation, type Rejection } from "@isthmus/ports";
import type { SharedAnswer } from "./delivery.ts";

/**
 * Of which clusters it is known that nothing stands there whose cause this plane has lost: their agents have answered a desired set, of
 * this server or of one whose state the store has, with no delete on hold. Of any other cluster a complete set says nothing against
 * objects that it lacks: see docs/decisions/0054.
 */
export interface Confirmations {
  isConfirmed(clusterName: string): boolean;
  acknowledged(clusterName: string, rejected: readonly Rejection[]): void;
  /** What another replica, or a server before this one, has written down of an answer. */
  onSharedAnswer(clusterName: string, answer: Pick<SharedAnswer, "held" | "pending">): void;
  /** The cluster is no longer registered. */
  forget(clusterName: string): void;
}

/** No cluster is confirmed at first; one that is confirmed stays so until `forget`. */
export function confirmations(): Confirmations {
  const confirmed = new Set<string>();
  return {
    isConfirmed: (clusterName) => confirmed.has(clusterName),
    acknowledged(clusterName, rejected) {
      if (isConfirmation(rejected)) confirmed.add(clusterName);
    },
    onSharedAnswer(clusterName, { held, pending }) {
      if (held === 0 && (pending?.WouldDelete ?? 0) === 0) confirmed.add(clusterName);
    },
    forget: (clusterName) => void confirmed.delete(clusterName),
  };
}
