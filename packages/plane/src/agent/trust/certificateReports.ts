import { CertificateRequest, IssuedCertificate } from "@isthmus/api";
import type { AuthorityFacts, MeshTrust } from "@isthmus/certificates";
import { encodedText } from "../../identity/secretData.ts";
import type { RestartablePod } from "./podRestarts.ts";

/** What is to be said of one mesh's CA. */
export interface MeshReport {
  readonly state: "PENDING" | "REQUESTED" | "ISSUED" | "FINISHED" | "FAILED";
  readonly error?: string;
  /** PEM of the request that waits to be signed. */
  readonly request?: string;
  readonly facts?: AuthorityFacts;
  readonly inForce?: MeshTrust["inForce"];
  /** The root of an authority outside, its fingerprint, and why it could not be read again. */
  readonly offered?: { readonly root: string; readonly rootCertificate: string; readonly problem?: string };
  /** Pods with a proxy that uses earlier certificates. */
  readonly restart?: readonly RestartablePod[];
  /** Pods of the control plane that have not read what is installed, and do not by themselves. */
  readonly unread?: readonly RestartablePod[];
  /** Since when a pod that starts counts as restarted, in milliseconds since 1970. */
  readonly restartsCountFrom?: number;
  /** Workloads that are left out of the change of root and have pods that use earlier certificates. */
  readonly left?: readonly string[];
  /** What is restarted, or why it is not. */
  readonly restarting?: string;
  /** Whether the control plane takes over several roots while it runs; undefined: unknown. */
  readonly isMultiRoot?: boolean;
  /** The agent restarts workloads by rollouts. */
  readonly restartsByRollout?: true;
}

/** An order as the agent follows it, with what came of it. It repeats the order: so the server knows which one is meant. */
export function certificateReport({ metadata, spec }: IssuedCertificate, report: MeshReport): IssuedCertificate {
  const { name, namespace = "", clusterName = "" } = metadata;
  const {
    state,
    error,
    facts,
    inForce,
    offered,
    restart = [],
    unread = [],
    left = [],
    restarting,
    isMultiRoot,
    restartsByRollout,
  } = report;
  const pods = restart.slice(0, MOST_NAMED).map((pod) => `${pod.namespace}/${pod.name}`);
  return {
    apiVersion: IssuedCertificate.apiVersion,
    kind: IssuedCertificate.kind,
    metadata: { name, namespace, clusterName },
    ...(spec === undefined ? {} : { spec }),
    status: {
      state,
      ...(error === undefined ? {} : { error }),
      ...(facts === undefined ? {} : { installed: installedIn(facts) }),
      ...(inForce === undefined ? {} : { inForce: { trusted: [...inForce.trusted], signers: [...inForce.signers] } }),
      ...(offered === undefined ? {} : { offered }),
      ...(unread.length > 0 ? { isControlPlaneOutdated: true } : {}),
      ...(pods.length === 0 ? {} : { podsToRestart: pods, podsToRestartCount: restart.length }),
      ...(restarting === undefined ? {} : { restart: restarting }),
      ...(left.length === 0 ? {} : { left: left.slice(0, MOST_NAMED) }),
      ...(isMultiRoot === undefined ? {} : { isMultiRoot }),
      ...(restartsByRollout === undefined ? {} : { restartsByRollout }),
    },
  };
}

/** The request for a CA. Only what is public is in it. */
export function requestReport({ metadata }: IssuedCertificate, request: string): CertificateRequest {
  const { name, namespace = "", clusterName = "" } = metadata;
  return {
    apiVersion: CertificateRequest.apiVersion,
    kind: CertificateRequest.kind,
    metadata: { name, namespace, clusterName },
    spec: { certificateSigningRequest: encodedText(request) },
  };
}

function installedIn({ rootCertificates, roots, signer, notAfter, certificate }: AuthorityFacts) {
  return { rootCertificates, roots: [...roots], signer, notAfter: new Date(notAfter).toISOString(), certificate };
}

const MOST_NAMED = 20;
