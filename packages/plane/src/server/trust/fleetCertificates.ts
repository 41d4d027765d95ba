import type { Clock } from "@isthmus/core";
import type { ServerInputs } from "../inputs.ts";
import type { ReconcileLoop } from "../reconcileLoop.ts";
import { type CertificateEntry, certificateInventory, type InventorySources, meshCertificates } from "./certificateInventory.ts";
import type { MeshTrustLoop } from "./meshTrust.ts";

/** The certificates and tokens that a server knows of, as they are now. */
export interface FleetCertificates {
  /** Without what is secret. `hasForecasts`: with what a rotation restarts, for which all pods are counted. */
  entries(options?: { readonly hasForecasts?: boolean }): readonly CertificateEntry[];
  /** Those of them that meshes use. */
  ofMeshes(): readonly CertificateEntry[];
}

/** The parts of a server in which its certificates are found. */
export interface FleetCertificatesOptions {
  /** Of the management plane. */
  readonly namespace: string;
  readonly inputs: Pick<ServerInputs, "view" | "store">;
  readonly reconciled: Pick<ReconcileLoop, "translation">;
  readonly trust: Pick<MeshTrustLoop, "rootIn">;
  readonly clock: Pick<Clock, "now">;
}

/** Reads the parts of a server for its certificates. */
export function fleetCertificates({ namespace, inputs, reconciled, trust, clock }: FleetCertificatesOptions): FleetCertificates {
  const { view, store } = inputs;
  const sources = (): InventorySources => ({
    namespace,
    management: view.snapshot,
    store,
    translation: reconciled.translation,
    rootIn: trust.rootIn,
    now: clock.now(),
  });
  return {
    entries: (options) => certificateInventory(sources(), options),
    ofMeshes: () => meshCertificates(sources()),
  };
}
