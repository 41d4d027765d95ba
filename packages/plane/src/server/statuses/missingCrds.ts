import { type Kind, kindKeyOf, type Log } from "@isthmus/core";
import type { Informer } from "../../informer/informer.ts";
import type { ServerKinds } from "../serverOptions.ts";

/** CRDs of ours that the management cluster lacks: without them nobody can ask anything of the server, and nothing says so. */
export interface MissingCrds {
  /** Looks again, and logs it when others are missing than before. */
  check(): void;
  /** Whether a cluster can't even be registered, so that the server has nothing to do. */
  readonly isUseless: boolean;
}

export interface MissingCrdsOptions {
  readonly view: () => Pick<Informer, "isComplete" | "kinds">;
  readonly kinds: Pick<ServerKinds, "management" | "isInstalled" | "registration">;
  readonly log: Log;
}

/**
 * Looks for the kinds of `kinds.management` that a CRD of this product defines (`isInstalled`). None counts as missing before the first
 * `check` of a complete view.
 */
export function missingCrds({ view, kinds, log }: MissingCrdsOptions): MissingCrds {
  const ours = kinds.management.filter(kinds.isInstalled);
  let missing: readonly Kind[] = [];
  return {
    check() {
      const { isComplete, kinds: states } = view();
      if (!isComplete) return;
      const now = ours.filter((kind) => states.get(kindKeyOf(kind)) === "unserved");
      const names = now.map(definitionOf).join(", ");
      if (names === missing.map(definitionOf).join(", ")) return;
      missing = now;
      if (names === "") log.info({}, "all required CRDs are now installed");
      else {
        log.warn(
          { missing: now.map(definitionOf) },
          `the management cluster does not have the CRDs ${names}, so objects of these kinds have no effect: install the CRDs of this release (kubectl apply --filename deploy/crds)`,
        );
      }
    },
    get isUseless() {
      return missing.some((kind) => kindKeyOf(kind) === kindKeyOf(kinds.registration));
    },
  };
}

function definitionOf({ apiVersion, plural }: Kind): string {
  return `${plural}.${apiVersion.slice(0, apiVersion.indexOf("/"))}`;
}
